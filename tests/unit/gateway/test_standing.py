"""Notes whose files are no longer what the index was made of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chitta.gateway.engine import Engine
from chitta.gateway.readings import Readings
from chitta.wire.rows import Row

from .conftest import SHOP, WordEmbedder
from .test_engine import ask, ids

ASKED = ask("customers charged twice")


def file_of(engine: Engine, name: str = "double-payment") -> Path:
    return next(Path(engine.settings.notes_dir).rglob(f"{name}.md"))


def row_of(engine: Engine, name: str = "double-payment") -> Row | None:
    _, rows = engine.rows("semantic", ASKED, engine.settings)
    return next((row for row in rows if row.id == name), None)


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change a file as its owner does, at another time than the index knows."""
    path.write_text(change(path.read_text()))
    os.utime(path, ns=(1, 1))


def test_what_the_file_says_now_is_shown(engine: Engine) -> None:
    rewrite(
        file_of(engine), lambda said: said.replace("Use an idempotency key.", "Use <private>our own</private> keys.")
    )
    row = row_of(engine)
    assert row is not None and "idempotency" not in row.text and "our own" not in row.text and "keys." in row.text


def test_a_note_taken_into_quarantine_is_told_as_such(engine: Engine) -> None:
    rewrite(file_of(engine), lambda said: said.replace("---\n", "---\nquarantine: true\n", 1))
    row = row_of(engine)
    assert row is not None and row.quarantine


@pytest.mark.parametrize("line", ["realm: project:elsewhere", "id: other"])
def test_a_note_of_another_realm_or_name_is_not_shown_as_the_old_one(engine: Engine, line: str) -> None:
    key = line.split(":")[0]
    path = file_of(engine)
    rewrite(path, lambda said: "\n".join(line if one.startswith(f"{key}:") else one for one in said.split("\n")))
    assert line in path.read_text()
    assert row_of(engine) is None


def test_another_text_of_the_same_size_and_time_is_seen_in_a_file_written_just_before(engine: Engine) -> None:
    path = file_of(engine)
    status = path.stat()
    path.write_text(path.read_text().replace("idempotency", "pencil-case"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    row = row_of(engine)
    assert row is not None and "pencil-case" in row.text


def test_a_file_that_cannot_be_read_any_more_is_not_shown(engine: Engine) -> None:
    path = file_of(engine)
    path.write_bytes(b"x" * (5 << 20))
    assert row_of(engine) is None


def test_a_correction_is_looked_at_as_well(engine: Engine) -> None:
    asked = ask("npm install date-fns")
    (name,) = ids(engine, "correction-key", asked)
    rewrite(file_of(engine, name), lambda said: said.replace("---\n", "---\nquarantine: true\n", 1))
    _, rows = engine.rows("correction-key", asked, engine.settings)
    assert [row.quarantine for row in rows] == [True] and rows[0].realm == SHOP


def test_notes_in_a_folder_that_cannot_be_looked_into_are_not_taken_for_gone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: object, *others: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("chitta.gateway.standing.os.stat", denied)
    assert row_of(engine) is not None


@pytest.fixture
def hurried(engine: Engine) -> Engine:
    """As a lane without a daemon has it."""
    assert engine.snapshot is not None
    readings = Readings(engine.snapshot, reads=False)
    return Engine(engine.settings, engine.snapshot, WordEmbedder(), None, engine.calibration, readings=readings)


def test_in_a_hurry_a_note_that_still_says_the_same_is_shown(hurried: Engine) -> None:
    rewrite(file_of(hurried), lambda said: f"{said}\nAnd one line more.\n")
    row = row_of(hurried)
    assert row is not None and "idempotency" in row.text and "one line more" not in row.text


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.replace("idempotency", "another"),
        lambda said: said.replace("---\n", "---\nquarantine: yes\n", 1),
        lambda said: said.replace("---\n", "---\nsuperseded_by: other\n", 1),
        lambda said: said.replace("---\n", "---\nvalid_until: '2020-01-01'\n", 1),
        lambda said: said.replace(f"realm: {SHOP}", "realm: project:elsewhere"),
        lambda said: said.replace("Use an idempotency key.", "<private>\nUse an idempotency key.\n</private>"),
        lambda said: said.replace("Buyers billed double", "Other words"),
        lambda said: "x" * 5_000_000,
    ],
    ids=["words", "quarantine", "replaced", "expired", "moved", "private", "title", "large"],
)
def test_in_a_hurry_a_note_that_may_not_be_shown_any_more_is_left_out(
    hurried: Engine, change: Callable[[str], str]
) -> None:
    path = file_of(hurried)
    before = path.read_text()
    assert change(before) != before
    rewrite(path, change)
    assert row_of(hurried) is None


def test_in_a_hurry_nothing_is_loaded_that_cleans_notes(hurried: Engine) -> None:
    """Its patterns cost a lane the time that it has."""
    program = """
import sys
from chitta.gateway.inprocess import answer
from chitta.wire.request import Request, encode_request
query = "npm install idempotency key"
request = encode_request(Request(prompt=query, query=query, tokens=("idempotency",), realm=sys.argv[1]))
for lane in ("keyword", "correction-key"):
    code, rows = answer(lane, request, {"CHITTA_HOME": sys.argv[2]})
    assert code == 0 and b'"id"' in rows, rows
assert not {"chitta.safety.cleaning", "chitta.safety.secrets", "yaml"} & sys.modules.keys()
"""
    for path in Path(hurried.settings.notes_dir).rglob("*.md"):
        rewrite(path, lambda said: f"{said}\nAnd one line more.\n")
    done = subprocess.run(
        [sys.executable, "-c", program, SHOP, hurried.settings.home], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
