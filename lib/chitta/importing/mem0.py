"""Exports of mem0 and OpenMemory: JSON, JSON lines (also with gzip), or OpenMemory's zip of both.

A memory is an object with its text under ``memory``, ``content``, ``text`` or ``data``. The document is a list of
them, or holds one under ``results`` or ``memories``. Files are streamed; an archive is read only within bounds
on members, sizes and ratio, since a small one can hold more than a disk does.
"""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chitta.importing.imported import Imported, checked, reason
from chitta.importing.json_stream import MAX_ITEM_BYTES, BrokenJson, Readable, items
from chitta.importing.loose_values import day_of, list_of, mapping_of, row_digest, text_of, trust_of
from chitta.notes.frontmatter import decode
from chitta.notes.ids import make_id
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line

TITLE = "mem0 and OpenMemory"
READS = "an export of mem0 or OpenMemory: .json, .jsonl, .jsonl.gz, or OpenMemory's .zip"

#: Bytes of a file, also when unpacked; a larger one is refused.
MAX_FILE_BYTES = 512 * 1024 * 1024
#: Members of a zip, and how many times its size a member may unpack to (text packs to a twentieth at best;
#: a list of nearly the same memories to less). Small members are spared, for they can do no harm.
MAX_MEMBERS = 100
MAX_RATIO = 200
#: Bytes of a zip's list of members; that of a hundred has some ten thousand.
MAX_LIST_BYTES = 256 * 1024
_MAX_TAIL = 66 * 1024  # its last record and the longest comment after it
_SMALL = 1024 * 1024

_LISTS = ("results", "memories")
_CATEGORIES = "categories"
_TEXTS = ("memory", "content", "text", "data")
_OWNERS = ("user_id", "agent_id", "app_id", "app", "run_id")
_TRUST = 0.6
_BLANK = b"\xef\xbb\xbf \t\r\n"
_LINES = (".jsonl", ".ndjson")
_TAGS_KEYS = ("category", "tags", "tag", "topic", "type")
_MAX_EXTRA = 20
_UNPACKING = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)


class _TooLarge(Exception):
    """An unpacked stream went past :data:`MAX_FILE_BYTES`."""


def detect(path: Path) -> bool:
    """Whether the file begins as such an export does; never raises."""
    try:
        if not path.is_file():
            return False
        name = path.name.lower()
        if name.endswith(".zip"):
            if _list_bytes(path) > MAX_LIST_BYTES:
                return False
            with zipfile.ZipFile(path) as archive:
                return len(archive.infolist()) <= MAX_MEMBERS and bool(_members(archive))
        with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as file:
            start = file.read(64 * 1024).lstrip(_BLANK)
    except _UNPACKING:
        return False
    if name.removesuffix(".gz").endswith(_LINES):
        fields = mapping_of(start.partition(b"\n")[0])
        return _text_key(fields) is not None and bool({"id", "created_at", *_OWNERS} & set(fields))
    if not name.endswith(".json"):
        return False
    has_text = any(f'"{key}"'.encode() in start for key in _TEXTS)
    has_list = start[:1] == b"[" or any(f'"{key}"'.encode() in start for key in _LISTS)
    return has_text and has_list and (b'"id"' in start or b'"user_id"' in start)


def default_paths() -> tuple[Path, ...]:
    """None: an export is wherever it was put."""
    return ()


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """One note for each memory. Archived and paused ones keep that; deleted ones are passed over.

    Ids come from the memory's own, else from its text. Whose it was is kept as a key, not as the realm.
    """
    try:
        if not path.is_file():
            yield Imported(None, str(path), "is not a file" if path.exists() else "is not there")
            return
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            yield Imported(None, str(path), _too_large(size))
            return
        name = path.name.lower()
        if name.endswith(".zip"):
            yield from _read_zip(path, realm)
        elif name.endswith(".gz"):
            with open(path, "rb") as packed:
                yield from _read_stream(_unpacked(packed), name.removesuffix(".gz"), str(path), realm)
        else:
            with open(path, "rb") as file:
                yield from _read_stream(file, name, str(path), realm)
    except _TooLarge:
        yield Imported(None, str(path), f"unpacks to more than {MAX_FILE_BYTES >> 20} MiB; the rest was not read")
    except zipfile.BadZipFile as problem:
        yield Imported(None, str(path), f"is not a zip that can be read: {problem}")
    except OSError as problem:
        yield Imported(None, str(path), reason(problem))
    except (EOFError, zlib.error, RuntimeError, NotImplementedError) as problem:
        yield Imported(None, str(path), f"cannot be unpacked: {problem}")


