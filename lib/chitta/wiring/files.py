"""Changing a harness's file: planned on its bytes, recorded so that it can be undone, written in one step.

For every file that chitta has entries in there is a folder below ``state/wiring/`` of the store, with a copy of the
file as chitta found it (``before``) and a record: the bytes without chitta, the hash of what was written last, and
the folders that were made. A file nobody has touched since gets those bytes back; in an edited one only the entries go.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from chitta.folders import make_private
from chitta.wiring import edit
from chitta.wiring.edit import Refused
from chitta.wiring.harness import Harness

_BOM = b"\xef\xbb\xbf"
#: Mode of a file and a folder that were not there: the user's own are private, a project's are like its others.
_NEW = {"user": (0o600, 0o700), "project": (0o644, 0o755)}


class Change(NamedTuple):
    """What would be written: ``None`` is a file that is not there. ``without`` are the bytes without chitta."""

    row: Harness
    scope: str
    file: Path
    before: bytes | None
    after: bytes | None
    without: bytes | None

    @property
    def needed(self) -> bool:
        return self.before != self.after


class _Record(NamedTuple):
    without: bytes | None
    written: str
    folders: tuple[str, ...]


def plan_install(row: Harness, scope: str, file: Path, root: str, state: Path, capture: bool = False) -> Change:
    """The change that wires a harness to the checkout ``root``, ``capture`` with capture's events too. Raises
    :class:`Refused`, ``OSError``."""
    before = read(file)
    record = _recorded(state, file)
    bom, text = _decoded(before)
    after = bom + _encoded(edit.install(row, text, root, capture))
    if record is not None and record.written == _hash(before):
        without = record.without
    elif text and text.strip():
        original = _decoded(record.without)[1] if record is not None else None
        without = bom + _encoded(edit.uninstall(row, text, original))
    else:
        without = before
    return Change(row, scope, file, before, after, without)


def plan_uninstall(row: Harness, scope: str, file: Path, state: Path) -> Change:
    """The change that takes chitta out of a file. Raises :class:`Refused`, ``OSError``."""
    before = read(file)
    record = _recorded(state, file)
    if before is None or not before.strip():
        return Change(row, scope, file, before, before, before)
    # A link that stands where a file was made: somebody keeps that file elsewhere now, so it stays.
    moved = file.is_symlink()
    if record is not None and record.written == _hash(before) and not (record.without is None and moved):
        return Change(row, scope, file, before, record.without, record.without)
    bom, text = _decoded(before)
    assert text is not None
    original = _decoded(record.without)[1] if record is not None else None
    left = edit.uninstall(row, text, original)
    after: bytes | None = bom + _encoded(left)
    made = record is not None and record.without is None
    ours_by_name = record is None and file.name == "chitta.json"
    if left != text and (made or ours_by_name) and not moved and edit.is_bare(row, left):
        after = None
    return Change(row, scope, file, before, after, after)


def apply_install(change: Change, state: Path) -> Path | None:
    """Write the change and its record; the copy of the file as it was found, where there was one."""
    folder = _folder(state, change.file)
    record = _recorded(state, change.file)
    if not change.needed:
        return None
    make_private(str(folder))
    copy = folder / "before"
    if record is None and change.before is not None:
        _write(copy, change.before, 0o600)
    _, folder_mode = _NEW[change.scope]
    made = _make_folders(change.file.parent, folder_mode)
    folders = made or list(record.folders if record is not None else ())
    facts = {
        "file": str(change.file),
        "without": None if change.without is None else base64.b64encode(change.without).decode(),
        "written": _hash(change.after),
        "folders": folders,
    }
    # Before the file: a record without its entry does no harm, an entry without its record could not be undone so well.
    _write(folder / "record.json", json.dumps(facts).encode(), 0o600)
    _put(change)
    return copy if copy.exists() else None


def apply_uninstall(change: Change, state: Path) -> None:
    """Write the change; then the record, the copy and the folders made for the file have served and go."""
    record = _recorded(state, change.file)
    if change.needed:
        _put(change)
    if record is None:
        return
    if change.after is None:
        for made in record.folders:
            _remove_empty(Path(made))
    folder = _folder(state, change.file)
    for name in ("before", "record.json"):
        (folder / name).unlink(missing_ok=True)
    _remove_empty(folder)
    _remove_empty(folder.parent)


def read(file: Path) -> bytes | None:
    """A file's bytes; None where there is none. Raises :class:`Refused` for what is no file, ``OSError``."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise Refused("it is no file")
        return file.read_bytes()
    except FileNotFoundError:
        if file.is_symlink():
            raise Refused("it is a link to nothing") from None
        return None


def decoded(data: bytes) -> str:
    """A file's text without its byte order mark. Raises :class:`Refused` for anything but UTF-8."""
    return _decoded(data)[1] or ""


def _decoded(data: bytes | None) -> tuple[bytes, str | None]:
    if data is None:
        return b"", None
    bom = _BOM if data.startswith(_BOM) else b""
    try:
        return bom, data[len(bom) :].decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8") from None


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("what would be written is not UTF-8, the checkout's path perhaps") from None


def _hash(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _folder(state: Path, file: Path) -> Path:
    return state / "wiring" / hashlib.sha256(os.fsencode(os.path.abspath(file))).hexdigest()[:16]


def _recorded(state: Path, file: Path) -> _Record | None:
    """The record of a file; one that cannot be read is none."""
    try:
        facts: dict[str, Any] = json.loads((_folder(state, file) / "record.json").read_bytes())
        raw = facts["without"]
        without = None if raw is None else base64.b64decode(raw, validate=True)
        return _Record(without, str(facts["written"]), tuple(map(str, facts["folders"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _make_folders(folder: Path, mode: int) -> list[str]:
    """Make what is missing; the folders made, the innermost first."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir()
        path.chmod(mode)
    return [str(path) for path in missing]


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # somebody has put something there
        pass


def _put(change: Change) -> None:
    """Write or remove the file, unless it has changed since it was read."""
    if read(change.file) != change.before:
        raise Refused("it has just been changed by somebody else")
    if change.after is None:
        change.file.unlink()
        return
    target = Path(os.path.realpath(change.file))
    mode = stat.S_IMODE(os.stat(target).st_mode) if change.before is not None else _NEW[change.scope][0]
    _write(target, change.after, mode)


def _write(path: Path, data: bytes, mode: int) -> None:
    """Replace a file in one step: whoever reads sees the old or the new bytes, never half."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
