"""What lanes share: the same answers as when each reads for itself, and each thing computed once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chitta.admission import calibration
from chitta.admission.tokens import distinctive
from chitta.gateway import reading
from chitta.gateway import readings as module
from chitta.gateway.engine import LANES, Engine, Unavailable
from chitta.gateway.readings import Readings
from chitta.index.catalog import Catalog
from chitta.index.keyword import KeywordIndex
from chitta.index.snapshot import Snapshot, open_snapshot
from chitta.index.vectors import VectorIndex
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import Header, Row

from .conftest import SHOP, WordEmbedder

TELEMETRY = "project:example.com/acme/telemetry"
PROMPTS = (
    "webhook signature needs the raw body",
    "buyers billed double after npm install",
    "consumer lag, quote shell variables",
    "tomatoes with yellow leaves",
    "",
)


def ask(prompt: str, **changes: Any) -> Request:
    request = Request(prompt, prompt, context_query=f"{prompt} {prompt}", tokens=distinctive(prompt), realm=SHOP)
    return request._replace(**changes)


@pytest.fixture
def snapshot(settings: Settings) -> Iterator[Snapshot]:
    found = open_snapshot(settings.index_dir)
    assert found is not None
    yield found
    found.close()


def make(settings: Settings, snapshot: Snapshot, readings: Readings | None, words_only: bool = False) -> Engine:
    embedder = None if words_only else WordEmbedder()
    return Engine(settings, snapshot, embedder, None, calibration.shipped(), readings=readings)


def answer(engine: Engine, lane: str, request: Request) -> tuple[Header, list[Row]] | str:
    try:
        header, rows = engine.rows(lane, request, engine.settings)
    except Unavailable as problem:
        return str(problem)
    return header._replace(ms=0.0), rows


@pytest.mark.parametrize("order", [LANES, LANES[::-1]], ids=["forwards", "backwards"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_rows_are_the_same_with_and_without_sharing(
    settings: Settings, snapshot: Snapshot, prompt: str, order: tuple[str, ...]
) -> None:
    shared = Readings(snapshot)
    for realm in (SHOP, TELEMETRY, "global", "project:empty"):
        for k in (10, 1, 60):
            for words_only in (False, True):
                request = ask(prompt, realm=realm, k=k)
                together = make(settings, snapshot, shared, words_only)
                for lane in order:
                    alone = make(settings, snapshot, None, words_only)
                    assert answer(together, lane, request) == answer(alone, lane, request), (lane, realm, k)


def counted(
    monkeypatch: pytest.MonkeyPatch, owner: type, name: str, calls: Counter[Any], key: Callable[..., Any]
) -> None:
    """Count the calls of a method, and make each last long enough for others to come meanwhile."""
    real = getattr(owner, name)

    def slow(*arguments: Any, **options: Any) -> Any:
        for each in key(*arguments, **options):
            calls[each] += 1
        time.sleep(0.02)
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, slow)


def test_each_thing_is_computed_once_however_many_lanes_ask_at_once(
    settings: Settings, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[Any] = Counter()
    counted(monkeypatch, KeywordIndex, "search", calls, lambda index, terms, *, realm, kinds, without, limit: [
        ("search", terms, realm, kinds and frozenset(kinds))
    ])  # fmt: skip
    counted(monkeypatch, VectorIndex, "dots", calls, lambda index, matrix, query: [("dots", matrix.file)])
    counted(monkeypatch, Catalog, "with_terms", calls, lambda catalog, names: [("note", name) for name in names])
    analysed: Counter[str] = Counter()
    real = reading.read_prompt

    def read(snapshot: Snapshot, text: str, tokens: Any, without: frozenset[str]) -> Any:
        analysed[text] += 1
        return real(snapshot, text, tokens, without=without)

    monkeypatch.setattr(module, "read_prompt", read)
    request = ask(PROMPTS[1], context_query="")
    shared = Readings(snapshot)
    engines = [make(settings, snapshot, shared) for _ in range(4)]
    barrier = threading.Barrier(len(engines) * len(LANES))
    problems: list[Exception] = []

    def run(engine: Engine, lane: str) -> None:
        barrier.wait()
        try:
            answer(engine, lane, request)
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(engine, lane)) for engine in engines for lane in LANES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert analysed == {request.query: 1}
    assert {"search", "dots", "note"} == {key[0] for key in calls}
    assert set(calls.values()) == {1}


def test_corrections_and_sizes_are_read_once_a_snapshot(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[Any] = Counter()
    counted(monkeypatch, Catalog, "corrections", calls, lambda catalog, realms: [tuple(realms)])
    counted(monkeypatch, Catalog, "count", calls, lambda catalog, realm=None, kind=None: [(realm, kind)])
    shared = Readings(snapshot)
    for _ in range(3):
        assert [note.realm for note in shared.corrections(SHOP)] == [SHOP]
        assert shared.corrections("global") == []
        assert (shared.size(SHOP), shared.size(TELEMETRY), shared.size(None)) == (3, 1, 5)  # the session's row is none
    assert calls.pop((SHOP, "global")) == calls.pop(("global",)) == 1
    assert {realm for realm, _ in calls} == {SHOP, TELEMETRY, None} and set(calls.values()) == {1}
    monkeypatch.setattr(module, "KEPT_REALMS", 2)
    for realm in ("a", "b", "c", SHOP):
        shared.corrections(realm)
        shared.size(realm)
    assert len(shared._corrections) <= 2 and len(shared._sizes) <= 2


def test_what_only_records_what_happened_has_no_say(settings: Settings, snapshot: Snapshot) -> None:
    """The session's row is the best by words and by meaning; no lane finds it, and the prompt is known no better."""
    request = ask("webhook webhook webhook signature", realm=SHOP)
    engine = make(settings, snapshot, None)
    for lane in LANES:
        found = answer(engine, lane, request)
        assert not isinstance(found, str) and "session-row" not in [row.id for row in found[1]], lane
    assert "session-row" not in dict(Readings(snapshot).of(request.query, request.tokens).words(None, 10))
    assert "session-row" in dict(
        reading.read_prompt(snapshot, request.query, request.tokens).words(None, 10)
    )  # a person's question finds it


