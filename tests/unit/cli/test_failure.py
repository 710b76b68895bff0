from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest
import typer

from chitta.cli import failure
from chitta.cli.failure import MISUSE, NOTHING, UNAVAILABLE, Failure, Misuse, Nothing, Unavailable, report


@pytest.mark.parametrize(
    ("problem", "code"),
    [(Failure("what"), 1), (Nothing("what"), NOTHING), (Misuse("what"), MISUSE), (Unavailable("what"), UNAVAILABLE)],
)
def test_each_failure_has_its_exit_code(problem: Failure, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(problem) == code
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "chitta: what\n")


def test_a_hint_follows_on_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    report(Nothing("no note", "look elsewhere"))
    assert capsys.readouterr().err == "chitta: no note\nhint: look elsewhere\n"


def test_what_is_away_in_the_rooms_below_brings_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    from chitta.daemon_client import DaemonAway
    from chitta.index import IndexBusy

    assert report(DaemonAway("nobody answers", "start it")) == UNAVAILABLE
    assert report(IndexBusy("another writes", "wait")) == UNAVAILABLE
    assert capsys.readouterr().err.count("hint: ") == 2


def test_the_system_s_errors_name_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(PermissionError(errno.EACCES, "Permission denied", "/some/note.md")) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("chitta: /some/note.md: Permission denied\nhint: ")


def test_a_fault_of_the_product_leaves_its_trace_in_a_private_file(
    own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ZeroDivisionError("of all things")
    except ZeroDivisionError as problem:
        assert report(problem) == 1
    trace = own_home / ".chitta" / "state" / "cli-fault.txt"
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: of all things" in shown and str(trace) in shown and "Traceback" not in shown
    assert "test_failure.py" in trace.read_text() and trace.stat().st_mode & 0o077 == 0


def test_a_fault_in_a_store_that_cannot_be_written_is_told_all_the_same(
    own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (own_home / ".chitta").write_text("a file where the store should be")
    assert report(ZeroDivisionError("x")) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_an_interrupt_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(KeyboardInterrupt()) == failure.INTERRUPTED
    assert capsys.readouterr().err == "\nchitta: stopped\n"


def app_that(raises: BaseException | None) -> typer.Typer:
    app = typer.Typer(cls=failure.Front, rich_markup_mode=None)

    @app.command()
    def one() -> None:
        if raises is not None:
            raise raises

    @app.command()
    def other() -> None:
        print("done")

    return app


@pytest.mark.parametrize(
    ("words", "raises", "code"),
    [
        (["one"], Nothing("n"), NOTHING),
        (["one"], typer.Exit(7), 7),
        (["one"], typer.Abort(), failure.INTERRUPTED),
        (["one"], None, 0),
        (["other"], None, 0),
        (["three"], None, MISUSE),
        (["one", "--what"], None, MISUSE),
    ],
)
def test_the_command_line_ends_with_the_code(words: list[str], raises: BaseException | None, code: int) -> None:
    with pytest.raises(SystemExit) as left:
        app_that(raises)(words, prog_name="chitta")
    assert left.value.code == code


def test_misuse_is_told_in_our_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app_that(None)(["one", "--what"], prog_name="chitta")
    shown = capsys.readouterr().err
    assert shown.startswith("chitta: no such option") and "hint: `chitta one --help`" in shown


def test_a_reader_that_has_left_is_no_fault(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    class Gone(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

        def fileno(self) -> int:
            raise OSError("no descriptor")

    monkeypatch.setattr("sys.stdout", Gone())
    monkeypatch.setattr(failure, "_forget_stdout", lambda: None)
    with pytest.raises(SystemExit) as left:
        app_that(None)(["other"], prog_name="chitta")
    assert left.value.code == NOTHING
    assert capfd.readouterr().err == ""
