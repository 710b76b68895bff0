"""Golden sets of prompts: what should be shown for them, and what must be met with silence.

A folder with any of ``answerable.jsonl`` {id, prompt, gold: {note: grade}, maybe: [note], kind},
``unanswerable.jsonl`` {id, prompt, kind}, ``twoturn.jsonl`` {id, turns: [first, second], gold, maybe} and
``corrections.jsonl`` {id, note: {id, text, trigger, right_way}, fire: {id, prompt}, quiet: {id, prompt}};
``off_domain.jsonl``, or ``queries_off_domain.jsonl`` beside the notes, holds {id, query | prompt}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chitta.admission.tokens import clean_prompt
from chitta.evaluate.dataset import QUERY_KEYS, BadDataset, Dataset, Query, read_dataset, read_lines
from chitta.importing.plain import read_path
from chitta.notes.ids import valid_id
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL
from chitta.turn import focus

#: What a case asks for.
ANSWERABLE, UNANSWERABLE, OFF_DOMAIN, TWO_TURN = "answerable", "unanswerable", "off-domain", "two-turn"
FIRE, QUIET = "fire", "quiet"


class Case(NamedTuple):
    """One prompt, or the turns of one session in order, and what the last should bring.

    ``gold`` are the notes that help, ``maybe`` those that count neither way.
    """

    id: str
    part: str
    kind: str
    turns: tuple[str, ...]
    gold: frozenset[str] = frozenset()
    maybe: frozenset[str] = frozenset()


class Golden(NamedTuple):
    """A whole set. ``corrections`` are notes that only the fire and quiet cases need in the store.

    ``realm`` is where the prompts are typed.
    """

    name: str
    cases: tuple[Case, ...]
    corrections: tuple[Note, ...] = ()
    realm: str = GLOBAL

    def of(self, *parts: str) -> tuple[Case, ...]:
        """The cases of these parts, in the order of the files."""
        return tuple(case for case in self.cases if case.part in parts)


def read_golden(folder: Path, notes: Path | None = None) -> Golden:
    """Read a folder; ``notes`` is the file that may have the off-domain set beside it.

    Raises :class:`BadDataset` for a folder without a single case, and ``OSError``.
    """
    cases: list[Case] = []
    for part in (ANSWERABLE, UNANSWERABLE):
        for place, row in _rows(folder / f"{part}.jsonl"):
            case = _case(place, row, part, (_prompt(place, row),))
            if part == ANSWERABLE and not case.gold:
                raise BadDataset(f"{place}: an answerable prompt has gold notes")
            cases.append(case)
    for place, row in _rows(folder / "twoturn.jsonl"):
        turns = row.get("turns")
        if not isinstance(turns, list) or len(turns) < 2 or not all(isinstance(turn, str) for turn in turns):
            raise BadDataset(f"{place}: `turns` is a list of two prompts or more")
        cases.append(_case(place, row, TWO_TURN, tuple(turns)))
    off_domain = [folder / "off_domain.jsonl", *([notes.parent / "queries_off_domain.jsonl"] if notes else [])]
    for path in off_domain:
        for place, row in _rows(path):
            cases.append(_case(place, {**row, "kind": row.get("origin", "")}, OFF_DOMAIN, (_prompt(place, row),)))
    corrections = []
    for place, row in _rows(folder / "corrections.jsonl"):
        note = _correction(place, _object(place, row, "note"))
        corrections.append(note)
        for part in (FIRE, QUIET):
            fields = _object(place, row, part)
            cases.append(_case(place, {**fields, "gold": [note.id]}, part, (_prompt(place, fields),)))
    if not cases:
        raise BadDataset(f"{folder} has none of answerable, unanswerable, twoturn and corrections .jsonl")
    return Golden(folder.resolve().name, tuple(cases), tuple(corrections))


def expected_ids(golden: Golden) -> list[str]:
    """The gold and maybe notes that the store must hold; the set brings its corrections along."""
    own = {note.id for note in golden.corrections}
    return sorted({name for case in golden.cases for name in (*case.gold, *case.maybe)} - own)


def notes_for(folder: Path, given: Path | None = None) -> Path | None:
    """The notes of a golden set: those given, else notes.jsonl or notes/ in the folder, else of one folder beside it.

    Raises :class:`BadDataset` where several folders beside it have notes.
    """
    if given is not None:
        if not given.exists():
            raise BadDataset(f"{given} is not there")
        return given
    folder = folder.resolve()
    for name in ("notes.jsonl", "notes"):
        if (folder / name).exists():
            return folder / name
    beside = sorted(folder.parent.glob("*/notes.jsonl"))
    if len(beside) > 1:
        raise BadDataset(f"several folders beside {folder} have notes: say which with --notes")
    return beside[0] if beside else None


def dataset_at(place: str) -> Dataset:
    """A data set, or the answerable prompts of a golden set with their gold, as the hook would search for them.

    Raises :class:`BadDataset` and ``OSError``.
    """
    folder = Path(place)
    if not (folder / "answerable.jsonl").is_file():
        return read_dataset(place)
    notes = notes_for(folder)
    if notes is None:
        raise BadDataset(f"{folder} says nothing of its notes")
    cases = [case for case in read_golden(folder, notes).of(ANSWERABLE) if case.gold]
    queries = tuple(Query(case.id, focus(clean_prompt(case.turns[-1])), GLOBAL) for case in cases)
    judgements = {case.id: dict.fromkeys(sorted(case.gold), 1) for case in cases}
    return Dataset(folder.resolve().name, tuple(read_notes(notes)), queries, judgements)


def read_notes(path: Path) -> list[Note]:
    """Every note of a Markdown folder or JSONL file, as `chitta import` reads it, in the realm for all."""
    notes = []
    for item in read_path(path, realm=GLOBAL):
        if item.note is None:
            raise BadDataset(f"{item.source} {item.problem}")
        notes.append(item.note._replace(realm=GLOBAL))
    return notes


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object with its place, for complaints; nothing where there is no such file."""
    if path.is_file():
        yield from ((f"{path}, object {number}", row) for number, row in enumerate(read_lines(path), start=1))


