"""reflect's learnings: ``~/.learnings/documents/*.md`` with front matter, and a sidecar of entities beside some."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from chitta.importing.imported import (
    Imported,
    below,
    checked,
    digest_of,
    is_markdown,
    read_file,
    walk,
    whole_day,
    whole_place,
    with_aliases,
)
from chitta.importing.markdown import front_matter_remark
from chitta.importing.rules import correction_of
from chitta.notes.correction import triggers_for
from chitta.notes.frontmatter import decode, note_from_fields, parts_of
from chitta.notes.ids import make_id, valid_id
from chitta.notes.links import MAX_TRIPLETS
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL, realm_of, valid_realm

TITLE = "reflect"
READS = "~/.learnings/documents: learnings with front matter, and their .entities.yaml"
#: What reflect's types of learning are here; they have the same names.
KINDS = frozenset({"pattern", "correction", "bug-fix", "decision", "anti-pattern"})
#: Fields whose words the note's text has to say, in the order in which it says them where its body does not.
SAID = (
    ("key_insight", ""),
    ("problem", "Problem: "),
    ("symptoms", "Symptoms: "),
    ("root_cause", "Root cause: "),
    ("fix", "Fix: "),
    ("rule", "Rule: "),
)
_TELLING = frozenset(
    "learning_type confidence_num key_insight discovery_tokens root_cause symptoms source_episodes forget_after "
    "causal_relations provenance".split()
)
#: Files looked at to tell whether a folder is reflect's.
_LOOK_AT = 20
_GONE = {
    ".forgotten": "was forgotten in reflect",
    "archived": "is archived in reflect",
    "archive": "is archived in reflect",
}
_DAYS = re.compile(r"(\d{1,5})\s*(d|days?|w|weeks?|m|months?|y|years?)", re.IGNORECASE)
_UNIT = {"d": 1, "w": 7, "m": 30, "y": 365}
_MAX_SIDECAR = 256 * 1024
_LONGEST = 200


def detect(path: Path) -> bool:
    """Whether this is a folder of learnings (or one that has ``documents``), or a learning."""
    if not path.is_dir():
        return is_markdown(path.name) and _is_learning(path)
    if path.name == ".learnings" and (path / "documents").is_dir():
        return True
    if path.name == "documents" and Path(os.path.abspath(path)).parent.name == ".learnings":
        return True
    return any(_is_learning(file) for file in islice(_files(path, []), _LOOK_AT))


def default_paths() -> tuple[Path, ...]:
    """Where reflect keeps its learnings, ``GLOBAL_LEARNINGS_PATH`` included."""
    place = os.environ.get("GLOBAL_LEARNINGS_PATH", "").strip()
    root = Path(place).expanduser() if place else Path.home() / ".learnings"
    return (root / "documents",)


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Each learning as a note; those that were forgotten or archived are passed over.

    A note keeps its id, else its name; without both it is named after its path below the folder.
    """
    if not path.is_dir():
        yield _read_one(path, path.parent, realm, given=True)
        return
    root = path / "documents" if path.name == ".learnings" and (path / "documents").is_dir() else path
    problems: list[Imported] = []
    for file in _files(root, problems):
        gone = next((_GONE[part] for part in file.relative_to(root).parts[:-1] if part in _GONE), "")
        yield Imported(None, str(file), gone) if gone else _read_one(file, root, realm)
    yield from problems


def _files(root: Path, problems: list[Imported]) -> Iterator[Path]:
    return walk(root, problems, keep=is_markdown, hidden=frozenset({".forgotten"}))


def _is_learning(path: Path) -> bool:
    if any(sidecar.is_file() for sidecar in _sidecars(path)):
        return True
    file = read_file(path)
    fields = parts_of(decode(file.data)).fields if not file.problem else {}
    return len(_TELLING & fields.keys()) >= 2 or "key_insight" in fields


