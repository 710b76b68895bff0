"""Readers of what other programs wrote: a note that a file can hold, or a sentence; never a fault."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from tests.fuzz.kind import Target, choice, must, text_of
from tests.fuzz.places import samples, scratch, written

from chitta.importing import (
    claude_mem,
    decisions,
    instructions,
    json_stream,
    jsonl,
    markdown,
    mem0,
    reflect,
    sqlite_rows,
    superlocalmemory,
    vault,
)
from chitta.importing.imported import Imported
from chitta.importing.sections import blocks, prose, sections
from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.ids import valid_id

_Reader = Callable[..., Iterable[Imported]]


def _read(reader: _Reader, path: Path) -> None:
    found = list(reader(path, realm="project:x-00000000"))
    for one in found:
        must((one.note is None) != (not one.problem), "neither a note nor a problem", one)
        if one.note is not None:
            must(valid_id(one.note.id), "an id that is none", one.note.id)
            written_note = format_note(one.note)
            again = parse_note(written_note, fallback_id="x", fallback_realm="global")
            must(
                again.id == one.note.id and again.realm == one.note.realm,
                "a note that its file does not hold",
                one.note,
            )
            must(format_note(again) == written_note, "a note written again is another", one.note)
    again_found = list(reader(path, realm="project:x-00000000"))
    must([one.note for one in again_found] == [one.note for one in found], "read again it is another", path.name)


def markdown_files(data: bytes) -> None:
    which, data = choice(data, 6)
    name, reader = (
        ("CLAUDE.md", instructions.read),
        ("rule.mdc", instructions.read),
        ("learning.md", reflect.read),
        ("note.md", vault.read),
        ("plain.md", markdown.read),
        ("0001-use-tabs.md", decisions.read),
    )[which]
    _read(reader, written(name, data))


def json_lines(data: bytes) -> None:
    _read(jsonl.read, written("notes.jsonl", data))


def markdown_sections(data: bytes) -> None:
    text = text_of(data).replace("\r\n", "\n")
    cut = sections(text)
    lines = {line.strip() for section in cut for line in section.text.split("\n") if line.strip()}
    headings = [heading for section in cut for heading in section.headings]
    for line in text.split("\n"):
        bare = line.strip(" \t#=-")
        must(
            not bare.strip() or line.strip() in lines or any(_bare(h) in _bare(line) for h in headings),
            "a line is lost",
            line,
        )
    for section in cut:
        parts = blocks(section)
        must("\n".join(part.raw for part in parts) == section.text, "blocks that are not their section", section.text)
        must(len(prose(section.text)) <= len(section.text), "prose longer than its text")


def _bare(text: str) -> str:
    return text.strip(" \t#")


def json_documents(data: bytes) -> None:
    """What the stream gives is what the standard library reads."""
    try:
        found = list(json_stream.items(io.BytesIO(data), ("results", "memories")))
    except json_stream.BrokenJson:
        found = None
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return
    if isinstance(value, list) and value:
        must(found is not None and len(found) == len(value), "items of a list are lost", found)
        values = [json.loads(item.data) for item in found or () if item.data is not None]
        must(repr(values) == repr(value), "items of a list are others", found)


def mem0_files(data: bytes) -> None:
    which, data = choice(data, 6)
    name = ("a.json", "a.jsonl", "a.jsonl.gz", "a.zip", "b.jsonl.gz", "b.zip")[which]
    if name == "b.jsonl.gz":  # well packed, so that what is inside is reached
        data = gzip.compress(data, mtime=0)
    if name == "b.zip":
        data = _zipped(data)
    path = written(name, data)
    mem0.detect(path)
    _read(mem0.read, path)


def _zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("memories.json"), data)
        archive.writestr(zipfile.ZipInfo("memories.jsonl"), data)
    return packed.getvalue()


def databases(data: bytes) -> None:
    path = written("a.db", data)
    sqlite_rows.has_table(path, {"observations": {"id"}})
    try:
        with sqlite_rows.opened(path) as database:
            for table in database.tables:
                for row in database.rows(table, table.columns):
                    must(
                        all(isinstance(value, str | int | float | None) for value in row.values()), "an odd value", row
                    )
    except sqlite_rows.Unreadable as problem:
        must(str(problem), "no reason")
    _read(superlocalmemory.read, path)
    _read(claude_mem.read, path)
    left = {one.name for one in scratch("files").iterdir()} & {"a.db-wal", "a.db-shm", "a.db-journal"}
    must(not left, "files left beside a database", left)


@cache
def _database(schema: str, rows: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "seed.db")
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA page_size = 512")
        connection.executescript(f"{schema}; {rows};")
        connection.commit()
        connection.close()
        return path.read_bytes()


def _databases() -> list[bytes]:
    observations = (
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT, "
        "title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, created_at TEXT, created_at_epoch INTEGER)"
    )
    one = (
        "INSERT INTO observations VALUES (1,'s','p','t','bugfix','A title','sub','[\"f\"]','story','[]','2026-01-01',1)"
    )
    facts = "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, category TEXT, project_name TEXT, created_at TEXT)"
    two = "INSERT INTO memories VALUES (1,'use tabs','pattern','p','2026-01-01'), (2, x'00ff', NULL, 3, 4.5)"
    view = "CREATE VIEW v AS SELECT * FROM memories; CREATE TABLE w (a TEXT, b TEXT, PRIMARY KEY (a)) WITHOUT ROWID"
    return [_database(observations, one), _database(facts, two), _database(f"{facts}; {view}", two)]


_MEMORY = b'{"id":"m1","memory":"User prefers tabs","user_id":"u","created_at":"2026-01-01","categories":["style"],"score":0.5}'
_RULES = b"""---
description: How we work
globs: "**/*.py"
---
# Rules

