"""Runs: what a system found for each query, kept as TREC run files so that other tools can score them.

A line is ``query Q0 document rank score system``. Ranks decide, so the score written is the rank
counted from the end: lanes' own scores have ties that tools break in ways of their own. White
space and ``%`` in names are percent-encoded, as the format parts its columns by spaces.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from chitta.evaluate.dataset import BadDataset

#: Documents by query, best first.
Run = Mapping[str, Sequence[str]]

_PLAIN = "".join(chr(code) for code in range(33, 127) if chr(code) != "%")


def write_run(path: Path, run: Run, system: str) -> None:
    """Write a whole run, in the order of its queries, in one step. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            for query, found in run.items():
                for rank, name in enumerate(found, start=1):
                    score = len(found) - rank + 1
                    file.write(f"{quote(query, _PLAIN)} Q0 {quote(name, _PLAIN)} {rank} {score} {system}\n")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_run(path: Path) -> dict[str, list[str]]:
    """Read a run, each query's documents by score and then by rank. Raises ``OSError`` and :class:`BadDataset`."""
    rows: dict[str, list[tuple[float, int, str]]] = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            columns = line.split()
            if not columns:
                continue
            try:
                query, _, name, rank, score, _ = columns
                rows.setdefault(unquote(query), []).append((-float(score), int(rank), unquote(name)))
            except ValueError:
                raise BadDataset(f"{path}:{number} is no line of a TREC run") from None
    return {query: [name for _, _, name in sorted(found)] for query, found in rows.items()}
