"""What is remembered of a session."""

import fcntl
import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from chitta import sessions
from chitta.sessions import Held, Session, read


def record(
    state: Path, session: str = "s", *, turn: int = 1, topic: str = "topic", injected: tuple[str, ...] = ()
) -> None:
    with Held(str(state), session) as held:
        held.record(turn=turn, topic=topic, injected=injected)


def only_file(state: Path) -> Path:
    (found,) = (state / "sessions").glob("*.json")
    return found


def test_a_new_session_is_empty(tmp_path: Path) -> None:
    assert read(str(tmp_path), "s") == Session((), 0, ())


def test_turns_and_ids_are_kept(tmp_path: Path) -> None:
    record(tmp_path, turn=1, topic="one", injected=("a", "b"))
    record(tmp_path, turn=2, topic="", injected=())
    record(tmp_path, turn=3, topic="three", injected=("c", "a"))
    assert read(str(tmp_path), "s") == Session(("one", "three"), 3, ("b", "c", "a"), ("c", "a"))
    assert read(str(tmp_path), "other") == Session()


def test_what_the_last_turn_was_shown_is_that_turns_alone(tmp_path: Path) -> None:
    record(tmp_path, turn=1, injected=("a",))
    assert read(str(tmp_path), "s").recent == ("a",)
    record(tmp_path, turn=2, injected=())
    assert (read(str(tmp_path), "s").recent, read(str(tmp_path), "s").injected) == ((), ("a",))


def test_everything_is_bounded(tmp_path: Path) -> None:
    for turn in range(1, 6):
        record(tmp_path, turn=turn, topic=f"{turn}" * 5_000, injected=tuple(f"{turn}-{n}" for n in range(200)))
    found = read(str(tmp_path), "s")
    assert [words[0] for words in found.turns] == ["3", "4", "5"]
    assert {len(words) for words in found.turns} == {sessions.MAX_TURN_CHARS}
    assert len(found.injected) == sessions.MAX_INJECTED and found.injected[-1] == "5-199"


def test_the_same_turn_again_is_one_topic(tmp_path: Path) -> None:
    record(tmp_path, topic="same")
    record(tmp_path, topic="same")
    assert read(str(tmp_path), "s") == Session(("same",), 2, ())


def test_no_identifier_no_memory(tmp_path: Path) -> None:
    record(tmp_path, "")
    assert list(tmp_path.iterdir()) == []


def test_files_are_private(tmp_path: Path) -> None:
    record(tmp_path)
    assert stat.S_IMODE(only_file(tmp_path).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "sessions").stat().st_mode) == 0o700


@pytest.mark.parametrize("name", ["../../escape", "a" * 10_000, "half \ud800", "\x00", "日本"])
def test_any_identifier_is_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    record(tmp_path, name, topic="x")
    assert read(str(tmp_path), name).turns == ("x",)
    assert only_file(tmp_path).parent == tmp_path / "sessions"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b'{"v":2,"turn":4}',
        b"\xff" * 100,
        b'{"v":1,"turns":7,"turn":"x","injected":{"a":1}}',
        b'{"v":1,"turn":-3,"turns":[1,null]}',
    ],
)
def test_a_damaged_file_is_an_empty_session(tmp_path: Path, raw: bytes) -> None:
    record(tmp_path)
    only_file(tmp_path).write_bytes(raw)
    assert read(str(tmp_path), "s") == Session()
    record(tmp_path, topic="again")
    assert read(str(tmp_path), "s").turns == ("again",)


def test_a_folder_that_cannot_be_made_is_an_error_only_when_writing(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("a file is in the way")
    with Held(str(tmp_path), "s") as held:
        assert held.session == Session()
        with pytest.raises(OSError):
            held.record(turn=1, topic="x", injected=())


def test_a_stuck_lock_does_not_stop_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LOCK_WAIT_S", 0.01)
    record(tmp_path, topic="one")
    with open(tmp_path / "sessions" / "lock", "rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        record(tmp_path, turn=2, topic="two")
    assert read(str(tmp_path), "s").turns == ("one", "two")


def test_nothing_is_left_open_or_beside(tmp_path: Path) -> None:
    record(tmp_path)
    before = len(os.listdir("/dev/fd"))
    for turn in range(20):
        record(tmp_path, turn=turn)
    assert len(os.listdir("/dev/fd")) == before
    assert sorted(path.suffix for path in (tmp_path / "sessions").iterdir()) == ["", ".json"]


def test_old_sessions_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_FILES", 10)
    for number in range(10):
        record(tmp_path, f"s{number}")
        found = Path(sessions._path(str(tmp_path), f"s{number}"))
        os.utime(found, (number + 1, number + 1))
    record(tmp_path, "newest")
    kept = [name for name in (*(f"s{n}" for n in range(10)), "newest") if read(str(tmp_path), name) != Session()]
    assert kept == [*(f"s{n}" for n in range(1, 10)), "newest"]


def _writer(state: str, number: int) -> None:
    for step in range(5):
        with Held(state, "s") as held:
            held.record(turn=1, topic="", injected=[f"{number}-{step}"])


def test_fault_26_parallel_hooks_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "LOCK_WAIT_S", 30.0)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_writer, args=(str(tmp_path), number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = json.loads(only_file(tmp_path).read_bytes())
    assert sorted(found["injected"]) == sorted(f"{n}-{s}" for n in range(4) for s in range(5))
    assert found["turn"] == 20


def test_what_is_shown_outside_of_a_turn_is_kept_without_one(tmp_path: Path) -> None:
    with Held(str(tmp_path), "s") as held:
        held.show(("best", "second"), "project:h/o/n")
    assert read(str(tmp_path), "s") == Session((), 0, ("second", "best"), (), "project:h/o/n")
    record(tmp_path, turn=1, topic="one", injected=("x",))
    with Held(str(tmp_path), "s") as held:
        held.show(("best",), "project:other")
        held.show((), "project:other")
    assert read(str(tmp_path), "s").injected == ("second", "x", "best")
    assert read(str(tmp_path), "s").turn == 1


def test_a_forgotten_list_is_empty_and_the_rest_stays(tmp_path: Path) -> None:
    record(tmp_path, turn=4, topic="one", injected=("a", "b"))
    with Held(str(tmp_path), "s") as held:
        held.forget_shown()
    assert read(str(tmp_path), "s") == Session(("one",), 4, (), ())
    with Held(str(tmp_path), "never") as held:
        held.forget_shown()
    only_file(tmp_path)


def test_fault_02_a_pipe_in_a_sessions_place_is_an_empty_session(tmp_path: Path) -> None:
    with Held(str(tmp_path), "s") as held:
        held.record(turn=1, topic="words", injected=["a"])
    (file,) = (tmp_path / "sessions").glob("*.json")
    file.unlink()
    os.mkfifo(file)
    assert read(str(tmp_path), "s") == Session()
