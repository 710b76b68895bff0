"""The whole hook, warm, prompt by prompt, interleaved with its floor.

The floor is bash starting as many bare interpreters as the hook starts processes, and waiting for
them: what the shape costs before it does anything. Times are those of a waiting person: from the
start of the process to the end of its output. The store is kept in ``.bench/`` between runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
SAMPLES = ROOT / "lib" / "chitta" / "samples"
HOOK = ROOT / "hooks" / "prompt-core.sh"
PYTHON = ROOT / ".venv" / "bin" / "python"
_PROFILE = re.compile(r"(\S+)=(\d+)ms")

Times = dict[str, float]


def main() -> int:
    options = _options()
    home = ROOT / ".bench" / hashlib.sha256(options.notes.encode()).hexdigest()[:8]
    environ = {**os.environ, "CHITTA_HOME": str(home), "CHITTA_REALM": "global", "CHITTA_RECALL_PROFILE": "1"}
    prompts = _prompts(options.prompts, options.count)
    _fill(options.notes, environ)
    lanes = sum(1 for lane in (ROOT / "lanes").iterdir() if re.fullmatch("[a-z-]+", lane.name))
    try:
        _chitta(environ, "start")
        for prompt in prompts[:3]:
            _hook(prompt, "warm", environ)
        rows = [(_floor(lanes + 2), *_hook(prompt, f"bench-{n}", environ)) for n, prompt in enumerate(prompts)]
        status = json.loads(_chitta(environ, "status", "--json"))
    finally:
        _chitta(environ, "stop")
    _report(rows, lanes, status)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the whole hook against its floor.")
    notes = DATA / "til" / "notes.jsonl"
    prompts = DATA / "golden" / "answerable.jsonl"
    parser.add_argument("--notes", default=str(notes if notes.exists() else SAMPLES / "notes"))
    parser.add_argument("--prompts", default=str(prompts if prompts.exists() else SAMPLES / "prompts.json"))
    parser.add_argument("--count", type=int, default=50)
    return parser.parse_args()


def _prompts(path: str, count: int) -> list[str]:
    """``count`` prompts, from JSON lines or from the samples' file, repeated when there are fewer."""
    text = Path(path).read_text(encoding="utf-8")
    items = json.loads(text)["prompts"] if path.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    found = [item["prompt"] for item in items]
    return (found * (count // len(found) + 1))[:count]


def _fill(notes: str, environ: dict[str, str]) -> None:
    if not Path(environ["CHITTA_HOME"], "index", "current").exists():
        print(f"importing {notes} (once)", file=sys.stderr)
        subprocess.run([str(ROOT / "bin" / "chitta"), "import", notes, "--global"], env=environ, check=True)


def _chitta(environ: dict[str, str], *arguments: str) -> str:
    return subprocess.run(
        [str(ROOT / "bin" / "chitta"), *arguments], env=environ, capture_output=True, text=True, check=False
    ).stdout


def _timed(command: Sequence[str], payload: bytes, environ: dict[str, str] | None = None) -> tuple[float, str]:
    """Milliseconds from the start of the process to the end of its output, and its standard error."""
    started = time.perf_counter()
    done = subprocess.run(command, input=payload, capture_output=True, env=environ, check=True)
    return (time.perf_counter() - started) * 1000, done.stderr.decode()


def _floor(processes: int) -> float:
    script = (
        'for _ in $2; do "$1" -I -S -E -c pass & jobs="$jobs $!"; done; for job in $jobs; do wait $job || exit; done'
    )
    return _timed(["bash", "-c", script, "floor", str(PYTHON), " ".join("x" * processes)], b"")[0]


def _hook(prompt: str, session: str, environ: dict[str, str]) -> tuple[float, Times]:
    """Milliseconds of the whole process, and of each step since the hook's first line."""
    payload = json.dumps(
        {"session_id": session, "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    ).encode()
    whole, stderr = _timed([str(HOOK), "claude"], payload, environ)
    return whole, {name: float(ms) for name, ms in _PROFILE.findall(stderr)}


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def _report(rows: list[tuple[float, float, Times]], lanes: int, status: dict[str, object]) -> None:
    floors, wholes = [row[0] for row in rows], [row[1] for row in rows]
    steps = [row[2] for row in rows if "total" in row[2]]
    print(f"{len(rows)} prompts, warm, {status.get('notes')} notes, {lanes} lanes, {lanes + 2} interpreters a prompt")
    print(f"\n{'':22}{'p50 ms':>8}{'p95 ms':>8}")
    for name, values in (("floor", floors), ("whole hook", wholes)):
        print(f"{name:22}{statistics.median(values):8.1f}{_quantile(values, 0.95):8.1f}")
    ratio = statistics.median(whole / floor for floor, whole in zip(floors, wholes, strict=True))
    print(f"{'hook / floor (median)':22}{ratio:8.2f}")
    print(f"\n{'step (median)':22}{'ms':>8}{'share':>8}")
    whole = statistics.median(wholes)
    turn, wait, total = (statistics.median(step[name] for step in steps) for name in ("turn", "wait", "total"))
    parts = (
        ("turn: read, prepare", turn),
        ("lanes: launch to last", wait - turn),
        ("merge: gate, render", total - wait),
        ("shell before and after", whole - total),
    )
    for name, ms in parts:
        print(f"{name:22}{ms:8.1f}{ms / whole:8.0%}")
    print(f"\n{'lane ends at (median)':22}{'ms':>8}")
    for name in sorted(set().union(*steps) - {"turn", "wait", "total"}):
        print(f"{name:22}{statistics.median(step[name] for step in steps if name in step):8.1f}")
    daemon = status.get("daemon")
    memory = daemon.get("rss_bytes") if isinstance(daemon, dict) else None
    if memory:
        print(f"\ndaemon memory {memory / 1e6:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