def _read_one(path: Path, root: Path, realm: str, *, given: bool = False) -> Imported:
    file = read_file(path, None if given else root)
    if file.problem:
        return Imported(None, str(path), file.problem)
    parts = parts_of(decode(file.data))
    fields = dict(parts.fields)
    remarks = [front_matter_remark(parts.problem)] if parts.problem else []
    if str(fields.get("status", "")).lower() == "archived" or fields.get("archived") is True:
        return Imported(None, str(path), "is archived in reflect")
    name = str(fields.get("name") or "")
    if valid_id(name):
        fields.setdefault("id", name)
        fields.pop("name")
    fields = with_aliases(fields)
    place = _realm(fields, realm, remarks)
    note = note_from_fields(_mapped(fields, remarks), _said(parts.body, fields), fallback_id="", fallback_realm=place)
    where = below(path, root)
    made, own = not note.id, bool(note.source)
    note = note._replace(
        id=note.id or make_id(path.stem, note.realm, salt=f"reflect\0{where}"),
        title=note.title or one_line(path.stem),
        source=note.source or f"reflect {where}",
    )
    sidecar, relations = _sidecar(path, remarks)
    note = _with_relations(_with_triggers(note, fields), relations)
    item = checked(note, str(path), digest_of(file.data, sidecar), remarks=remarks, day=file.day)
    if not made:
        return item
    place = whole_place(path)
    return item._replace(place=place, whole=note.source if own else f"reflect {place}")


def _mapped(fields: Mapping[str, Any], remarks: list[str]) -> dict[str, object]:
    """reflect's keys as a note's; what has been put elsewhere goes, the rest stays as it is."""
    kept: dict[str, object] = {key: value for key, value in fields.items() if key not in ("type", "scope")}
    kind = str(kept.pop("learning_type", "") or "").strip().lower().replace("_", "-")
    if kind:
        kept.setdefault("kind", kind)
        if kind not in KINDS:
            remarks.append(f"learning type {one_line(kind, 40)!r} is none of reflect's")
    number = kept.pop("confidence_num", None)
    if number is not None:
        kept["confidence"] = number
    category = kept.pop("category", None)
    tags = kept.get("tags")
    listed = tags if isinstance(tags, list) else str(tags).strip("[] ").split(",") if tags else []
    kept["tags"] = [str(tag) for tag in ([category] if isinstance(category, str) else []) + listed]
    until = kept.pop("forget_after", None)
    if until and not kept.get("valid_until"):
        kept["valid_until"] = _until(str(until), str(fields.get("created") or ""))
    _from_provenance(kept)
    return kept


def _from_provenance(kept: dict[str, object]) -> None:
    origin = kept.get("provenance")
    if isinstance(origin, dict):
        parts = [str(origin[key]) for key in ("source_tool", "source_path") if origin.get(key)]
        if parts and not kept.get("source"):
            kept["source"] = one_line(f"reflect: {' '.join(parts)}", _LONGEST)
        if origin.get("proof_count") is not None:
            kept.setdefault("proof_count", origin["proof_count"])
    elif isinstance(origin, str) and origin.strip() and not kept.get("source"):
        kept["source"] = one_line(f"reflect: {origin}", _LONGEST)


def _until(value: str, created: str) -> str:
    """The last day of a learning: a date, or so many days, weeks, months or years after it was made."""
    span = _DAYS.fullmatch(value.strip())
    made = whole_day(created)[:10]
    if span is None or len(made) != 10:
        return value
    try:
        days = int(span[1]) * _UNIT[span[2][0].lower()]
        return (datetime.date.fromisoformat(made) + datetime.timedelta(days=days)).isoformat()
    except (ValueError, OverflowError):
        return value


