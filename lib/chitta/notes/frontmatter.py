"""The file format of a note: YAML front matter, a blank line, the text.

Reading forgives: no front matter, broken YAML, values of odd types, a byte order mark, CRLF. A note whose
front matter cannot be read waits in quarantine, since nobody knows what it said.
Writing is strict: one key order, one way to write each value, so a file that was read and
written once does not change when it is read and written again. docs/note-format.md has the keys.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

from chitta.notes.ids import valid_id
from chitta.notes.note import Note, one_line, without_surrogates
from chitta.notes.realms import valid_realm

#: Longest front matter, in characters; a longer one is taken as text.
MAX_FRONT_MATTER = 64 * 1024
MAX_TITLE = 300
#: Whole numbers that JSON's readers hold, from the first up to but without the second; others are kept as text.
_WHOLE = (-(2**63), 2**64)
#: Characters of a whole number that is read as one. Python refuses to write one of 4,300 digits.
_NUMBER_CHARS = 100

_TEXTS = (
    *("superseded_by", "valid_from", "valid_until", "created", "updated"),
    *("source", "visibility", "authority", "wrong", "right"),
)
_LISTS = ("tags", "triggers", "supersedes")
_DATES = frozenset({"created", "updated", "valid_from", "valid_until"})
_KNOWN = frozenset(Note._fields) - {"text", "extra"}
_ORDER = (
    *("id", "kind", "realm", "title", "created", "updated", "tags", "confidence", "proof_count"),
    *("triggers", "wrong", "right", "supersedes", "superseded_by", "valid_from", "valid_until"),
    *("source", "visibility", "quarantine", "authority"),
)
_ALWAYS = frozenset({"id", "kind", "realm", "title"})
_TRUST_WORDS = {"very high": 0.95, "high": 0.9, "medium": 0.6, "low": 0.3, "very low": 0.1}
#: Where a note keeps front matter that could not be read, as it was written: a rewrite loses nothing.
UNREAD_KEY = "unread_front_matter"
_OTHER_NAMES = {"quarantined": "quarantine"}
_FALSE = frozenset({"", "false", "no", "off", "0", "none", "null"})
_HEADING = re.compile(r"#[ \t]+(\S.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HAS_KEY = re.compile(
    r"(?:[ \t]*(?:#.*)?\n)*[A-Za-z][\w-]*:(?:[ \t]|$)"  # the first line has one, or any has one of a note
    rf"|(?s:.*)^(?:{'|'.join(sorted(_KNOWN | _OTHER_NAMES.keys()))})[ \t]*:(?:[ \t]|$)",
    re.MULTILINE,
)
_BEGINS = re.compile(r"---[ \t]*\n(?:[ \t]*(?:#.*)?\n)*[A-Za-z][\w-]*:(?:[ \t]|$)", re.MULTILINE)


def decode(data: bytes) -> str:
    """The text of a file: UTF-8 or UTF-16 by its byte order mark, else UTF-8, else Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def parse_note(text: str, *, fallback_id: str, fallback_realm: str) -> Note:
    """Read one file's text; never raises.

    Front matter that is unclosed or longer than 64 kB is taken as part of the text. One that is broken, or that
    uses YAML anchors (a few lines of which can stand for gigabytes), is kept as it is written, and the note is in
    quarantine; without any ``key:`` it is text between two rulers. The title is that of the front matter, else the
    first ``# `` heading, else empty (of a note in quarantine for its front matter, its first line).
    """
    read = parts_of(text)
    if read.unread:
        body = _split(_clean(text.removeprefix("\ufeff")))[1]
        title = heading(body) or next((line for line in body.split("\n") if line.strip()), "")
        fields = {"title": title, "quarantine": True, UNREAD_KEY: read.unread}
        return note_from_fields(fields, body, fallback_id=fallback_id, fallback_realm=fallback_realm)
    return note_from_fields(read.fields, read.body, fallback_id=fallback_id, fallback_realm=fallback_realm)


class Parts(NamedTuple):
    """A file's front matter and the text below it; ``problem`` says why front matter was taken as text.

    ``unread`` is front matter that has keys and cannot be read; ``body`` holds it too.
    """

    fields: dict[str, object]
    body: str
    problem: str = ""
    unread: str = ""


