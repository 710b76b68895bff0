from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chitta import settings as table
from chitta.cli import recall_state
from chitta.cli.asking import Answer
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.wire.rows import Row

Run = Callable[..., Any]
TEXT = "Kafka keeps its offsets in the broker"


def keep(*notes: Note) -> None:
    for note in notes:
        NoteStore(table.load().notes_dir).write(note)


def row(name: str, conf: float) -> Row:
    return Row(name, conf, conf=conf, cos=0.8, bm25=3.0, shared=("kafka",))


def test_what_waits_says_so_and_stands_below_what_a_person_kept(chitta: Run) -> None:
    keep(
        Note("waits", text=TEXT, authority="captured"), Note("own", text=TEXT), Note("held", text=TEXT, quarantine=True)
    )
    chitta("list")
    rows = [row("waits", 0.99), row("held", 0.98), row("own", 0.9), row("weak", 0.0)]
    answer = recall_state.marked(table.load(), Answer(rows))
    assert [one.id for one in answer.rows] == ["own", "waits", "held", "weak"]
    assert [recall_state.words_of(answer, one) for one in answer.rows] == [
        "", "waits for review", "in quarantine", "",
    ]  # fmt: skip
    listed = recall_state.marked(table.load(), Answer(rows, note="answered from the newest notes"))
    assert listed.rows == rows, "the newest are in the order of their dates"


def test_every_way_of_showing_rows_says_it(chitta: Run) -> None:
    keep(Note("waits", title="Kafka offsets", text=TEXT, authority="captured", created="2025-01-01"))
    asked = ("recall", "where does kafka keep its offsets", "--strategy", "keyword")
    for words in ((), ("--depth", "0"), ("--stage", "index"), ("--stage", "hydrate")):
        assert "waits for review" in chitta(*asked, *words).out
    assert chitta(*asked, "--json").value["rows"][0]["state"] == "waiting"