# Archives


class _Bounded:
    """A stream that raises once it has given more than a bound; it counts what it gives, not what is claimed."""

    def __init__(self, stream: Readable, bound: int) -> None:
        self._stream = stream
        self._left = bound

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._take(data)
        return data

    def readline(self, size: int = -1, /) -> bytes:
        line = self._stream.readline(size)
        self._take(line)
        return line

    def _take(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise _TooLarge


def _unpacked(packed: Any) -> Readable:
    """What a stream of gzip holds, within the bound; of the stream, only ``read`` is used."""
    return _Bounded(gzip.GzipFile(fileobj=packed, mode="rb"), MAX_FILE_BYTES)


def _read_zip(path: Path, realm: str) -> Iterator[Imported]:
    if _list_bytes(path) > MAX_LIST_BYTES:
        yield Imported(None, str(path), f"is a zip of far more than {MAX_MEMBERS} members; refused")
        return
    with zipfile.ZipFile(path) as archive:
        problem = _refused(archive)
        members = [] if problem else _members(archive)
        if not members:
            yield Imported(None, str(path), problem or "holds neither memories.jsonl.gz nor memories.json")
            return
        # The lines name their categories; the document beside them says the same memories once more.
        member = members[0]
        name = member.filename.rpartition("/")[2].lower()
        with archive.open(member) as file:
            bounded = _Bounded(file, MAX_FILE_BYTES)
            stream: Readable = _unpacked(bounded) if name.endswith(".gz") else bounded
            yield from _read_stream(stream, name.removesuffix(".gz"), f"{path}:{member.filename}", realm)


def _list_bytes(path: Path) -> int:
    """The bytes of a zip's list of members, as its last record says (zipfile reads the whole list at once)."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _MAX_TAIL))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    return int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0


def _refused(archive: zipfile.ZipFile) -> str:
    """The sentence for a zip that is not opened; "" for one that is."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        return f"is a zip of {len(members):,} members, more than {MAX_MEMBERS}; refused"
    if sum(member.file_size for member in members) > MAX_FILE_BYTES:
        return f"is a zip that unpacks to more than {MAX_FILE_BYTES >> 20} MiB; refused"
    for member in members:
        if member.file_size > _SMALL and member.file_size > MAX_RATIO * max(1, member.compress_size):
            return f"is a zip that unpacks to more than {MAX_RATIO} times its size; refused"
        if member.flag_bits & 1:
            return "is a zip with a password; unpack it first"
    return ""


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The members that hold memories, the best first."""
    order = {"memories.jsonl.gz": 0, "memories.jsonl": 1, "memories.json": 2}
    found = [(order.get(member.filename.rpartition("/")[2].lower()), member) for member in archive.infolist()]
    kept = [(rank, member.filename, member) for rank, member in found if rank is not None]
    return [member for _, _, member in sorted(kept, key=lambda each: each[:2])]


# Documents


def _read_stream(stream: Readable, name: str, place: str, realm: str) -> Iterator[Imported]:
    if name.endswith(_LINES):
        yield from _read_lines(stream, place, realm)
        return
    categories: dict[str, str] = {}
    number = 0
    try:
        for item in items(stream, (*_LISTS, _CATEGORIES)):
            if item.name == _CATEGORIES:
                fields = mapping_of(item.data)
                categories[text_of(fields.get("id"))] = text_of(fields.get("name"))
                continue
            number += 1
            yield _taken(item.data, f"{place}:{number}", realm, categories)
    except BrokenJson as problem:
        yield Imported(None, place, str(problem))
        return
    if not number:
        yield Imported(None, place, "holds no memories: neither a list nor one under results or memories")


def _read_lines(stream: Readable, place: str, realm: str) -> Iterator[Imported]:
    number = 0
    while line := stream.readline(MAX_ITEM_BYTES + 1):
        number += 1
        whole = line
        while not line.endswith(b"\n") and (line := stream.readline(MAX_ITEM_BYTES + 1)):
            whole = b""  # too long: pass over the rest of it
        if not whole or len(whole) > MAX_ITEM_BYTES + 1:
            yield _taken(None, f"{place}:{number}", realm, {})
        elif whole.strip(_BLANK):
            yield _taken(whole, f"{place}:{number}", realm, {})
    if not number:
        yield Imported(None, place, "is empty")


def _taken(data: bytes | None, place: str, realm: str, categories: dict[str, str]) -> Imported:
    if data is None:
        return Imported(None, place, f"is larger than {MAX_ITEM_BYTES >> 20} MiB")
    try:
        fields = json.loads(decode(data))
    except (ValueError, RecursionError) as problem:
        return Imported(None, place, f"is not JSON: {problem}")
    if not isinstance(fields, dict):
        return Imported(None, place, "is not a JSON object")
    key = _text_key(fields)
    if key is None:
        return Imported(None, place, "has no text under memory, content, text or data")
    text = text_of(fields[key])
    state = text_of(fields.get("state")).lower()
    if state == "deleted" or fields.get("deleted_at"):
        return Imported(None, place, "was deleted there")
    own = text_of(fields.get("id"))
    metadata = mapping_of(fields.get("metadata"))
    first = one_line(text.partition("\n")[0].lstrip("# "), 80)
    note = Note(
        id=make_id(f"mem0 {own}", "") if own else make_id(first, realm, salt=text),
        kind=_kind(metadata),
        realm=realm,
        title=first,
        text=text,
        created=day_of(fields.get("created_at") or fields.get("createdAt")),
        updated=day_of(fields.get("updated_at") or fields.get("updatedAt")),
        tags=_tags(fields, metadata, categories),
        confidence=trust_of(metadata.get("confidence"), _TRUST),
        valid_until=day_of(fields.get("expiration_date")),
        source=f"mem0 {own}".rstrip(),
        quarantine=state == "paused",
        extra=tuple(_extra(fields, metadata, state)),
    )
    remark = "was paused there: kept out of prompts (quarantine)" if state == "paused" else ""
    return checked(note, place, row_digest(fields), remarks=[remark] if remark else [])


def _text_key(fields: dict[str, object]) -> str | None:
    return next((key for key in _TEXTS if isinstance(fields.get(key), str) and text_of(fields[key])), None)


def _tags(fields: dict[str, object], metadata: dict[str, object], categories: dict[str, str]) -> tuple[str, ...]:
    named = [categories.get(own, "") for own in list_of(fields.get("category_ids"))]
    for value in (fields.get("categories"), fields.get("tags"), fields.get("category")):
        named += list_of(value)
    for key in _TAGS_KEYS:
        named += list_of(metadata.get(key))
    return tuple(dict.fromkeys(tag for tag in named if tag))


def _kind(metadata: dict[str, object]) -> str:
    for key in ("kind", "type", "category"):
        word = text_of(metadata.get(key)).lower().replace("_", "-")
        if word in KNOWLEDGE_KINDS or word in BOOKKEEPING_KINDS and word != "session":
            return word
    return "insight"


def _extra(fields: dict[str, object], metadata: dict[str, object], state: str) -> Iterator[tuple[str, object]]:
    if state == "archived":
        yield "status", "archived"
    for key in _OWNERS:
        owner = one_line(text_of(fields.get(key)), 200)
        if owner:
            yield key, owner
    plain = {
        one_line(key, 60): one_line(text_of(value), 500)
        for key, value in list(metadata.items())[:_MAX_EXTRA]
        if key not in _TAGS_KEYS and text_of(value)
    }
    if plain:
        yield "metadata", plain


def _too_large(size: int) -> str:
    return f"is larger than {MAX_FILE_BYTES >> 20} MiB ({size >> 20:,} MiB); split it first"
