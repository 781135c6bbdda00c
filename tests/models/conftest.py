"""Tests of models see no key and no address of the machine they run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.models.support import Asker


@pytest.fixture(autouse=True)
def no_provider_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def asker() -> Iterator[Asker]:
    asker = Asker()
    yield asker
    asker.close()
