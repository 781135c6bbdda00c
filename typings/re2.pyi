# What regress uses of google-re2, which has no type hints of its own.
# ruff: noqa: A001, N801, N818 - the names are the library's

from collections.abc import Iterator

class error(Exception):
    args: tuple[bytes]

class Options:
    log_errors: bool

class _Match:
    def span(self) -> tuple[int, int]: ...

class _Regexp:
    def finditer(self, text: str) -> Iterator[_Match]: ...

def compile(pattern: str, options: Options) -> _Regexp: ...