def parts_of(text: str) -> Parts:
    """Front matter and body, for whoever maps other keys; never raises. :func:`parse_note` has the rules."""
    text = _clean(text.removeprefix("\ufeff"))
    block, body = _split(text)
    try:
        return Parts(_read(block), body, unclosed(text))
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark
        place = f"line {mark.line + 2}: " if mark is not None else ""  # the first line is the opening ---
        return Parts({}, text, one_line(f"{place}{problem.problem or 'is not YAML'}", MAX_TITLE), _with_keys(block))
    except Exception as problem:  # PyYAML lets IndexError, KeyError and more escape from values with odd tags
        return Parts({}, text, one_line(str(problem), MAX_TITLE) or type(problem).__name__, _with_keys(block))


def note_from_fields(fields: Mapping[str, object], text: str, *, fallback_id: str, fallback_realm: str) -> Note:
    """A note from front-matter values of any types; a value that means nothing gives the default."""
    default = Note(id=fallback_id)
    fields = _with_known_names(fields)
    values: dict[str, Any] = {name: _text(fields.get(name)) or getattr(default, name) for name in _TEXTS}
    values |= {name: _list(fields.get(name), commas=name == "tags") for name in _LISTS}
    note_id, realm = _text(fields.get("id")), _text(fields.get("realm"))
    body = _clean(text).strip("\n").rstrip()
    title = fields.get("title")
    return Note(
        id=note_id if valid_id(note_id) else fallback_id,
        kind=one_line(_text(fields.get("kind")), 40).lower() or default.kind,
        realm=realm if valid_realm(realm) else fallback_realm,
        title=heading(body) if title is None else one_line(_text(title), MAX_TITLE),
        text=body,
        confidence=_trust(fields.get("confidence"), default.confidence),
        proof_count=_count(fields.get("proof_count"), default.proof_count),
        quarantine=_holds(fields.get("quarantine")),
        extra=tuple((key, _plain(value)) for key, value in fields.items() if key not in _KNOWN),
        **values,
    )


def _with_known_names(fields: Mapping[str, object]) -> dict[str, object]:
    """Known keys as they are named here, however they are written: a file is read so, and would change otherwise."""
    named: dict[str, object] = {}
    for key, value in fields.items():
        name = _name(key)
        if name not in _KNOWN:
            named[key] = value
        elif name == "quarantine":
            named[name] = value if not _holds(named.get(name)) else named[name]
        elif name == key or name not in fields:
            named[name] = value
    return named


def _name(key: str) -> str:
    name = key.strip().lower().replace("-", "_")
    return _OTHER_NAMES.get(name, name)


def _holds(quarantine: object) -> bool:
    """Whether the value keeps a note out. Someone who doubted the note wrote it: anything but a clear no does."""
    return _text(quarantine).lower() not in _FALSE


def heading(text: str) -> str:
    """The first ``# `` heading outside a fenced block, or ``""``."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
        found = None if fence else _HEADING.fullmatch(line)
        if found:
            return one_line(found.group(1), MAX_TITLE)
    return ""


def fields_of(note: Note) -> dict[str, object]:
    """The front matter's keys and values in the order of the file; defaults are left out, unknown keys come last."""
    default = Note(id="")
    values = {name: getattr(note, name) for name in _ORDER}
    values["title"] = one_line(note.title, MAX_TITLE)
    kept = {name: value for name, value in values.items() if name in _ALWAYS or value != getattr(default, name)}
    return kept | {key: value for key, value in note.extra if key not in _KNOWN}


def format_note(note: Note) -> str:
    """The file's text. Defaults are left out; unknown keys follow the known ones.

    Raises ``ValueError`` when the front matter would be too long to be read again.
    """
    lines = [_dump(key, value) for key, value in fields_of(note).items()]
    head = "".join(lines)
    if len(head) > MAX_FRONT_MATTER:
        raise ValueError(f"the front matter of {note.id!r} would be longer than {MAX_FRONT_MATTER // 1024} kB")
    body = _clean(note.text).strip("\n").rstrip()
    return f"---\n{head}---\n" + (f"\n{body}\n" if body else "")


# Reading


