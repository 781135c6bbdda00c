"""A finished evaluation is posted once, to a real server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from regress_core.errors import InputError
from regress_core.evaluation.ports import Ports
from regress_core.journal.announcements import CLAIM_LASTS
from regress_core.journal.journal import Journal
from regress_core.records.json_io import loads
from regress_pipeline.care import ANNOUNCEMENTS
from regress_pipeline.definitions import build_definitions
from regress_pipeline.settings import load_settings
from regress_pipeline.webhook import announce_waiting
from tests.pipeline.bench import Bench
from tests.pipeline.builders import alike, read_json, write_suite

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class Hook:
    """A web server; it answers with one status after the other, the last one for ever."""

    url: str
    statuses: list[int] = field(default_factory=lambda: [204])
    posts: list[tuple[Mapping[str, str], Any]] = field(default_factory=list[tuple[Mapping[str, str], Any]])


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Generator[Hook]:
    hook = Hook("")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.posts.append((dict(self.headers), loads(body)))
            self.send_response(hook.statuses[min(len(hook.posts), len(hook.statuses)) - 1])
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hook.url = f"http://127.0.0.1:{server.server_port}/T0/secret"
    monkeypatch.setenv("REGRESS_WEBHOOK_URL", hook.url)
    monkeypatch.setattr("regress_pipeline.webhook._WAITS_S", (0.0, 0.0, 0.0))
    yield hook
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def shop(bench: Bench, hook: Hook) -> Bench:
    write_suite(bench.suites_root, "shop", alike("old", ["a", "b"]), alike("new", ["a", "b"]))
    bench.register("shop", ["a", "b"])
    settings = load_settings(store=bench.store)
    assert settings.webhook_url == hook.url
    return Bench(load_settings(store=bench.store), bench.instance)


def test_the_run_that_completes_an_evaluation_posts_its_summary(shop: Bench, hook: Hook) -> None:
    evaluation_id = shop.enter_plan("shop")
    shop.run("shop", "a", config={"evaluation_id": evaluation_id})
    assert hook.posts == []

    shop.run("shop", "b", config={"evaluation_id": evaluation_id})
    shop.run("shop", "a", "b", config={"evaluation_id": evaluation_id})

    ((headers, body),) = hook.posts
    assert body == read_json(shop.store / "outputs" / evaluation_id / "summary.json")
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Regress-Evaluation"] == evaluation_id
    assert headers["Idempotency-Key"] == f"{evaluation_id}-1"


def test_also_where_the_summary_is_not_asked_for(shop: Bench, hook: Hook) -> None:
    shop.run("shop", "a", assets=["comparisons"])
    assert len(hook.posts) == 1


def test_a_new_revision_is_posted_again(shop: Bench, hook: Hook) -> None:
    lost = shop.suites_root / "shop" / "candidate" / "b.json"
    lost.unlink()
    first = shop.run("shop", "a", "b")
    shop.reexecute("shop", first.run_id)

    assert [headers["X-Regress-Revision"] for headers, _ in hook.posts] == ["1", "2"]


@pytest.mark.parametrize(
    ("statuses", "posts", "later"),
    [
        ([500, 429, 200], 3, 0),
        ([500], 3, 3),
        ([404], 1, 1),
        ([302], 1, 1),
    ],
)
def test_a_server_in_trouble_is_asked_again_and_never_fails_the_run(
    shop: Bench, hook: Hook, statuses: list[int], posts: int, later: int
) -> None:
    hook.statuses = statuses
    run = shop.run("shop", "a", "b")
    assert run.status == "SUCCESS"
    assert len(hook.posts) == posts

    again = shop.run("shop", "a", "b", config={"evaluation_id": run.evaluation_id()})

    assert again.status == "SUCCESS"
    assert len(hook.posts) == posts + later


def test_what_is_told_of_the_address_is_its_host(shop: Bench, hook: Hook) -> None:
    hook.statuses = [500]
    run = shop.run("shop", "a", "b")

    told = [entry.user_message for entry in shop.instance.all_logs(run.run_id) if entry.user_message]
    (line,) = [line for line in told if "could not be posted" in line]
    assert line == "the summary could not be posted to 127.0.0.1: status 500"
    assert "secret" not in repr(shop.settings)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/y",
        "example.org/hook",
        "https:///x",
        "//host/x",
        "http://[x/secret",
        "http://host:99999/secret",
        "http://host:0/secret",
    ],
)
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> None:
    monkeypatch.setenv("REGRESS_WEBHOOK_URL", url)
    with pytest.raises(InputError, match="REGRESS_WEBHOOK_URL: no address of a web server") as raised:
        load_settings(folder=tmp_path)
    assert url not in str(raised.value)


def test_nobody_is_told_without_an_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGRESS_WEBHOOK_URL", "")
    assert load_settings(folder=tmp_path).webhook_url is None


def test_a_server_that_is_not_there_is_a_warning(shop: Bench) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # taken, and nobody listens
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/secret"
        run = Bench(replace(shop.settings, webhook_url=url), shop.instance).run("shop", "a", "b")

    told = [entry.user_message for entry in shop.instance.all_logs(run.run_id) if entry.user_message]
    assert run.status == "SUCCESS"
    assert "the summary could not be posted to 127.0.0.1: ConnectionError" in told


def test_a_host_that_no_name_server_is_asked_about_is_a_warning(shop: Bench) -> None:
    run = Bench(replace(shop.settings, webhook_url="http://a..b/secret"), shop.instance).run("shop", "a", "b")

    told = [entry.user_message for entry in shop.instance.all_logs(run.run_id) if entry.user_message]
    assert run.status == "SUCCESS"
    assert "the summary could not be posted to a..b: LocationParseError" in told


def test_of_many_that_claim_an_announcement_one_gets_it(tmp_path: Path) -> None:
    journals = [Journal.open(tmp_path / "journal.sqlite") for _ in range(4)]
    claims: list[bool] = []

    def claim(journal: Journal) -> None:
        claims.append(journal.announcements().claim("e", 1, NOW))

    threads = [threading.Thread(target=claim, args=(one,)) for one in journals for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for journal in journals:
        journal.close()

    assert sorted(claims) == [False] * 19 + [True]


def test_a_claim_lasts_a_while_and_an_announcement_for_ever(tmp_path: Path) -> None:
    soon, late = NOW + CLAIM_LASTS - timedelta(seconds=1), NOW + CLAIM_LASTS
    with Journal.open(tmp_path / "journal.sqlite") as journal:
        notes = journal.announcements()
        assert notes.claim("e", 1, NOW)
        assert not notes.claim("e", 1, soon)
        assert notes.claim("e", 2, NOW)
        assert notes.claim("e", 1, late)  # whoever had it has died
        notes.give_back("e", 1, late)
        assert notes.waiting(late) == [("e", 1), ("e", 2)]
        assert notes.claim("e", 1, late)
        notes.announced("e", 1, late)
        assert not notes.claim("e", 1, late + timedelta(days=365))


def _later(shop: Bench, url: str | None, later: timedelta = timedelta(0)) -> str | None:
    with Ports.open(shop.store) as ports:
        moved = replace(ports, clock=lambda: ports.clock() + later)
        return announce_waiting(moved, url or "", lambda _: None)


def test_what_the_server_did_not_take_is_posted_later_and_once(shop: Bench, hook: Hook) -> None:
    hook.statuses = [404, 500, 500, 500, 200]
    run = shop.run("shop", "a", "b")
    other = shop.run("shop", "a")
    assert len(hook.posts) == 4

    told = [_later(shop, hook.url) for _ in range(3)]

    assert told == [run.evaluation_id(), other.evaluation_id(), None]
    headers, body = hook.posts[4]
    assert headers["Idempotency-Key"] == f"{run.evaluation_id()}-1"
    assert body == read_json(shop.store / "outputs" / run.evaluation_id() / "summary.json")
    assert len(hook.posts) == 6


@pytest.mark.parametrize(("days", "posts"), [(1.9, 2), (2.1, 1)])
def test_after_two_days_nobody_wants_to_know(shop: Bench, hook: Hook, days: float, posts: int) -> None:
    hook.statuses = [404, 200]
    shop.run("shop", "a", "b")

    _later(shop, hook.url, timedelta(days=days))

    assert len(hook.posts) == posts


def test_of_a_reopened_evaluation_the_new_revision_is_told(shop: Bench, hook: Hook) -> None:
    hook.statuses = [404, 200]
    run = shop.run("shop", "a", "b")
    with Ports.open(shop.store) as ports:
        ports.journal.reopen(run.evaluation_id(), "none")

    assert _later(shop, hook.url) is None
    assert len(hook.posts) == 1


def test_the_daemon_looks_for_what_waits(shop: Bench, hook: Hook) -> None:
    hook.statuses = [404, 200]
    run = shop.run("shop", "a", "b")
    sensor = build_definitions(shop.settings).get_repository_def().get_sensor_def(ANNOUNCEMENTS)

    with dg.build_sensor_context(instance=shop.instance) as context:
        first, second = sensor(context), sensor(context)

    assert isinstance(first, dg.SkipReason)
    assert first.skip_message == f"posted: {run.evaluation_id()}"
    assert isinstance(second, dg.SkipReason)
    assert second.skip_message == "none was posted"
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING


def test_without_an_address_nobody_looks(bench: Bench) -> None:
    repository = build_definitions(bench.settings).get_repository_def()
    assert not repository.has_sensor_def(ANNOUNCEMENTS)
