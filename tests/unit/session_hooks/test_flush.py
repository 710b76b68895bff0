"""A session is put away: its transcript is queued, and what was shown may come again where that is proved."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chitta import sessions
from chitta.session_hooks import flush as room
from chitta.session_hooks.flush import enqueue, flush, proves_compaction
from chitta.session_hooks.occasion import COMPACT, END, FLUSH, STOP, Occasion
from chitta.settings import Settings, load

NOW = 1_800_000_000.0


def occasion(why: str = STOP, harness: str = "claude", transcript: str = "/t/a.jsonl", trigger: str = "") -> Occasion:
    return Occasion(FLUSH, harness, "", "s", "/w", transcript=transcript, trigger=trigger, why=why)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home")})


def queue(settings: Settings) -> list[dict[str, Any]]:
    path = Path(settings.state_dir, "queue.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def test_a_transcript_is_queued_for_its_owner_alone(settings: Settings) -> None:
    flush(occasion(), settings, NOW)
    assert queue(settings) == [
        {
            "ts": "2027-01-15T08:00:00Z",
            "session_id": "s",
            "transcript_path": "/t/a.jsonl",
            "trigger": "Stop",
            "cwd": "/w",
            "harness": "claude",
        }
    ]
    assert stat.S_IMODE(os.stat(Path(settings.state_dir, "queue.jsonl")).st_mode) == 0o600


def test_a_transcript_that_waits_is_queued_once_a_minute(settings: Settings) -> None:
    assert enqueue(occasion(), settings.state_dir, NOW)
    assert not enqueue(occasion(END), settings.state_dir, NOW + 30)
    assert enqueue(occasion(transcript="/t/b.jsonl"), settings.state_dir, NOW + 30)
    assert enqueue(occasion(), settings.state_dir, NOW + room.AGAIN_S)
    assert [one["transcript_path"] for one in queue(settings)] == ["/t/a.jsonl", "/t/b.jsonl", "/t/a.jsonl"]


def test_what_was_drained_is_queued_again(settings: Settings) -> None:
    assert enqueue(occasion(), settings.state_dir, NOW)
    os.unlink(Path(settings.state_dir, "queue.jsonl"))
    assert enqueue(occasion(), settings.state_dir, NOW + 1)


@pytest.mark.parametrize("transcript", ["", "/" + "x" * 5_000])
def test_without_a_usable_path_nothing_is_queued(settings: Settings, transcript: str) -> None:
    flush(occasion(transcript=transcript), settings, NOW)
    assert queue(settings) == []


def test_the_queue_is_bounded_and_keeps_the_newest(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_QUEUE_BYTES", 4_000)
    for at in range(100):
        enqueue(occasion(transcript=f"/t/{at}.jsonl"), settings.state_dir, NOW + at)
    found = [one["transcript_path"] for one in queue(settings)]
    last = int(found[0].split("/")[2].split(".")[0])
    assert found == [f"/t/{at}.jsonl" for at in range(last, 100)] and 1 < len(found) < 50
    assert Path(settings.state_dir, "queue.jsonl").stat().st_size < 4_500


def test_half_a_line_does_not_spoil_the_next(settings: Settings) -> None:
    Path(settings.state_dir).mkdir(parents=True)
    path = Path(settings.state_dir, "queue.jsonl")
    path.write_bytes(b'[1]\nnull\n{"ts": 7, "transcript_path": "/t/a.jsonl"}\n{"ts":"20')
    assert enqueue(occasion(), settings.state_dir, NOW)
    assert json.loads(path.read_bytes().split(b"\n")[-2])["transcript_path"] == "/t/a.jsonl"


def test_lines_of_many_never_mix(settings: Settings) -> None:
    def add(at: int) -> bool:
        return enqueue(occasion(transcript=f"/t/{at}.jsonl"), settings.state_dir, NOW)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(add, range(60)))
    assert {one["transcript_path"] for one in queue(settings)} == {f"/t/{at}.jsonl" for at in range(60)}


def test_a_queue_that_is_a_link_is_not_followed(settings: Settings, tmp_path: Path) -> None:
    Path(settings.state_dir).mkdir(parents=True)
    Path(settings.state_dir, "queue.jsonl").symlink_to(tmp_path / "elsewhere")
    flush(occasion(), settings, NOW)
    assert not (tmp_path / "elsewhere").exists()


def test_a_store_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    flush(occasion(), load({"CHITTA_HOME": str(tmp_path / "file" / "home")}), NOW)


# Compaction


def shown(settings: Settings) -> tuple[str, ...]:
    return sessions.read(settings.state_dir, "s").injected


@pytest.mark.parametrize(
    ("harness", "trigger", "size", "forgotten"),
    [
        ("gemini", "manual", 0, True),
        ("gemini", "auto", 100, False),
        ("gemini", "auto", room.LARGE_TRANSCRIPT_BYTES, True),
        ("copilot", "auto", room.LARGE_TRANSCRIPT_BYTES, True),
        ("copilot", "manual", 0, True),
        ("claude", "manual", room.LARGE_TRANSCRIPT_BYTES, False),
        ("codex", "auto", room.LARGE_TRANSCRIPT_BYTES, False),
    ],
)
def test_memories_may_come_again_where_a_compaction_is_proved(
    settings: Settings, tmp_path: Path, harness: str, trigger: str, size: int, forgotten: bool
) -> None:
    with sessions.Held(settings.state_dir, "s") as held:
        held.record(turn=1, topic="kept", injected=("a",))
    transcript = tmp_path / "t.jsonl"
    transcript.write_bytes(b"x" * size)
    one = occasion(COMPACT, harness, str(transcript), trigger)
    assert proves_compaction(one) is forgotten
    flush(one, settings, NOW)
    assert shown(settings) == (() if forgotten else ("a",))
    assert sessions.read(settings.state_dir, "s").turns == ("kept",)


@pytest.mark.parametrize("why", [STOP, END])
def test_a_turns_end_forgets_nothing(settings: Settings, why: str) -> None:
    with sessions.Held(settings.state_dir, "s") as held:
        held.show(("a",), "global")
    flush(occasion(why, "gemini", trigger="manual"), settings, NOW)
    assert shown(settings) == ("a",)


def test_a_session_that_was_shown_nothing_gets_no_file(settings: Settings) -> None:
    flush(occasion(COMPACT, "gemini", trigger="manual"), settings, NOW)
    assert not list(Path(settings.state_dir, "sessions").glob("*.json"))


def test_old_sessions_are_pruned(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(12):
        with sessions.Held(settings.state_dir, f"s{at}") as held:
            held.show(("a",), "global")
    monkeypatch.setattr(sessions, "MAX_FILES", 10)
    flush(occasion(), settings, NOW)
    assert len(list(Path(settings.state_dir, "sessions").glob("*.json"))) < 10


def test_what_others_add_while_the_queue_is_halved_is_not_lost(settings: Settings) -> None:
    Path(settings.state_dir).mkdir(parents=True)
    Path(settings.state_dir, "queue.jsonl").write_bytes((b'{"x":"' + b"y" * 90 + b'"}\n') * 10_090)
    with ThreadPoolExecutor(20) as pool:
        added = list(pool.map(lambda at: enqueue(occasion(transcript=f"/u/{at}"), settings.state_dir, NOW), range(20)))
    paths = {one.get("transcript_path") for one in queue(settings)}
    assert all(added) and {f"/u/{at}" for at in range(20)} <= paths
