"""The hybrid lane's time and its parts, in one process, at two sizes of store.

The large store is made of the small one: sentences of its notes dealt anew, so that words are as
common as they are, and vectors that are mixtures of its vectors. It is kept in ``.bench/``.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from chitta.admission import calibration
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.evaluate.bench_store import environment
from chitta.gateway.engine import Engine
from chitta.importing.plain import read_path
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.models.registry import load_embedder
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load
from chitta.turn import focus
from chitta.wire.request import Request

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
SAMPLES = ROOT / "lib" / "chitta" / "samples"
#: Calls that are timed, by the name in the table: object, attribute.
PARTS = {
    "embed": ("chitta.models.onnx_embedder", "OnnxEmbedder", "embed_query"),
    "words (BM25)": ("chitta.index.snapshot", "Words", "search"),
    "nearest vectors": ("chitta.index.vectors", "Comparison", "search"),
    "evidence and notes": ("chitta.gateway.reading", "Reading", "_weigh"),
    "fusion": ("chitta.gateway.ranking", "", "joined"),
    "boosts": ("chitta.gateway.ranking", "Ranker", "boosted"),
    "doubles, contradictions": ("chitta.gateway.ranking", "Ranker", "settled"),
}


class Mixtures:
    """An embedder by name, whose vectors are mixtures of others: for a large store in minutes."""

    instruction = ""

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.name, self.dim = name, vectors.shape[1]
        self._vectors = vectors
        self._random = np.random.default_rng(7)

    def embed_query(self, text: str) -> np.ndarray:
        return self.embed_notes([text])[0]

    def embed_notes(self, texts: Sequence[str], progress: Any = None) -> np.ndarray:
        first, second = (self._vectors[self._random.integers(0, len(self._vectors), len(texts))] for _ in range(2))
        mixed = first + 0.6 * second + 0.02 * self._random.standard_normal((len(texts), self.dim)).astype(np.float32)
        unit: np.ndarray = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
        return unit


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the hybrid lane and its parts.")
    notes = DATA / "til" / "notes.jsonl"
    prompts = DATA / "golden" / "answerable.jsonl"
    parser.add_argument("--notes", default=str(notes if notes.exists() else SAMPLES / "notes"))
    parser.add_argument("--prompts", default=str(prompts if prompts.exists() else SAMPLES / "prompts.json"))
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    found = [item.note._replace(realm=GLOBAL) for item in read_path(Path(options.notes), realm=GLOBAL) if item.note]
    small = _store("small", found, lambda settings: load_embedder(settings))
    with_vectors = open_snapshot(small.index_dir)
    assert with_vectors is not None and with_vectors.vectors is not None
    vectors = with_vectors.vectors.of([note.id for note in found])
    name = load_embedder(small).name
    large = _store("large", list(_dealt(found, options.size)), lambda settings: Mixtures(name, vectors))
    asked = _prompts(Path(options.prompts))[: options.count]
    rows = [_timed(settings, asked) for settings in (small, large)]
    sizes = [f"{len(found):,} notes", f"{options.size:,} notes"]
    print(f"| part, median / p95 ms over {len(asked)} prompts | {' | '.join(sizes)} |\n|---|---|---|")
    for part in rows[0]:
        print(f"| {part} | {' | '.join(_shown(times[part]) for times in rows)} |")
    return 0


def _store(name: str, notes: Sequence[Note], embedder: Callable[[Settings], Any]) -> Settings:
    home = ROOT / ".bench" / f"ranking-{name}-{len(notes)}"
    settings = load(environment(home))
    if not (home / "whole").exists():
        print(f"making the {name} store", file=sys.stderr)
        store = NoteStore(settings.notes_dir)
        for note in notes:
            store.write(note)
        sync(settings, embedder(settings))
        (home / "whole").touch()
    return settings


def _dealt(notes: Sequence[Note], size: int) -> Iterator[Note]:
    deal = random.Random(7)
    sentences = [part for note in notes for part in re.split(r"(?<=[.!?])\s+|\n\n+", note.text) if part.strip()]
    for number in range(size):
        base = deal.choice(notes)
        text = "\n".join(deal.choice(sentences) for _ in range(deal.randint(4, 9)))
        yield base._replace(id=f"dealt-{number}", text=text, extra=(), source="")


def _prompts(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    rows = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    return [row if isinstance(row, str) else row["prompt"] for row in rows]


def _timed(settings: Settings, prompts: Sequence[str]) -> dict[str, list[float]]:
    snapshot = open_snapshot(settings.index_dir)
    engine = Engine(settings, snapshot, load_embedder(settings), None, calibration.load(settings))
    times: dict[str, list[float]] = {"the whole lane": [], **{part: [] for part in PARTS}}
    for prompt in prompts[:5]:
        _ask(engine, prompt)
    with _watched(times):
        for prompt in prompts:
            before = {part: len(spent) for part, spent in times.items()}
            started = time.perf_counter()
            _ask(engine, prompt)
            times["the whole lane"].append((time.perf_counter() - started) * 1000)
            for part in PARTS:  # a part may be asked more than once a prompt
                spent = times[part][before[part] :]
                times[part][before[part] :] = [sum(spent)]
    return times


def _ask(engine: Engine, prompt: str) -> None:
    query = focus(clean_prompt(prompt))
    request = Request(prompt=query, query=query, tokens=distinctive(query), realm=GLOBAL, k=10)
    engine.rows("hybrid", request, engine.settings)


@contextmanager
def _watched(times: dict[str, list[float]]) -> Iterator[None]:
    import importlib

    kept = []
    for part, (module, owner, attribute) in PARTS.items():
        holder = importlib.import_module(module)
        holder = getattr(holder, owner) if owner else holder
        inner = getattr(holder, attribute)
        kept.append((holder, attribute, inner))
        setattr(holder, attribute, _clocked(inner, times[part]))
    try:
        yield
    finally:
        for holder, attribute, inner in kept:
            setattr(holder, attribute, inner)


def _clocked(inner: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def clocked(*arguments: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return inner(*arguments, **named)
        finally:
            spent.append((time.perf_counter() - started) * 1000)

    return clocked


def _shown(times: Sequence[float]) -> str:
    ranked = sorted(times)
    return f"{statistics.median(ranked):.1f} / {ranked[int(0.95 * (len(ranked) - 1))]:.1f}"


if __name__ == "__main__":
    raise SystemExit(main())
