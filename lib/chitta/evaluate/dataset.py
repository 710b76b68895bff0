"""Retrieval data sets: a folder with documents, queries, and which document answers which query.

``corpus*.jsonl`` (or ``notes.jsonl``) holds ``{id, text, …}``, ``queries*.jsonl`` holds
``{id, text | question | prompt | query, …}``, ``qrels*.tsv`` a header and then
``query-id corpus-id score`` by tabs. Queries and judgements of one name belong together:
``queries_test.jsonl`` with ``qrels_test.tsv`` is the split ``test``. Documents that name a
``conversation`` are searched only by the queries that name the same one.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chitta.notes.ids import valid_id
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL, valid_realm

QUERY_KEYS = ("text", "question", "prompt", "query")
#: A split whose queries are mostly their documents' own titles is known-item search: titles are then left out.
TITLE_SHARE = 0.5
MAX_GRADE = 1_000

_HEADING = re.compile(r"\s*#{1,6}\s+([^\n]*)\n*")


class BadDataset(ValueError):
    """A folder that is no data set; the sentence says what is missing."""


class Query(NamedTuple):
    """One query and the realm in which it is asked; None asks all."""

    id: str
    text: str
    realm: str | None


class Dataset(NamedTuple):
    """``notes`` is empty where the folder has no documents: then the judged ids are of a person's own notes.

    ``judgements`` are grades above 0 by document id by query id. ``unjudged`` queries were left out.
    """

    name: str
    notes: tuple[Note, ...]
    queries: tuple[Query, ...]
    judgements: dict[str, dict[str, int]]
    unjudged: int = 0
    titles_left_out: bool = False


def read_dataset(place: str) -> Dataset:
    """Read ``FOLDER`` or ``FOLDER:SPLIT``. Raises :class:`BadDataset` and ``OSError``."""
    folder, asked = _place(place)
    splits = splits_of(folder)
    split = _chosen(folder, splits, asked)
    queries_file, judgements_file = splits[split]
    judgements = _judgements(judgements_file)
    rows = list(read_lines(queries_file))
    for row in rows:
        _text(row, queries_file)
        if not str(row.get("id", "")).strip():
            raise BadDataset(f"{queries_file} has a query without an id: {str(row)[:80]}")
    documents = _corpus(folder)
    asked_rows = [row for row in rows if str(row.get("id")) in judgements]
    if not asked_rows:
        raise BadDataset(f"{queries_file} and {judgements_file} have no query in common")
    titles = {str(row["id"]): one_line(str(row.get("title") or "")) for row in documents}
    known_item = _asks_for_titles(asked_rows, judgements, titles, queries_file)
    apart = any(row.get("conversation") for row in documents)
    return Dataset(
        name="-".join(filter(None, (folder.name, split))),
        notes=tuple(_note(row, known_item) for row in documents),
        queries=tuple(
            Query(str(row["id"]), _text(row, queries_file), _realm(row) if apart else None) for row in asked_rows
        ),
        judgements={str(row["id"]): judgements[str(row["id"])] for row in asked_rows},
        unjudged=len(rows) - len(asked_rows),
        titles_left_out=known_item,
    )


def splits_of(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Each split's queries and judgements by its name, "" for the one without a name."""
    found = {}
    for queries in sorted(folder.glob("*queries*.jsonl")):
        judged = queries.with_name(queries.stem.replace("queries", "qrels") + ".tsv")
        if judged.is_file():
            found[queries.stem.replace("queries", "").strip("_")] = (queries, judged)
    return found


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file. Raises :class:`BadDataset` with the line that is none."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.removeprefix(codecs.BOM_UTF8).strip()
            if not text:
                continue
            try:
                row = json.loads(text)
            except json.JSONDecodeError as problem:
                raise BadDataset(f"{path}:{number} is not JSON: {problem.msg}") from None
            except (ValueError, RecursionError):
                raise BadDataset(f"{path}:{number} is not JSON in UTF-8") from None
            if not isinstance(row, dict):
                raise BadDataset(f"{path}:{number} is not a JSON object")
            yield row