def _realm(fields: dict[str, Any], realm: str, remarks: list[str]) -> str:
    """The realm of the project that a learning names, where that can be told; else ``realm``."""
    if str(fields.get("scope", "")).strip().lower() == GLOBAL:
        return GLOBAL
    for key in ("project_id", "project"):
        named = one_line(str(fields.get(key) or ""), _LONGEST)
        if not named:
            continue
        if named.startswith("project:") and valid_realm(named):
            return named
        if os.path.isabs(named) and os.path.isdir(named):
            return realm_of(named)
        if re.fullmatch(r"[\w-]+(?:\.[\w-]+)+(?:/[\w.-]+){2,}", named) and valid_realm(f"project:{named}"):
            return f"project:{named.removesuffix('.git')}"
        last = realm.rpartition("/")[2].removeprefix("project:")
        if named in (last, re.sub(r"-[0-9a-f]{8}$", "", last)):
            return realm
    if fields.get("project") or fields.get("project_id"):
        shown = one_line(str(fields.get("project") or fields.get("project_id")), 60)
        remarks.append(f"its project {shown!r} is no realm that is known here: taken into {realm}")
    return realm


def _said(body: str, fields: Mapping[str, Any]) -> str:
    """The body, with what the front matter alone says of the learning before it."""
    words = one_line(body).casefold()
    more = []
    for key, label in SAID:
        value = fields.get(key)
        text = "; ".join(str(item) for item in value) if isinstance(value, list) else str(value or "")
        if text.strip() and one_line(text).casefold() not in words:
            more.append(f"{label}{text.strip()}")
    return "\n\n".join([*more, body.strip("\n")]).strip("\n")


def _with_triggers(note: Note, fields: Mapping[str, Any]) -> Note:
    """A correction that says "this, not that" in its rule or insight fires on the wrong form."""
    if note.kind != "correction" or note.triggers:
        return note
    if note.wrong:
        return note._replace(triggers=triggers_for(note.wrong))
    for key in ("rule", "key_insight", "fix", "title"):
        found = correction_of(str(fields.get(key) or ""))
        if found is not None:
            return note._replace(wrong=found.wrong, right=found.right, triggers=triggers_for(found.wrong))
    return note


def _sidecars(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.stem}.entities.yaml"), path.with_name(f"{path.name}.entities.yaml")


def _sidecar(path: Path, remarks: list[str]) -> tuple[bytes, list[dict[str, object]]]:
    """The bytes of the note's sidecar, and the relations that hold in it."""
    place = next((each for each in _sidecars(path) if each.is_file()), None)
    if place is None:
        return b"", []
    file = read_file(place, path.parent)
    if file.problem or len(file.data) > _MAX_SIDECAR:
        remarks.append(f"its {place.name} {file.problem or 'is too large'}: relations left out")
        return b"", []
    try:
        held = yaml.safe_load(decode(file.data))
        stated = held.get("relationships") if isinstance(held, dict) else None
    except Exception:  # PyYAML lets more than its own errors escape
        remarks.append(f"its {place.name} is no YAML: relations left out")
        return file.data, []
    rows = [row for row in stated if isinstance(row, dict)] if isinstance(stated, list) else []
    return file.data, [row for row in map(_relation, rows) if row]


def _relation(row: Mapping[str, object]) -> dict[str, object]:
    """One relation as a note states it; empty where it was superseded or names nothing."""
    # A value that is no text may be a few lines of YAML that stand for gigabytes.
    texts = {
        key: one_line(value, _LONGEST) for key in ("source", "target", "type") if isinstance(value := row.get(key), str)
    }
    if row.get("superseded_by") or not texts.get("target"):
        return {}
    return {key: text for key, text in texts.items() if text}


def _with_relations(note: Note, relations: list[dict[str, object]]) -> Note:
    if not relations:
        return note
    extra = dict(note.extra)
    there = extra.get("relations")
    stated = [*(there if isinstance(there, list) else []), *relations]
    extra["relations"] = [row for at, row in enumerate(stated) if row not in stated[:at]][:MAX_TRIPLETS]
    return note._replace(extra=tuple(extra.items()))
