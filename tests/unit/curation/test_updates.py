"""Notes that were revised: recall answers with the last version, and for the time before it with the first.

Pairs of versions are read from the file that ``CHITTA_TEST_REVISIONS`` names; else the sample below stands in.
"""

from __future__ import annotations

import json
import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chitta.admission import calibration
from chitta.curation.supersede import supersede
from chitta.gateway.answer import answer
from chitta.gateway.engine import Engine
from chitta.gateway.question import Question
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.frontmatter import heading
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.validity import parse_moment
from chitta.settings import Settings, load

NOW = datetime(2026, 6, 1, tzinfo=timezone.utc)
#: A revision within minutes, one after years, and one that changes what is true.
SAMPLE: list[dict[str, Any]] = [
    {
        "id": "ack-bar",
        "first_date": "2017-03-21T19:43:39-05:00",
        "last_date": "2017-03-21T21:28:16-05:00",
        "first_text": "# Pictures from ack\n\nThere is a surprise in `ack`: try `ack --bar`.\n",
        "last_text": "# Pictures from ack\n\nThe `ack` tool holds a surprise; `ack --bar` shows it.\n",
    },
    {
        "id": "console-table",
        "first_date": "2016-03-17",
        "last_date": "2021-02-01",
        "first_text": "# Print tables in the console\n\nGive `console.table()` an array of objects.\n",
        "last_text": "# Print tables in the console\n\n`console.table()` takes objects or arrays of arrays.\n",
    },
    {
        "id": "deploy-window",
        "first_date": "2024-05-01T10:00:00Z",
        "last_date": "2024-09-01T10:00:00Z",
        "first_text": "# When we deploy the shop\n\nThe shop is deployed on Fridays.\n",
        "last_text": "# When we deploy the shop\n\nThe shop is deployed on Tuesdays, never on Fridays.\n",
    },
]


class Pair(NamedTuple):
    id: str
    title: str
    first: Note
    last: Note


def pairs() -> list[Pair]:
    place = os.environ.get("CHITTA_TEST_REVISIONS", "")
    rows = [json.loads(line) for line in Path(place).read_text().splitlines()] if place else SAMPLE
    found = []
    for row in rows:
        first = Note(f"{row['id']}-1", text=row["first_text"], created=row["first_date"])
        last = Note(f"{row['id']}-2", text=row["last_text"], created=row["last_date"])
        title = heading(first.text)
        found.append(Pair(row["id"], title, first._replace(title=title), last._replace(title=heading(last.text))))
    return found


@pytest.fixture
def settings() -> Settings:
    return load()


def returned(settings: Settings, question: Question) -> list[str]:
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    try:
        return [
            row.id for row in answer(Engine(settings, snapshot, None, None, calibration.load(settings)), question).rows
        ]
    finally:
        snapshot.close()


@pytest.mark.parametrize("one_id", [False, True], ids=["as another note", "as a new version of the same note"])
def test_the_last_version_answers_and_the_first_one_for_its_time(settings: Settings, one_id: bool) -> None:
    store = NoteStore(settings.notes_dir)
    known = []
    for pair in pairs():
        store.write(pair.first)
        last = pair.last._replace(id=pair.first.id) if one_id else pair.last
        older, newer = supersede(store, pair.first, last, last.created)
        assert len({older.id, newer.id}) == 2
        known.append((pair, older, newer))
    sync(settings, None)
    for pair, older, newer in known:
        question = Question(pair.title, "keyword", limit=20)
        now = returned(settings, question)
        assert newer.id in now and older.id not in now, pair.id
        moment = parse_moment(pair.first.created, NOW, "at") + timedelta(minutes=1)
        then = returned(settings, question._replace(known_as_of=moment))
        assert older.id in then and newer.id not in then, pair.id
        later = returned(settings, question._replace(known_as_of=datetime(2030, 1, 1)))
        assert newer.id in later and older.id not in later, pair.id