def _object(place: str, row: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = row.get(key)
    if not isinstance(value, dict):
        raise BadDataset(f"{place}: `{key}` is an object")
    return value


def _prompt(place: str, row: Mapping[str, Any]) -> str:
    for key in QUERY_KEYS:
        if isinstance(row.get(key), str) and row[key].strip():
            return str(row[key])
    raise BadDataset(f"{place} has no prompt")


def _case(place: str, row: Mapping[str, Any], part: str, turns: tuple[str, ...]) -> Case:
    kind = row.get("kind") or ""
    if not isinstance(kind, str):
        raise BadDataset(f"{place}: `kind` is a word")
    return Case(
        id=str(row.get("id", "")),
        part=part,
        kind=kind,
        turns=turns,
        gold=_names(place, row, "gold"),
        maybe=_names(place, row, "maybe"),
    )


def _names(place: str, row: Mapping[str, Any], key: str) -> frozenset[str]:
    """Ids from an object of grades, of which those above 0 count, or from a list."""
    value = row.get(key) or []
    if isinstance(value, dict):
        if not all(isinstance(grade, (int, float)) for grade in value.values()):
            raise BadDataset(f"{place}: `{key}` has a grade that is no number")
        value = [name for name, grade in value.items() if grade > 0]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadDataset(f"{place}: `{key}` is an object of ids and grades, or a list of ids")
    return frozenset(value)


def _correction(place: str, fields: Mapping[str, Any]) -> Note:
    name, text, trigger, right = (str(fields.get(key) or "") for key in ("id", "text", "trigger", "right_way"))
    if not valid_id(name) or not text.strip() or not trigger.strip():
        raise BadDataset(f"{place}: the note of a correction has `id`, `text`, `trigger` and `right_way`")
    return Note(
        id=name,
        kind="correction",
        realm=GLOBAL,
        title=one_line(text, 80),
        text=text,
        triggers=(trigger,),
        wrong=trigger,
        right=right,
    )
