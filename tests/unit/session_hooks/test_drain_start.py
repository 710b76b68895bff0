"""Whether a session's start has the queue read; the start itself is tested as a process (tests/bats/drain.bats)."""

import os
import posix
from pathlib import Path

import pytest

from chitta.session_hooks.drain_start import DEBOUNCE_S, LAST, is_wanted, start
from chitta.session_hooks.flush import enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion
from chitta.settings import Settings, load

NOW = 1_800_000_000.0


def settings(tmp_path: Path, on: str = "1") -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home"), "CHITTA_DRAIN": on})


@pytest.fixture
def state(tmp_path: Path) -> str:
    folder = settings(tmp_path).state_dir
    enqueue(Occasion(FLUSH, "claude", transcript="/t/a.jsonl", why=STOP), folder, NOW)
    return folder


def test_it_is_wanted_where_it_is_on_and_something_waits(tmp_path: Path, state: str) -> None:
    assert is_wanted(settings(tmp_path), NOW) and not is_wanted(settings(tmp_path, "0"), NOW)
    os.truncate(os.path.join(state, "queue.jsonl"), 0)
    assert not is_wanted(settings(tmp_path), NOW)


def test_it_is_not_wanted_again_so_soon(tmp_path: Path, state: str) -> None:
    Path(state, LAST).touch()
    os.utime(Path(state, LAST), (NOW, NOW))
    assert not is_wanted(settings(tmp_path), NOW + DEBOUNCE_S - 1) and is_wanted(settings(tmp_path), NOW + DEBOUNCE_S)


def test_off_is_the_default_and_forks_nothing(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "fork", lambda: pytest.fail("a process was started"))
    assert not start(load({"CHITTA_HOME": str(tmp_path / "home")}))


def test_a_fork_that_fails_is_no_trouble(tmp_path: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(posix, "fork", full)
    assert not start(settings(tmp_path))