def test_the_longest_known_is_dropped_first(snapshot: Snapshot) -> None:
    shared = Readings(snapshot, kept=2)
    first, second = shared.of("a", ()), shared.of("b", ())
    assert shared.of("a", ()) is first
    shared.of("c", ())
    assert shared.of("b", ()) is second
    assert shared.of("a", ()) is not first


def test_other_tokens_are_another_reading(snapshot: Snapshot) -> None:
    shared = Readings(snapshot)
    assert shared.of("webhook", ("webhook",)) is not shared.of("webhook", ())


def test_nothing_is_kept_for_longer_than_a_prompt_takes(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Readings(snapshot)
    old = shared.of("a", ())
    monkeypatch.setattr(module, "KEPT_S", 0.0)
    shared.of("b", ())
    assert shared.of("a", ()) is not old


def test_what_was_answered_is_forgotten(snapshot: Snapshot) -> None:
    shared = Readings(snapshot)
    first, second = shared.of("a", ("x",)), shared.of("b", ())
    shared.forget("a", "", "never read")
    assert shared.of("b", ()) is second
    assert shared.of("a", ("x",)) is not first
    shared.forget()
    assert shared.of("b", ()) is not second


def test_a_failure_is_not_kept(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise MemoryError

    shared = Readings(snapshot)
    with monkeypatch.context() as patch:
        patch.setattr(module, "read_prompt", fail)
        with pytest.raises(MemoryError):
            shared.of("webhook", ())
    found = shared.of("webhook", ())
    with monkeypatch.context() as patch:
        patch.setattr(KeywordIndex, "search", fail)
        with pytest.raises(MemoryError):
            found.words(SHOP, 5)
    assert found.words(SHOP, 5)