Intro: see @docs/more.md

- Use pnpm, not npm
- Never push to main
- Prefer tabs over spaces
- Always run `make lint`
  - nested

Setext
------

1. step one
2. step two

```sh
# no heading
```
<!-- # hidden -->
"""
_LEARNING = b"""---
id: l-1
learning_type: correction
title: Use tabs
confidence_num: 0.9
key_insight: Tabs are refused less
root_cause: spaces
created: 2026-01-02
forget_after: 30d
causal_relations:
  - {source: a, relation: causes, target: b}
tags: [style]
---
Body with [[link]] #tag and status:: accepted
"""
_DECISION = b"# 1. Use tabs\n\nDate: 2026-01-02\n\n## Status\n\nSuperseded by [2](0002-x.md)\n\n## Context\n\nWhy\n\n## Decision\n\nTabs.\n"
_MARKDOWN = (
    b"\n# ",
    b"\n## ",
    b"\n- ",
    b"\n---\n",
    b"```\n",
    b"~~~",
    b"<!--",
    b"-->",
    b"[[",
    b"]]",
    b"@a.md",
    b"\n===\n",
    b"\n1. ",
    b"Use x, not y",
    b"instead of",
    b"\n| a |",
    b"forget_after: ",
    b"globs: ",
    b"tags: ",
    b"%%",
    b"#tag",
    b"key:: value",
    b"> ",
    b"\t",
)

TARGETS = (
    Target(
        "markdown",
        markdown_files,
        lambda: [
            bytes([n]) + x
            for n in range(6)
            for x in (_RULES, _LEARNING, _DECISION, *samples("CONTRIBUTING.md", most_bytes=3000))
        ],
        _MARKDOWN,
    ),
    Target("sections", markdown_sections, lambda: [_RULES, _LEARNING, _DECISION], _MARKDOWN),
    Target(
        "json-lines",
        json_lines,
        lambda: [
            b'{"id":"a","kind":"wisdom","title":"T","text":"x","tags":["a"],"extra":{"b":[1,2.5,null]}}\n{"text":"only"}\n'
        ],
        (
            b'"id":',
            b'"text":',
            b'"realm":"',
            b'"extra":{',
            b"\n",
            b'{"text":"a"}\n',
            b'"confidence":',
            b'"created":"',
            b'"tags":',
        ),
        4_096,
    ),
    Target(
        "json-stream",
        json_documents,
        lambda: [
            b"[" + _MEMORY + b', 1, "a\\"]", [2], null]',
            b'{"a":[1],"results":[' + _MEMORY + b'],"b":{"memories":[1]}}',
        ],
        (b"[", b"]", b"{", b"}", b",", b'"', b'\\"', b"\\\\", b'"results":[', b'"memories":', b":", b"1 ", b" "),
    ),
    Target(
        "mem0",
        mem0_files,
        lambda: [
            *(bytes([n]) + b"[" + _MEMORY + b"]" for n in (0, 5)),
            *(bytes([n]) + b'{"results":[' + _MEMORY + b"]}" for n in (0, 5)),
            *(bytes([n]) + _MEMORY + b"\n" + _MEMORY + b"\n" for n in (1, 4)),
            b"\2" + gzip.compress(_MEMORY + b"\n", mtime=0),
            b"\3" + _zipped(_MEMORY + b"\n"),
        ],
        (
            b'"memory":',
            b'"metadata":{',
            b'"state":"deleted"',
            b'"created_at":1e30',
            b'"tags":',
            b"PK\x05\x06",
            b"PK\x01\x02",
            _MEMORY,
        ),
    ),
    Target("databases", databases, _databases, (b"CREATE TABLE ", b"x" * 50, b"\0" * 8, b"\xff" * 8, b"\x0d", b"\x05")),
)
