"""What the daemon answers, over the real socket and a real index; only the models are small."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.daemon import freshness
from chitta.daemon.warmup import Loaders
from chitta.wire import codec
from chitta.wire.codec import LATE, MISUSE, OK, UNAVAILABLE
from chitta.wire.request import Request, encode_request, parse_request
from chitta.wire.rows import Header, Row, encode_rows, parse_rows

Make = Callable[..., Any]
TURN_HEAD = ("claude", "%2Fnowhere")


def request(query: str, deadline_ms: int = 60_000, **fields: Any) -> bytes:
    return encode_request(Request(prompt=query, query=query, deadline_ms=deadline_ms, **fields))


def rows_of(daemon: Any, lane: str, query: str, **fields: Any) -> list[str]:
    code, body = daemon.ask("lane", lane, body=request(query, **fields))
    assert code == OK, body
    result = parse_rows(lane, "ok", 0.0, body)
    assert result.state == "ok"
    return [row.id for row in result.rows]


def payload(prompt: str) -> bytes:
    return codec.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/nowhere", "prompt": prompt})


def ready(daemon: Any) -> Any:
    """Started, with the index open and the embedder loaded and used on every note."""
    daemon.start()
    end = time.monotonic() + 120
    while True:
        status = daemon.call("status")
        settled = status["models"]["embedder"]["state"] != "loading" and not status["syncing"]
        if settled and daemon.parts.library.opened.is_set() and not status["pending"]:
            return daemon
        assert time.monotonic() < end, status
        time.sleep(0.02)


@pytest.fixture
def daemon(make_daemon: Make) -> Any:
    made = make_daemon()
    made.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets before it stalls.")
    made.note("release-day", "Releases leave on a Tuesday after the smoke tests are green.")
    return ready(made)


# lane


@pytest.mark.parametrize("lane", ["semantic", "keyword", "hybrid", "cross-realm"])
def test_lanes_find_the_note(daemon: Any, lane: str) -> None:
    assert rows_of(daemon, lane, "how many gaskets does the frobnicator take")[0] == "frobnicator-limits"


def test_lane_header_names_the_lane_and_is_not_warming(daemon: Any) -> None:
    code, body = daemon.ask("lane", "hybrid", body=request("gaskets"))
    result = parse_rows("hybrid", "ok", 0.0, body)
    assert (code, result.state) == (OK, "ok")
    assert result.header is not None and not result.header.warming


@pytest.mark.parametrize(
    ("verb", "arguments", "body"),
    [
        ("lane", ("keyword",), b"not json"),
        ("lane", ("keyword",), b"{}"),
        ("lane", ("no-such-lane",), request("words")),
        ("lane", (), request("words")),
        ("merge", (), b"request 900 \nshort"),
        ("merge", (), b""),
        ("call", ("no-such-operation",), b"{}"),
        ("call", ("ping",), b"[1]"),
        ("call", ("recall",), b'{"query":1}'),
        ("call", ("recall",), b'{"query":"a","strategy":"magic"}'),
        ("call", ("embed",), b'{"texts":"a"}'),
        ("sing", (), b""),
    ],
)
def test_misuse_is_said_in_one_line(daemon: Any, verb: str, arguments: tuple[str, ...], body: bytes) -> None:
    code, why = daemon.ask(verb, *arguments, body=body)
    assert code == MISUSE
    assert why.strip() and b"\n" not in why.strip()


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"lane keyword v2\n\n{}", b"lane keyword\n\n{}", b"\xff\xfe\0v1\n\n"])
def test_payload_that_is_no_request_is_misuse(daemon: Any, raw: bytes) -> None:
    answer = daemon.service.answer(raw, time.monotonic())
    assert codec.decode_reply_payload(answer.payload)[0] == MISUSE


def test_another_store_is_misuse(daemon: Any, tmp_path: Path) -> None:
    raw = codec.encode_request_payload("call", ("ping",), b"", {"CHITTA_HOME": str(tmp_path)})
    code, why = codec.decode_reply_payload(daemon.service.answer(raw, time.monotonic()).payload)
    assert code == MISUSE and b"another store" in why


def test_fault_is_111_and_leaves_no_prompt_in_the_log(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("my secret prompt")

    monkeypatch.setattr("chitta.gateway.engine.Engine.rows", fail)
    code, why = daemon.ask("lane", "keyword", body=request("my secret prompt"))
    assert code == UNAVAILABLE and b"ZeroDivisionError" in why
    assert "ZeroDivisionError" in daemon.log_text()
    assert "secret" not in daemon.log_text() and b"secret" not in why
    monkeypatch.undo()
    assert rows_of(daemon, "keyword", "gaskets") == ["frobnicator-limits"]


def test_lane_whose_time_is_over_is_late(daemon: Any) -> None:
    raw = codec.encode_request_payload("lane", ("keyword",), request("gaskets", deadline_ms=50), {})
    answer = daemon.service.answer(raw, time.monotonic() - 1)
    assert codec.decode_reply_payload(answer.payload)[0] == LATE


def test_settings_of_the_request_count(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = daemon.ask("turn", *TURN_HEAD, body=payload("how many gaskets"))[1]
    assert b'"k":10' in answer
    monkeypatch.setenv("CHITTA_LANE_K", "4")
    assert b'"k":4' in daemon.ask("turn", *TURN_HEAD, body=payload("how many gaskets"))[1]


# warming


def test_while_loading_words_answer_and_meaning_is_unavailable(
    make_daemon: Make, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_WARM_WAIT_MS", "100")
    embedder.gate.clear()
    daemon = make_daemon()
    daemon.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    daemon.start()
    assert rows_of(daemon, "keyword", "gaskets") == ["frobnicator-limits"]
    code, body = daemon.ask("lane", "semantic", body=request("gaskets"))
    assert code == UNAVAILABLE and b"loading" in body
    code, body = daemon.ask("lane", "hybrid", body=request("gaskets"))
    header = parse_rows("hybrid", "ok", 0.0, body).header
    assert code == OK and header is not None and header.warming


def test_words_are_not_kept_waiting_for_an_index_that_is_being_opened(daemon: Any) -> None:
    opened = daemon.parts.library.opened
    opened.clear()
    try:
        for lane in ("keyword", "correction-key"):
            code, body = daemon.ask("lane", lane, body=request("frobnicator"))
            assert (code, body) == (UNAVAILABLE, b"the index is still being opened")
    finally:
        opened.set()
    assert rows_of(daemon, "keyword", "frobnicator") == ["frobnicator-limits"]


def test_lane_waits_for_an_embedder_that_is_about_to_be_ready(
    make_daemon: Make, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_WARM_WAIT_MS", "60000")
    embedder.gate.clear()
    daemon = make_daemon()
    daemon.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    wait = daemon.parts.models.wait_for_embedder

    def ready_once_waited_for(seconds: float) -> None:
        threading.Timer(0.1, embedder.gate.set).start()
        wait(seconds)

    monkeypatch.setattr(daemon.parts.models, "wait_for_embedder", ready_once_waited_for)
    daemon.start()
    code, body = daemon.ask("lane", "hybrid", body=request("gaskets", deadline_ms=110_000))
    header = parse_rows("hybrid", "ok", 0.0, body).header
    assert code == OK and header is not None and not header.warming


def test_warm_wait_is_the_callers_to_choose(make_daemon: Make, embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_WARM_WAIT_MS", "0")
    embedder.gate.clear()
    daemon = make_daemon()
    daemon.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    daemon.start()
    code, body = daemon.ask("lane", "semantic", body=request("gaskets", deadline_ms=600_000))
    assert code == UNAVAILABLE, body


def test_model_that_cannot_be_loaded_is_named_in_the_status(make_daemon: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_WARM_WAIT_MS", "60000")  # the wait ends when the loading has failed

    def missing(settings: Any) -> Any:
        raise OSError("the model file is missing")

    daemon = make_daemon(Loaders(missing, lambda settings: None))
    daemon.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    daemon.start()
    code, _ = daemon.ask("lane", "semantic", body=request("gaskets", deadline_ms=110_000))
    assert code == UNAVAILABLE
    assert rows_of(daemon, "hybrid", "gaskets") == ["frobnicator-limits"]
    assert any("the model file is missing" in problem for problem in daemon.call("status")["problems"])


def test_store_that_cannot_be_indexed_is_not_an_empty_one(make_daemon: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("chitta.index.indexer.sync", fail)
    daemon = make_daemon()
    daemon.note("one", "There is a note.")
    daemon.start()
    code, why = daemon.ask("lane", "keyword", body=request("note"))
    assert code == UNAVAILABLE and b"Permission denied" in why


# turn


def test_turn_gives_facts_and_a_request(daemon: Any) -> None:
    code, body = daemon.ask("turn", *TURN_HEAD, body=payload("how many gaskets does the frobnicator take?"))
    facts, _, raw = body.partition(b"\n\n")
    assert code == OK
    assert b"go=1" in facts.split(b"\n")
    assert parse_request(raw).prompt == "how many gaskets does the frobnicator take?"


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b"null", b'{"prompt": ""}', b"\xff", b'{"prompt":'])
def test_payload_without_a_prompt_is_nothing_to_do(daemon: Any, raw: bytes) -> None:
    code, body = daemon.ask("turn", "", "%2F", body=raw)
    facts, _, rest = body.partition(b"\n\n")
    assert (code, facts, rest) == (OK, b"go=0", b"")


def test_turn_embeds_ahead_so_that_lanes_find_the_vector(daemon: Any, embedder: Any) -> None:
    prompt = "how many gaskets does the frobnicator take?"
    before = len(embedder.queries)
    _, body = daemon.ask("turn", *TURN_HEAD, body=payload(prompt))
    raw = body.partition(b"\n\n")[2]
    for lane in ("semantic", "hybrid", "cross-realm", "correction"):
        assert daemon.ask("lane", lane, body=raw)[0] == OK
    assert embedder.queries[before:] == [parse_request(raw).query]


def test_note_written_a_moment_ago_is_in_the_next_prompt(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "PROMPT_WAIT_S", 60.0)  # however busy this machine is
    monkeypatch.setattr(freshness, "QUICK_LOOK_S", 60.0)
    for number in range(3):
        daemon.note(f"new-{number}", f"The zephyrine{number} valve opens to the left.")
        daemon.ask("turn", *TURN_HEAD, body=payload(f"which way does the zephyrine{number} valve open?"))
        assert rows_of(daemon, "keyword", f"zephyrine{number}")[0] == f"new-{number}"
        assert f"new-{number}" in rows_of(daemon, "semantic", f"zephyrine{number}")


def test_note_removed_a_moment_ago_is_not_in_the_next_prompt(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "PROMPT_WAIT_S", 60.0)  # however busy this machine is
    monkeypatch.setattr(freshness, "QUICK_LOOK_S", 60.0)
    path = daemon.note("short-lived", "The quillon bolt is rusty.")
    daemon.ask("turn", *TURN_HEAD, body=payload("what of the quillon bolt?"))
    assert rows_of(daemon, "keyword", "quillon") == ["short-lived"]
    os.unlink(path)
    daemon.ask("turn", *TURN_HEAD, body=payload("what of the quillon bolt?"))
    assert rows_of(daemon, "keyword", "quillon") == []


# merge


def part(lane: str, rows: list[Row]) -> bytes:
    raw = encode_rows(Header(lane, n=len(rows), k=10), rows)
    return codec.encode_part("lane", raw, {"name": lane, "state": "ok", "ms": "12"})


def test_merge_gives_what_to_print(daemon: Any) -> None:
    query = "how many gaskets does the frobnicator take?"
    row = Row("frobnicator-limits", 3.0, kind="insight", title="limits", text="At most twelve gaskets.", conf=1.0)
    row = row._replace(shared=("gaskets", "frobnicator"), coverage=1.0, cos=0.9)
    body = codec.encode_part("request", request(query, session="s", tokens=("gaskets", "frobnicator")))
    body += part("correction-key", [row._replace(why="gaskets", kind="correction")]) + part("keyword", [row])
    code, answer = daemon.ask("merge", body=body)
    assert code == OK
    (out, _, printed), (err, _, _) = codec.decode_parts(answer)
    assert (out, err) == ("out", "err")
    assert b"twelve gaskets" in printed


def test_lanes_share_what_they_read_until_their_prompt_is_answered_or_nobody_asks(daemon: Any) -> None:
    def shared(query: str) -> Any:
        with daemon.parts.library.reading() as snapshot:
            return daemon.parts.library.readings(snapshot).of(query, ())

    query = "how many gaskets does the frobnicator take?"
    first = shared(query)
    for lane in ("semantic", "hybrid", "cross-realm", "keyword"):
        assert daemon.ask("lane", lane, body=request(query))[0] == OK
    assert shared(query) is first
    assert first.notes(["frobnicator-limits"])
    assert daemon.ask("merge", body=codec.encode_part("request", request(query)))[0] == OK
    end = time.monotonic() + 60
    while shared(query) is first and time.monotonic() < end:  # forgotten once the reply is sent
        time.sleep(0.01)
    second = shared(query)
    assert second is not first
    daemon.service.rest()
    assert shared(query) is not second


def test_merge_of_nothing_prints_nothing(daemon: Any) -> None:
    body = codec.encode_part("request", request("words"))
    body += codec.encode_part("lane", b"", {"name": "keyword", "state": "late", "ms": "2000"})
    code, answer = daemon.ask("merge", body=body)
    assert code == OK
    assert [(name, data) for name, _, data in codec.decode_parts(answer)] == [("out", b""), ("err", b"")]


def test_merge_takes_broken_lanes_as_they_are(daemon: Any) -> None:
    body = codec.encode_part("request", request("words"))
    body += codec.encode_part("lane", b"\xff\0 not rows", {"name": "odd", "state": "ok", "ms": "nonsense"})
    body += codec.encode_part("lane", b"", {})
    assert daemon.ask("merge", body=body)[0] == OK


def test_a_merge_that_nobody_waits_for_any_more_is_not_made_twice(daemon: Any) -> None:
    body = codec.encode_part("request", request("words"), {"within_ms": "0.000001"})
    assert daemon.ask("merge", body=body)[0] == LATE
    assert not (Path(daemon.settings.state_dir) / "recall-log.jsonl").exists()


# many at once


def test_two_hundred_requests_at_once_embed_once(daemon: Any, embedder: Any) -> None:
    before = len(embedder.queries)
    codes: list[int] = []

    def ask() -> None:
        codes.append(daemon.ask("lane", "semantic", body=request("the very same words"))[0])

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [OK] * 200
    assert embedder.queries[before:] == ["the very same words"]


def test_generations_change_while_requests_run(daemon: Any) -> None:
    """Full rebuilds under load: every answer is whole, and the newest generation is what is left."""
    stop = threading.Event()
    problems: list[str] = []

    def ask() -> None:
        while not stop.is_set():
            for lane in ("hybrid", "semantic", "keyword"):
                code, body = daemon.ask("lane", lane, body=request("gaskets frobnicator"))
                found = parse_rows(lane, "ok", 0.0, body)
                if code != OK or "frobnicator-limits" not in [row.id for row in found.rows]:
                    problems.append(f"{lane}: {code} {body[:200]!r}")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    generations = [daemon.call("sync", full=True)["generation"] for _ in range(5)]
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert generations == sorted(set(generations))
    assert daemon.call("status")["generation"] == generations[-1]


def test_a_turn_is_not_prepared_once_others_may_write_to_the_store(daemon: Any) -> None:
    os.chmod(os.path.join(os.environ["CHITTA_HOME"], "notes"), 0o777)
    code, body = daemon.ask("turn", *TURN_HEAD, body=payload("how many gaskets does the frobnicator take?"))
    assert code == UNAVAILABLE and b"others may write into" in body
