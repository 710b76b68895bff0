"""Times of the real hook as a waiting person has them: from the start of the process to the end of its output."""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from chitta.evaluate.bench_store import environment
from chitta.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "hooks" / "prompt-core.sh"
PYTHON = ROOT / ".venv" / "bin" / "python"
#: Interpreters a prompt: one a lane, the first step, merge.
INTERPRETERS = sum(1 for lane in (ROOT / "lanes").iterdir() if re.fullmatch("[a-z-]+", lane.name)) + 2
#: What costs as many interpreters before they do anything.
_FLOOR = 'for _ in $2; do "$1" -I -S -E -c pass & jobs="$jobs $!"; done; for job in $jobs; do wait $job || exit; done'
#: Apart from the sessions of earlier runs, which have been shown what there is.
_RUN = f"{time.time_ns():x}"
_PROFILE = re.compile(r"(\S+)=(\d+)ms(?:\((\w+)\))?")


class Ran(NamedTuple):
    """One run of the hook: milliseconds of the whole, of each step, each lane's state, and what was printed."""

    ms: float
    steps: dict[str, float]
    states: dict[str, str]
    output: str


class Spread(NamedTuple):
    """Median and 95th percentile, in milliseconds."""

    p50: float
    p95: float

    def __str__(self) -> str:
        return f"{self.p50:.0f} / {self.p95:.0f}"


def spread(values: Sequence[float]) -> Spread:
    ranked = sorted(values)
    return Spread(statistics.median(ranked), ranked[min(int(0.95 * len(ranked)), len(ranked) - 1)])


@contextmanager
def in_store(settings: Settings, **changes: str) -> Iterator[dict[str, str]]:
    """The environment of a hook over the store, with a run folder of its own; its daemon is stopped afterwards."""
    with tempfile.TemporaryDirectory(prefix="chitta-bench-") as folder:
        environ = environment(settings.home, {"CHITTA_RUN_DIR": folder, "CHITTA_REALM": "global", **changes})
        environ["CHITTA_RECALL_PROFILE"] = "1"
        try:
            yield environ
        finally:
            chitta(environ, "stop")


def chitta(environ: Mapping[str, str], *arguments: str) -> str:
    command = [str(ROOT / "bin" / "chitta"), *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False).stdout


def status(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(chitta(environ, "status", "--json"))["daemon"]
    return found


def start(environ: Mapping[str, str], prompts: Sequence[str]) -> None:
    """A daemon with its models, that has answered a few prompts."""
    chitta(environ, "start")
    for number, prompt in enumerate(prompts[:5]):
        hook(prompt, f"warm-{number}", environ)


def floor() -> float:
    return _timed(["bash", "-c", _FLOOR, "floor", str(PYTHON), " ".join("x" * INTERPRETERS)], b"", None)[0]


def hook(prompt: str, session: str, environ: Mapping[str, str]) -> Ran:
    payload = {"session_id": f"{_RUN}-{session}", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    ms, output, told = _timed([str(HOOK), "claude"], json.dumps(payload).encode(), environ)
    found = _PROFILE.findall(told)
    return Ran(ms, {name: float(value) for name, value, _ in found}, {name: s for name, _, s in found if s}, output)


def crowd(prompts: Sequence[str], environ: Mapping[str, str], at_once: int = 20) -> list[Ran]:
    """So many hooks started at the same moment, each of a new session: a note is shown once in one."""
    moment = time.monotonic_ns()
    with ThreadPoolExecutor(at_once) as pool:
        asked = [pool.submit(hook, prompts[n % len(prompts)], f"crowd-{moment}-{n}", environ) for n in range(at_once)]
        return [one.result() for one in asked]


def cpu_of_children() -> float:
    """Milliseconds of CPU that ended children have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def cpu_of(pid: int) -> float:
    """Milliseconds of CPU that a process has used, as `ps` has it."""
    told = subprocess.run(["ps", "-o", "time=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    stat = Path(f"/proc/{pid}/stat")
    if stat.exists():  # to the clock's tick, where ps says whole seconds
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
    parts = [float(part) for part in re.split("[:-]", told.strip()) if part]
    return 1000 * sum(part * float(60**place) for place, part in enumerate(reversed(parts)))


def _timed(command: Sequence[str], payload: bytes, environ: Mapping[str, str] | None) -> tuple[float, str, str]:
    started = time.perf_counter()
    done = subprocess.run(command, input=payload, capture_output=True, env=environ, check=True)
    return (time.perf_counter() - started) * 1000, done.stdout.decode(), done.stderr.decode()
