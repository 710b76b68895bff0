from __future__ import annotations

import io

import pytest

from chitta.cli import progress
from chitta.cli.progress import Meter


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_pipe_there_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.0, progress.LINE_EVERY_SECONDS, progress.LINE_EVERY_SECONDS + 1])
    monkeypatch.setattr("chitta.cli.progress.time.monotonic", lambda: next(clock))
    with Meter() as meter:
        meter("notes", 10, 2_000)
        meter("vectors", 1_500, 2_000)
        meter("vectors", 1_600, 2_000)
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "indexing meaning: 1,500 of 2,000\n")


def test_a_total_that_nobody_knows_is_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    with Meter() as meter:
        meter("reading", 3, 0)
    assert capsys.readouterr().err == "reading: 3\n"


def test_on_a_terminal_there_is_a_bar_that_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, out = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr(progress, "BAR_AFTER_SECONDS", 0.0)
    with Meter() as meter:
        meter("notes", 1, 2)
        print("data")
        meter("notes", 2, 2)
    assert "indexing words" in screen.getvalue() and "2/2" in screen.getvalue()
    assert screen.getvalue().rstrip("\r\n").endswith("\x1b[2K") and out.getvalue() == "data\n"


def test_quick_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with Meter() as meter:
        meter("notes", 1, 2)
    assert screen.getvalue() == ""


def test_a_failure_ends_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "BAR_AFTER_SECONDS", 0.0)
    with pytest.raises(ZeroDivisionError), Meter() as meter:
        meter("notes", 1, 2)
        raise ZeroDivisionError
    assert "\x1b[?25h" in screen.getvalue()  # the cursor is back
