"""The whole hook: warm against its floor, cold, with the reranker, twenty at once; at several sizes of store.

The floor is bash starting as many bare interpreters as the hook starts processes, and waiting for them: what the
shape costs before it does anything. It is measured between the prompts, since a machine is not the same a minute later.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import measure
import stores
from measure import Ran, Spread, spread

RECORD = measure.ROOT / "docs" / "measurements" / "performance.json"
#: The lanes that answer without the daemon, and so have to be there before its models are.
AT_ONCE = ("keyword", "correction-key")
COLD_RUNS = 5
#: Prompts of one session, since a later turn asks for more than a first.
TURNS = 3


class Size(NamedTuple):
    """What was measured at one size of store. Times in milliseconds, memory in MB."""

    notes: int
    floor: Spread
    warm: Spread
    ratio: float
    steps: dict[str, float]
    reranked: Spread
    cold: Spread
    cold_words: float
    cold_states: dict[str, int]
    crowd: Spread
    crowd_empty: int
    processes_cpu: float
    floor_cpu: float
    daemon_cpu: float
    daemon_mb: float
    index_s: float


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the whole hook.")
    parser.add_argument("--sizes", default=f"{len(stores.real_notes())},10000,100000", help="notes, a comma list")
    parser.add_argument("--count", type=int, default=200, help="prompts a size")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.relative_to(measure.ROOT)} and its chart")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that its daemon is stopped
    sizes = [_measured(int(size), options.count) for size in options.sizes.split(",")]
    print(table(sizes, options.count))
    if options.record:
        _record(sizes, options.count)
    return 0


def _measured(size: int, count: int) -> Size:
    settings, prompts = stores.store_of(size), stores.prompts(count=count)
    print(f"{size:,} notes", file=sys.stderr)
    with measure.in_store(settings) as environ:
        measure.start(environ, prompts)
        pid = int(measure.status(environ)["pid"])
        floors: list[float] = []
        before = measure.cpu_of_children()
        for _ in range(5):
            floors.append(measure.floor())
        floor_cpu = (measure.cpu_of_children() - before) / 5
        warm: list[Ran] = []
        hooks_cpu, daemon_cpu = 0.0, measure.cpu_of(pid)
        for number, prompt in enumerate(prompts):
            floors.append(measure.floor())
            before = measure.cpu_of_children()
            warm.append(measure.hook(prompt, f"bench-{number // TURNS}", environ))
            hooks_cpu += measure.cpu_of_children() - before
        daemon_cpu = measure.cpu_of(pid) - daemon_cpu
        crowds = [ran for _ in range(3) for ran in measure.crowd(prompts, environ)]
        alone = {
            prompt: bool(measure.hook(prompt, f"alone-{n}", environ).output) for n, prompt in enumerate(prompts[:20])
        }
        empty = sum(not ran.output and alone[prompts[n % 20 % len(prompts)]] for n, ran in enumerate(crowds))
        memory = float(measure.status(environ)["rss_bytes"]) / 1e6
    with measure.in_store(settings, CHITTA_RERANK_BUDGET_MS="100") as environ:
        measure.start(environ, prompts)
        reranked = [measure.hook(prompt, f"rerank-{n}", environ).ms for n, prompt in enumerate(prompts[: count // 2])]
    cold = []
    for number in range(COLD_RUNS):
        with measure.in_store(settings) as environ:
            cold.append(measure.hook(prompts[number], f"cold-{number}", environ))
    states = [state for ran in cold for state in ran.states.values()]
    ratios = [ran.ms / floor for ran, floor in zip(warm, floors[5:], strict=True)]
    return Size(
        notes=size,
        floor=spread(floors),
        warm=spread([ran.ms for ran in warm]),
        ratio=statistics.median(ratios),
        steps={name: statistics.median(ran.steps[name] for ran in warm if name in ran.steps) for name in warm[0].steps},
        reranked=spread(reranked),
        cold=spread([ran.ms for ran in cold]),
        cold_words=max(ran.steps.get(name, 0.0) for ran in cold for name in AT_ONCE),
        cold_states={state: states.count(state) for state in sorted(set(states))},
        crowd=spread([ran.ms for ran in crowds]),
        crowd_empty=empty,
        processes_cpu=hooks_cpu / count,
        floor_cpu=floor_cpu,
        daemon_cpu=daemon_cpu / count,
        daemon_mb=memory,
        index_s=stores.index_seconds(settings),
    )


def table(sizes: list[Size], count: int) -> str:
    """One table for people, p50 / p95 in milliseconds."""
    first = sizes[0]
    rows: list[tuple[str, list[str]]] = [
        (f"floor: bash and {measure.INTERPRETERS} bare interpreters", [str(one.floor) for one in sizes]),
        ("whole hook, warm", [str(one.warm) for one in sizes]),
        ("hook / floor (median of pairs)", [f"{one.ratio:.2f}" for one in sizes]),
        ("whole hook, warm, reranker 100 ms", [str(one.reranked) for one in sizes]),
        ("whole hook, cold (no daemon)", [str(one.cold) for one in sizes]),
        ("  keyword and correction-key there, at most", [f"{one.cold_words:.0f}" for one in sizes]),
        ("  states of its lanes", [", ".join(f"{n} {s}" for s, n in one.cold_states.items()) for one in sizes]),
        ("twenty hooks at once", [str(one.crowd) for one in sizes]),
        ("  empty that are not empty alone", [str(one.crowd_empty) for one in sizes]),
        ("CPU of the hook's processes", [f"{one.processes_cpu:.0f}" for one in sizes]),
        ("  of the floor's", [f"{one.floor_cpu:.0f}" for one in sizes]),
        ("CPU of the daemon", [f"{one.daemon_cpu:.0f}" for one in sizes]),
        ("daemon memory, MB", [f"{one.daemon_mb:.0f}" for one in sizes]),
        ("index made in, s", [f"{one.index_s:.0f}" for one in sizes]),
    ]
    rows += [(f"  {name} ends at", [f"{one.steps.get(name, 0):.0f}" for one in sizes]) for name in first.steps]
    head = f"| {count} prompts, p50 / p95 ms | " + " | ".join(f"{one.notes:,} notes" for one in sizes) + " |"
    lines = [head, "|---|" + "---:|" * len(sizes)]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows)])


def _record(sizes: list[Size], count: int) -> None:
    value: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "prompts": count,
        "sizes": [one._asdict() for one in sizes],
    }
    RECORD.write_text(json.dumps(value, indent=1) + "\n")
    _chart(sizes, RECORD.with_suffix(".svg"))


def _chart(sizes: list[Size], path: Path) -> None:
    from chitta.evaluate.figures import times_by_size

    lines = {
        "floor": [one.floor for one in sizes],
        "warm": [one.warm for one in sizes],
        "warm, reranker 100 ms": [one.reranked for one in sizes],
        "cold": [one.cold for one in sizes],
        "twenty at once": [one.crowd for one in sizes],
    }
    times_by_size(path, [one.notes for one in sizes], lines)


if __name__ == "__main__":
    sys.exit(main())
