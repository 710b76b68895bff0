"""The two forms that are chitta's own, Markdown and JSONL, read without a look at what else they might be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from chitta.importing import jsonl, markdown
from chitta.importing.imported import Imported


def read_path(path: str | os.PathLike[str], *, realm: str) -> Iterator[Imported]:
    """Read a Markdown file, a folder of them, or a JSONL file; never raises.

    An id that comes twice in one realm is a problem the second time, not a silent overwrite.
    """
    seen: dict[tuple[str, str], str] = {}
    for item in _read(Path(path), realm):
        if item.note is not None:
            first = seen.setdefault((item.note.realm, item.note.id), item.source)
            if first != item.source:
                item = Imported(None, item.source, f"has the same id as {first}: {item.note.id}")
        yield item


def _read(path: Path, realm: str) -> Iterator[Imported]:
    if not path.exists():
        yield Imported(None, str(path), "is not there")
    elif jsonl.detect(path):
        yield from jsonl.read(path, realm=realm)
    elif markdown.detect(path):
        yield from markdown.read(path, realm=realm)
    else:
        yield Imported(None, str(path), "is neither Markdown, nor JSONL, nor a folder")
