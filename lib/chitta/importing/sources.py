"""The table of sources: what can be imported, how it is told, and where it lies unless said.

A source is a module of this room with ``TITLE``, ``READS``, ``detect``, ``default_paths`` and ``read``, loaded when
it is asked for; a path is shown to the sources in the order of the table, the most particular form first.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from chitta.importing import decisions, instruction_files
from chitta.importing.imported import NOT_OURS, Imported, is_markdown, markdown_files, reason, walk
from chitta.importing.instruction_files import is_instructions
from chitta.importing.jsonl import is_own

#: Every source by the name of its module; what stands first is asked first whether a path is its.
NAMES: tuple[str, ...] = (
    *("superlocalmemory", "claude_mem", "mem0", "claude_memory", "reflect", "decisions", "vault"),
    *("instructions", "git_history", "markdown", "jsonl"),
)
#: Sources that are read only when they are named: a folder under git is mostly something else as well.
ONLY_NAMED = frozenset({"git_history"})
#: The forms that anything may have; what is in them that another source knows is that source's.
PLAIN = frozenset({"markdown", "jsonl"})
#: Sources of which people see every note as a file; of the others a count will do.
BY_FILE = frozenset({"markdown", "instructions", "claude_memory", "reflect", "decisions", "vault"})

#: Sources that take some files of a folder by their names, and say nothing of the others.
BY_KIND = frozenset({"markdown", "instructions", "decisions"})

_ARCHIVES = (
    *(
        (b"PK\x03\x04", "zip"),
        (b"PK\x05\x06", "zip"),
        (b"\x1f\x8b", "gzip"),
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\x00", "xz"),
    ),
    *((b"7z\xbc\xaf\x27\x1c", "7z"), (b"Rar!", "rar"), (b"\x28\xb5\x2f\xfd", "zstd")),
)
_TAR_MARK = (257, b"ustar")

Read = Callable[..., Iterator[Imported]]


class Source(NamedTuple):
    """One kind of place that notes come from. ``reads`` is a line for the help."""

    name: str
    title: str
    reads: str
    read: Read
    detect: Callable[[Path], bool]
    default_paths: Callable[[], tuple[Path, ...]]


@cache
def source(name: str) -> Source:
    """The source of this name. Raises ``KeyError`` for any other."""
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"chitta.importing.{name}")
    return Source(name, module.TITLE, module.READS, module.read, module.detect, module.default_paths)


def named(text: str) -> str:
    """The name of the source that a person means: hyphens and capitals do not matter. "" for none."""
    plain = text.strip().lower().replace("-", "_")
    return plain if plain in NAMES else ""


def sources_of(path: Path) -> list[Source]:
    """Which sources read a path, found by looking at it; empty where none does.

    Mostly one. Of a folder of Markdown that also holds decision records or instructions for agents, at whatever depth,
    each reads its own files.
    """
    if is_own(path):
        return [source("jsonl")]
    for name in NAMES:
        if name not in ONLY_NAMED and source(name).detect(path):
            if name in ("decisions", "instructions", "markdown") and path.is_dir():
                return _project(path, name)
            return [source(name)]
    return []


def refusal(path: Path, read_as: Source | None = None) -> str:
    """Why a path cannot be imported; "" where it can. ``read_as`` is its source, None where nobody knows it."""
    if path.is_dir():
        return ""
    try:
        if not path.is_file():
            return "is neither a file nor a folder"
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as problem:
        return reason(problem)
    kind = next((kind for mark, kind in _ARCHIVES if head.startswith(mark)), "")
    if not kind and head[_TAR_MARK[0] :].startswith(_TAR_MARK[1]):
        kind = "tar"
    if kind and (read_as is None or read_as.name in BY_FILE | PLAIN):
        return f"is an archive ({kind}); unpack it and import the folder"
    if read_as is None:
        return (
            "is neither Markdown, nor JSONL, nor anything else that is known; `chitta import --sources` lists what is"
        )
    return ""


def passed_over(path: Path) -> Counter[str]:
    """The visible files of a folder that are no Markdown nor instructions, by what their names end in."""
    if not path.is_dir():
        return Counter()
    files = walk(path, [], keep=lambda name: not name.startswith(".") and not is_markdown(name), without=NOT_OURS)
    return Counter(file.suffix.lower() for file in files if not is_instructions(file))


def _project(path: Path, name: str) -> list[Source]:
    """Who reads a folder that ``name`` knows: what is more particular than that in it is not Markdown."""
    if name == "instructions" and _is_rules_folder(path):
        return [source(name)]
    records = source("decisions")
    found = [source("instructions")] if any(True for _ in instruction_files.find(path, [])) else []
    if name == "decisions":
        return [*found, records]
    if any(True for _ in decisions.files_below(path, [])):
        found.append(records._replace(read=decisions.read_below))
    markdown = source("markdown")
    if found and all(map(_is_anothers, markdown_files(path, []))):
        return found
    return [*found, markdown._replace(read=partial(markdown.read, without=_is_anothers)) if found else markdown]


def _is_anothers(file: Path) -> bool:
    return is_instructions(file) or decisions.is_decision(file)


def _is_rules_folder(path: Path) -> bool:
    return any(part.startswith(".") for part in Path(os.path.abspath(path)).parts[-2:])