class _Loader(yaml.SafeLoader):
    """SafeLoader without anchors, and without numbers to base 60 (``12:30`` stays what it is)."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("anchors are not read")
        return super().compose_node(parent, index)

    def construct_number(self, node: yaml.ScalarNode) -> object:
        if ":" in node.value:
            return node.value
        if node.tag.endswith(":float"):
            return self.construct_yaml_float(node)
        if len(node.value) > _NUMBER_CHARS:
            return node.value
        number = self.construct_yaml_int(node)
        return number if _WHOLE[0] <= number < _WHOLE[1] else node.value


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_number)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_number)


def _split(text: str) -> tuple[str, str]:
    """Front matter and body; the front matter is empty when the text does not begin with one."""
    first, _, rest = text.partition("\n")
    if first.rstrip() != "---":
        return "", text
    end = re.search(r"^(?:---|\.\.\.)[ \t]*$", rest[: MAX_FRONT_MATTER + 8], re.MULTILINE)
    if end is None or end.start() > MAX_FRONT_MATTER:
        return "", text
    return rest[: end.start()], rest[end.end() + 1 :]


def _with_keys(block: str) -> str:
    """The block where it is front matter, if unreadable, and not words between two rulers; else nothing."""
    return block if _HAS_KEY.match(block) else ""


def unclosed(text: str) -> str:
    """Why a text that seems to begin with front matter has none; a rule of three hyphens alone is no front matter."""
    text = _clean(text.removeprefix("\ufeff"))
    empty = re.match(r"---[ \t]*\n(?:---|\.\.\.)[ \t]*$", text, re.MULTILINE)
    if _split(text)[0] or empty or not _BEGINS.match(text):
        return ""
    return f"it has no closing --- within {MAX_FRONT_MATTER // 1024} kB"


def _read(block: str) -> dict[str, object]:
    """The mapping that ``block`` holds: known keys as they are written, others as YAML means them."""
    loader = _Loader(block)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise ValueError("front matter is a mapping")
        fields: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ValueError("a key of front matter is a word")
            name = _name(key_node.value)
            if name == "quarantine" and _holds(fields.get(name)):  # said twice: the doubt stays
                continue
            if name in _KNOWN:
                fields[name] = _as_written(loader, name, value_node)
            else:
                fields[key_node.value] = _plain(loader.construct_object(value_node, deep=True))
        return fields
    finally:
        loader.dispose()


def _as_written(loader: _Loader, name: str, node: yaml.Node) -> object:
    """A known value without YAML's guesses: a title of ``No`` or ``1.10`` is those characters."""
    if isinstance(node, yaml.SequenceNode):
        return [_as_written(loader, name, item) for item in node.value if isinstance(item, yaml.ScalarNode)]
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return None
    if name in _DATES and node.tag == "tag:yaml.org,2002:timestamp":
        try:
            return _plain(loader.construct_object(node))
        except ValueError:  # looks like a date, but the calendar has none such
            return node.value
    return node.value


def _clean(text: str) -> str:
    return without_surrogates(text.replace("\r\n", "\n").replace("\r", "\n"))


def _plain(value: object) -> object:
    """``value`` in the types that a note's ``extra`` may hold."""
    if isinstance(value, str):
        return without_surrogates(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if _WHOLE[0] <= value < _WHOLE[1] else _text(value)
    if isinstance(value, datetime.date):  # a datetime is one too
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, set):
        return sorted(_text(item) for item in value)
    return _text(value)


def _text(value: object) -> str:
    """A scalar as text; a list as its first item; anything else as nothing."""
    if isinstance(value, list | tuple):
        return _text(value[0]) if value else ""
    if value is None or isinstance(value, Mapping):
        return ""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, int) and not _WHOLE[0] <= value < _WHOLE[1]:
        return hex(value)
    return without_surrogates(str(value)).strip()


def _list(value: object, *, commas: bool) -> tuple[str, ...]:
    """A list of texts without repeats; one text stands for a list, of several when ``commas``."""
    if isinstance(value, str) and commas:
        value = value.strip("[] ").split(",")
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(text for text in map(_text, items) if text))


def _trust(value: object, default: float) -> float:
    """Confidence from a number, a percentage or a word."""
    word = _text(value).lower()
    if word in _TRUST_WORDS:
        return _TRUST_WORDS[word]
    try:
        number = float(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    except ValueError:
        return default
    return default if math.isnan(number) else min(1.0, max(0.0, number))


def _count(value: object, default: int) -> int:
    try:
        return min(10**9, max(0, int(float(_text(value)))))
    except (ValueError, OverflowError):
        return default


# Writing


class _Dumper(yaml.SafeDumper):
    """SafeDumper with lists on one line, and line breaks inside quotes only as escapes."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def represent_list(self, data: Any) -> yaml.SequenceNode:
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", without_surrogates(data), style=style)


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(tuple, _Dumper.represent_list)
_Dumper.add_representer(str, _Dumper.represent_str)


def _dump(key: str, value: object) -> str:
    line: str = yaml.dump(
        {key: value}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10**9, default_flow_style=False
    )
    return line
