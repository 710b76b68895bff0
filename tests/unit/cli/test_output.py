from __future__ import annotations

import io
import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def look_at_it(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """From here on standard output is a terminal with colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    screen = Terminal()
    monkeypatch.setattr("sys.stdout", screen)
    return screen


def bare(terminal: Terminal) -> str:
    """What it shows, without colours."""
    return re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue())


@given(st.text())
def test_harmless_text_can_neither_move_a_cursor_nor_turn_the_line(text: str) -> None:
    shown = output.harmless(text)
    assert "\x1b" not in shown and "\x9b" not in shown and "\u202e" not in shown
    assert shown.encode("utf-8").decode("utf-8") == shown


def test_harmless_keeps_newlines_tabs_and_other_scripts() -> None:
    assert output.harmless("a\tb\r\nनमस्ते 家 👩‍💻") == "a\tb\nनमस्ते 家 👩‍💻"


def test_a_table_in_a_pipe_is_aligned_text(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["name", "n"], [["one", 1], ["家族", 20]], right=["n"])
    assert capsys.readouterr().out == "name   n\none    1\n家族  20\n"


def test_a_table_in_a_pipe_has_no_colour_even_when_forced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    output.table(["name"], [["one"]])
    output.say("bold", "bold")
    assert "\x1b" not in capsys.readouterr().out


def test_a_table_on_a_terminal_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look_at_it(monkeypatch)
    output.table(["name", "n"], [["[bold]not markup[/bold]", 1]], right=["n"])
    drawn = terminal.getvalue()
    assert "\x1b[" in drawn and "─" in drawn and "[bold]not markup[/bold]" in drawn


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv(name, value)
    output.say("words", "bold")
    output.table(["name"], [["one"]])
    assert "\x1b[3" not in terminal.getvalue() and terminal.getvalue().startswith("words\n")


def test_json_is_utf8_in_any_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    output.as_json({"text": "家 \ud800", "bad": float("nan")})
    assert json.loads(raw.getvalue().decode("utf-8")) == {"text": "家 \ufffd", "bad": None}


def test_a_character_that_the_stream_lacks_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="cp1252"))
    output.prepare_streams()
    output.say("家")
    sys.stdout.flush()
    assert raw.getvalue() == b"?\n"


def test_one_line_cuts_and_says_so() -> None:
    assert output.one_line("a  b\nc", 10) == "a b c"
    assert output.one_line("abcdefgh", 4) == "abc…"


def test_paragraphs_keep_to_the_width(capsys: pytest.CaptureFixture[str]) -> None:
    output.paragraph("word " * 60, "  ")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1 and all(line.startswith("  ") and len(line) <= output.PLAIN_WIDTH for line in lines)


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (10**13, "10000 GB")]
)
def test_sizes(count: int, words: str) -> None:
    assert output.size_of(count) == words


def test_plurals() -> None:
    assert [output.plural(n, "note") for n in (0, 1, 1200)] == ["0 notes", "1 note", "1,200 notes"]


def test_a_cell_gives_way_and_ids_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    name = "an-id-that-is-rather-long-1f2e3d"
    output.table(["id", "title"], [[name, "word " * 30]], cut="title")
    lines = terminal.getvalue().splitlines()
    assert len(lines) == 3 and name in lines[-1] and "…" in lines[-1] and len(lines[-1]) <= 60
    terminal.truncate(0)
    output.table(["id", "date", "title"], [[name, "2025-01-01", "word " * 30]], cut="title", spare=["date"])
    assert name in terminal.getvalue() and "2025" in terminal.getvalue()
    monkeypatch.setenv("COLUMNS", "50")
    terminal.truncate(0)
    output.table(["id", "date", "title"], [[name, "2025-01-01", "word " * 30]], cut="title", spare=["date"])
    assert name in terminal.getvalue() and "2025" not in terminal.getvalue()
    monkeypatch.setenv("COLUMNS", "40")
    output.table(["id", "title"], [[name + name, "word " * 30]], cut="title")
    assert name + name in terminal.getvalue()


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_table_fits_and_a_shortened_id_still_names_one_note(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    names = ["one-" * 15 + "a", "two-" * 9 + "x" * 30, "short"]
    needed = {names[0]: 3, names[1]: 20, names[2]: 1}
    rows = [[name, "2025-01-01", "word " * 30, "project:github.com/owner/name"] for name in names]
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    output.table(["id", "date", "title", "realm"], rows, cut="title", spare=["realm"], least=lambda wanted: needed)
    lines = [line for line in terminal.getvalue().splitlines() if "2025-01-01" in line]
    assert len(lines) == 3 and max(map(len, bare(terminal).splitlines())) <= columns
    for name, line in zip(names, lines, strict=True):
        shown = line.split()[0]
        assert name.startswith(shown.rstrip("…")) and len(shown.rstrip("…")) >= needed[name]
    assert lines[2].startswith("short ")


def test_a_table_in_a_pipe_shortens_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    row = ["one-" * 30, "project:" + "x" * 60, "word " * 30 + "end"]
    output.table(["id", "realm", "title"], [row], cut="title", spare=["realm"], least=lambda wanted: {})
    assert capsys.readouterr().out.splitlines()[1] == "  ".join(row)


def test_headings_and_folded_cells_fit_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    output.table(["lane", "tag", "state", "limit", "floor", "what"], [["correction", "c", "on", 1, 2, "word " * 30]])
    assert max(map(len, bare(terminal).splitlines())) <= 80


def test_what_is_told_is_wrapped_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "chitta: " + "word " * 40 + "end"
    output.tell(text)
    assert capsys.readouterr().err == f"{text}\n"
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    output.tell(text)
    lines = screen.getvalue().splitlines()
    assert " ".join(lines) == text and max(map(len, lines)) <= 60


def test_pieces_keep_their_margin_before_a_word_that_is_too_long() -> None:
    assert output.pieces_of("   " + "x" * 30 + " end", 20) == ["   " + "x" * 30, "   end"]


def test_columns_that_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    output.table(["name", "value"], [["A_NAME_OF_TWENTY_FOUR_X", "/path" * 20]], whole=["name"])
    lines = terminal.getvalue().splitlines()
    assert "A_NAME_OF_TWENTY_FOUR_X" in lines[2] and max(map(len, lines[2:])) <= 60


def test_text_is_wrapped_on_a_terminal_and_left_alone_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "head\n  " + "word " * 40 + "end"
    output.wrapped(text)
    assert capsys.readouterr().out == f"{text}\n"
    terminal = look_at_it(monkeypatch)
    monkeypatch.setenv("COLUMNS", "50")
    output.wrapped(text)
    lines = terminal.getvalue().splitlines()
    assert lines[0] == "head" and all(line.startswith("  word") or line == "  end" for line in lines[1:])
    assert max(map(len, lines)) <= 50


def test_json_holds_no_character_that_steers_a_terminal(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    value = {"text": "a\x9b31m\x7f\u202eb \u00e9"}
    output.as_json(value)
    out = capfdbinary.readouterr().out.decode()
    assert json.loads(out) == value and "\u00e9" in out
    assert not any(char in out for char in "\x9b\x7f\u202e")


@pytest.mark.parametrize(
    "unseen", ["\u200b", "\ufeff", "\U000e0041", "\xad", "\u2060", "\u202e", "\u200e", "\ufdd0", "\x9b", "\r"]
)
def test_harmless_text_has_nothing_that_nobody_sees(unseen: str) -> None:
    assert output.harmless(f"a{unseen}b\u00e9{unseen}") == "ab\u00e9"


def test_what_joins_letters_stays_behind_one_and_icons_stay() -> None:
    assert output.harmless("می\u200cخواهم \ue0b0 ❤\ufe0f") == "می\u200cخواهم \ue0b0 ❤\ufe0f"
    assert output.harmless("a\u200db\u200c \u0430\u200d\u200d") == "ab \u0430\u200d"


def test_what_is_said_or_told_is_harmless_whoever_says_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output.say("a\x1b[31mb\x1b]0;t\x07c\u200b")
    output.tell("d\x1b[31me\u202e")
    assert capsys.readouterr() == ("a[31mb]0;tc\n", "d[31me\n")
    screen = look_at_it(monkeypatch)
    output.say(f"{output.paint('a', 'dim')}\x1b[8mb\x1b[2Jc", "bold")
    assert screen.getvalue() == "\x1b[1m\x1b[2ma\x1b[0m[8mb[2Jc\x1b[0m\n"
