from __future__ import annotations

import pytest

from chitta.cli import recall_rows
from chitta.cli.asking import LISTED, Answer
from chitta.wire.rows import Row

ROW = Row(
    "a",
    0.5,
    title="Title",
    text="Title\n\nfirst\nsecond\nthird\nfourth",
    conf=0.9,
    cos=0.9,
    created="2026-01-02T03:04:05Z",
)


def printed(answer: Answer, depth: int, *, explain: bool = False) -> str:
    items = recall_rows.items(answer, answer.rows, answer.beyond, "hybrid", depth, explain=explain)
    return "".join(part for item in items for part in (item.head, item.text, *item.context)).removeprefix("\n")


def test_a_line_each() -> None:
    answer = Answer([ROW], beyond=(ROW._replace(id="b", conf=-1.0),))
    assert printed(answer, 0).splitlines() == [
        "a  supported  0.90  2026-01-02  Title",
        "",
        "From other projects:",
        "b  none       -     2026-01-02  Title",
    ]


def test_the_newest_show_their_date_and_no_evidence() -> None:
    answer = Answer([ROW._replace(conf=0.0, cos=-1.0)], note=f"{LISTED}newest memories")
    assert printed(answer, 0) == "a  2026-01-02  Title"
    assert "one of the newest · 2026-01-02" in printed(answer, 1) and "conf" not in printed(answer, 1)


def test_the_beginning_or_the_whole_text() -> None:
    assert printed(Answer([ROW]), 1).splitlines()[3:] == ["   first second third fourth"]
    whole = printed(Answer([ROW]), 2)
    assert whole.endswith("\n\n   first\n   second\n   third\n   fourth")


def test_what_replaced_a_note_and_what_says_the_same_is_told() -> None:
    reasons = {
        "a": {"replaced": {"winner": "b", "loser": "a", "why": "replaced by B, 2026-01-01"}, "doubles": ["x", "y"]}
    }
    lines = printed(Answer([ROW], reasons=reasons), 1).splitlines()
    assert "   replaced by B, 2026-01-01" in lines and "   2 more say the same" in lines
    one = printed(Answer([ROW._replace(superseded_by="b")], reasons={"a": {"doubles": ["x"]}}), 1).splitlines()
    assert "   replaced by b" in one and "   1 more says the same" in one


def test_what_is_around_a_note_is_a_line_each() -> None:
    brief = {"id": "n", "title": "N", "kind": "insight", "created": "2026-05-01"}
    related = {**brief, "created": "", "because": ["tag:auth", "file:a.py"]}
    around = {"session": [brief], "replaced_by": {**brief, "id": "newer"}, "related": [related]}
    assert recall_rows.around_lines(around, "book", " ") == [
        " source: book",
        " replaced by: N · newer · 2026-05-01",
        " same session: N · n · 2026-05-01",
        " related: N · n · both: auth, a.py",
    ]
    assert recall_rows.around_lines({}, "", "") == []


def test_on_a_terminal_a_neighbour_takes_two_lines_rather_than_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    around = {"related": [{"id": "i" * 40, "title": "word " * 20, "created": "2026-01-01"}]}
    lines = recall_rows.around_lines(around, "", "   ")
    assert len(lines) == 2 and "i" * 40 in lines[1] and max(map(len, lines)) <= 60
