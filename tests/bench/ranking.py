"""The hybrid lane's time and its parts, in one process, at two sizes of store."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import stores

from chitta.admission import calibration
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.gateway.engine import Engine
from chitta.index.snapshot import open_snapshot
from chitta.models.registry import load_embedder
from chitta.notes.realms import GLOBAL
from chitta.settings import Settings
from chitta.turn import focus
from chitta.wire.request import Request

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


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the hybrid lane and its parts.")
    parser.add_argument("--notes", default=str(stores.NOTES))
    parser.add_argument("--prompts", default=str(stores.PROMPTS))
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--count", type=int, default=100)
    options = parser.parse_args()
    small, large = stores.small_store(Path(options.notes)), stores.large_store(options.size, Path(options.notes))
    found = stores.real_notes(Path(options.notes))
    asked = stores.prompts(Path(options.prompts))[: options.count]
    rows = [_timed(settings, asked) for settings in (small, large)]
    sizes = [f"{len(found):,} notes", f"{options.size:,} notes"]
    print(f"| part, median / p95 ms over {len(asked)} prompts | {' | '.join(sizes)} |\n|---|---|---|")
    for part in rows[0]:
        print(f"| {part} | {' | '.join(_shown(times[part]) for times in rows)} |")
    return 0


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