def _place(place: str) -> tuple[Path, str]:
    if Path(place).is_dir():
        return Path(place).resolve(), ""
    folder, colon, split = place.rpartition(":")
    if colon and Path(folder).is_dir():
        return Path(folder).resolve(), split
    raise BadDataset(f"{place} is no folder")


def _chosen(folder: Path, splits: Mapping[str, object], asked: str) -> str:
    if not splits:
        raise BadDataset(f"{folder} has no queries*.jsonl with a qrels*.tsv of the same name")
    if asked:
        if asked not in splits:
            raise BadDataset(f"{folder} has no split {asked!r}; it has {', '.join(map(repr, splits))}")
        return asked
    if len(splits) > 1 and "test" not in splits:
        raise BadDataset(f"{folder} has the splits {', '.join(splits)}: say which, as {folder}:{next(iter(splits))}")
    return "test" if len(splits) > 1 else next(iter(splits))


def _corpus(folder: Path) -> list[dict[str, Any]]:
    """The rows of the folder's documents; none where it has no file of them."""
    files = sorted(folder.glob("*corpus*.jsonl")) or sorted(folder.glob("notes.jsonl"))
    rows = [row for file in files for row in read_lines(file)]
    seen: set[str] = set()
    for row in rows:
        name = str(row.get("id", ""))
        if not valid_id(name) or not isinstance(row.get("text"), str):
            raise BadDataset(f"{folder} has a document without an id or a text: {str(row)[:80]}")
        if name in seen:
            raise BadDataset(f"{folder} has two documents with the id {name}")
        if not valid_realm(_realm(row)):
            raise BadDataset(f"{folder}: no conversation can have the name {row['conversation']!r}")
        seen.add(name)
    if files and not rows:
        raise BadDataset(f"{files[0]} holds no documents")
    return rows


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """Grades above 0 by document by query. A first line whose score is no number is the heading."""
    found: dict[str, dict[str, int]] = {}
    with open(path, encoding="utf-8-sig", newline="") as file:
        try:
            for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=1):
                if not row or (number == 1 and not row[-1].strip().lstrip("-").isdigit()):
                    continue
                query, document, grade = _judgement(row, f"{path}:{number}")
                if grade > 0:
                    found.setdefault(query, {})[document] = grade
        except (UnicodeDecodeError, csv.Error) as problem:
            raise BadDataset(f"{path} cannot be read: {problem}") from None
    if not found:
        raise BadDataset(f"{path} has no score above 0")
    return found


def _judgement(row: Sequence[str], place: str) -> tuple[str, str, int]:
    try:
        query, document, grade = row[0], row[1], int(row[2])
    except (IndexError, ValueError):
        raise BadDataset(f"{place} is not `query-id corpus-id score` by tabs") from None
    if grade > MAX_GRADE:
        raise BadDataset(f"{place} has a score above {MAX_GRADE}")
    return query, document, grade


def _asks_for_titles(
    rows: Sequence[dict[str, Any]], judgements: Mapping[str, Mapping[str, int]], titles: Mapping[str, str], file: Path
) -> bool:
    """Whether most queries are the title of a document that is judged right for them."""
    same = sum(
        any(titles.get(name, "") == one_line(_text(row, file)) for name in judgements[str(row["id"])]) for row in rows
    )
    return same > TITLE_SHARE * len(rows)


def _text(row: Mapping[str, Any], file: Path) -> str:
    for key in QUERY_KEYS:
        if isinstance(row.get(key), str) and row[key].strip():
            return str(row[key])
    raise BadDataset(f"{file}: a query without {', '.join(QUERY_KEYS)}: {str(dict(row))[:80]}")


def _note(row: Mapping[str, Any], without_title: bool) -> Note:
    text = str(row["text"])
    title = one_line(str(row.get("title") or ""))
    if without_title:
        heading = _HEADING.match(text)
        if heading and one_line(heading[1]) == title:
            text = text[heading.end() :]
        title = ""
    created = str(row.get("created") or row.get("date") or "")
    return Note(id=str(row["id"]), realm=_realm(row), title=title, text=text, created=created)


def _realm(row: Mapping[str, Any]) -> str:
    """Conversations are realms of their own, as projects are."""
    conversation = row.get("conversation")
    return f"conversation:{conversation}" if conversation else GLOBAL
