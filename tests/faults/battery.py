"""The fault battery: the real hook, run by run under faults that a seed draws, and held to its promises.

``battery.py [--runs N] [--seed S] [--workers W] [--only K] [--fault NAME] [--long]`` prints a row a
fault (runs, misses, times that it was slow once and not again) and, for every miss, what to type to
see it again. docs/faults.md says which promises these are.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "bats" / "support"))

from tests.faults import checks, payloads, place_faults, process_faults, world  # noqa: E402
from tests.faults.catalogue import FAULTS, Fault  # noqa: E402
from tests.faults.checks import Ended  # noqa: E402

assert place_faults and process_faults  # they fill the catalogue
#: Slots that are spoilt after the others, which would find nothing to spoil any more.
LAST = ("notes", "index", "home", "disk", "temporary folder")
HARNESSES = ("claude", "claude", "codex", "copilot", "gemini", "cursor", "")
#: Seconds over the budget after which a hook counts as one that never ends.
_GIVE_UP_S = 10.0


def draw(seed: int, number: int, wanted: str, long: bool) -> tuple[random.Random, list[Fault], payloads.Payload, str]:
    """The same for the same seed and number: faults, payload, harness, and the dice for what is left open."""
    dice = random.Random(f"{seed}:{number}")
    pool = [one for one in FAULTS.values() if long or not one.long]
    count = dice.choices((1, 2, 3), (70, 22, 8))[0]
    chosen: list[Fault] = []
    if wanted:
        chosen = [dice.choice([one for one in FAULTS.values() if wanted in one.name])]
        count = 1
    while len(chosen) < count:
        one = dice.choices(pool, [fault.weight for fault in pool])[0]
        if one.slot not in {fault.slot for fault in chosen}:
            chosen.append(one)
    if any("KILL" in one.name for one in chosen):  # who is killed outright ends no lane that hangs
        chosen = [one for one in chosen if one.slot != "lane"]
    return dice, chosen, payloads.draw(dice), dice.choice(HARNESSES)


class Worker:
    """Makes the runs whose number leaves its own remainder."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.checkout = world.Checkout(base / "checkout")
        self.floor_s = 0.0

    def one(self, options: argparse.Namespace, number: int) -> dict[str, Any]:
        """One run, and a second one when it was slow and nothing else: the machine may have been busy."""
        result = self._attempt(options, number, 1)
        if result["problems"] and all(problem.startswith("took ") for problem in result["problems"]):
            second = self._attempt(options, number, 2)
            result = {**second, "slow": not second["problems"]}
        return result

    def _attempt(self, options: argparse.Namespace, number: int, attempt: int) -> dict[str, Any]:
        dice, chosen, payload, harness = draw(options.seed, number, options.fault, options.long)
        folder = self.base / f"{number}-{attempt}"
        run = world.Run(self.checkout, folder, self.base.parent / "store", f"{self.base}-{number}-{attempt}", dice)
        run.harness, run.payload, run.asks = harness, payload.data, payload.asks
        result: dict[str, Any] = {
            "number": number,
            "faults": [one.name for one in chosen],
            "payload": payload.name,
            "harness": harness,
            "problems": [],
            "skipped": "",
            "ms": 0,
            "hooks": 0,
        }
        try:
            for one in sorted(
                chosen, key=lambda fault: (*LAST, fault.slot).index(fault.slot) if fault.slot in LAST else -1
            ):
                try:
                    one.spoil(run)  # another one may have taken away what it spoils
                except (OSError, LookupError, StopIteration, sqlite3.Error) as problem:
                    raise world.NotHere(f"not together: {problem}") from None
            ends = self._call(run)
            result["ms"] = round(max(end.seconds for end in ends) * 1000)
            result["hooks"] = len(ends)
            found = [problem for end in ends for problem in checks.problems_of_end(run, end, payload.asks is not None)]
            found += checks.problems_of_place(run)
            if not found:
                found = self._problems_of_time(run, ends)
            result["problems"] = sorted(set(found))
        except world.NotHere as problem:
            result["skipped"] = str(problem)
        finally:
            process_faults.stop_daemon(run)
            run.close()
            shutil.rmtree(folder, ignore_errors=True)
        return result

    def _problems_of_time(self, run: world.Run, ends: list[Ended]) -> list[str]:
        slowest = max(end.seconds for end in ends) * 1000
        if slowest <= run.budget_ms + checks.GRACE_MS:
            return []
        floor = self.floor(run.together)
        allowed = run.budget_ms + checks.GRACE_MS + floor
        return [f"took {slowest:.0f} ms of {allowed:.0f}"] if slowest > allowed else []

    def floor(self, together: int) -> float:
        """Milliseconds that so many hooks with nothing to do take on this machine at this moment."""
        environment = {"PATH": "/usr/bin:/bin", "CHITTA_NO_DAEMON": "1", "CHITTA_HOME": str(self.base / "nothing")}
        began = time.monotonic()
        started = [
            subprocess.Popen([str(self.checkout.hook)], stdin=subprocess.DEVNULL, env=environment)
            for _ in range(together)
        ]
        for process in started:
            process.wait()
        return (time.monotonic() - began) * 1000

    def _call(self, run: world.Run) -> list[Ended]:
        ends: list[Ended | None] = [None] * run.together

        def call(at: int) -> None:
            ends[at] = call_hook(run)

        threads = [threading.Thread(target=call, args=(at,)) for at in range(run.together)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if None in ends:
            raise RuntimeError("a hook could not be called")
        return [end for end in ends if end is not None]


def call_hook(run: world.Run) -> Ended:
    """Call the hook once, as a harness does, and wait until it has gone and its streams are closed."""
    command = [*run.command, *([run.harness] if run.harness else [])]
    for redirection in ["<&-"] * (run.stdin == "closed") + [">&-"] * (run.stdout == "closed"):
        command = ["/bin/sh", "-c", f'exec "$@" {redirection}', "-", *command]
    output: Any = open("/dev/full", "wb") if run.stdout == "full" else subprocess.PIPE
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL if run.stdin == "null" else subprocess.PIPE,
        stdout=output,
        stderr=subprocess.PIPE,
        env=run.env,
        cwd=run.cwd,
        start_new_session=True,
        preexec_fn=run.before,
    )
    if run.stdout == "full":
        output.close()
    elif run.stdout == "left" and process.stdout is not None:
        process.stdout.close()
        process.stdout = None
    gone = threading.Event()
    helpers = [threading.Thread(target=feed, args=(run, process.stdin, gone))]
    if run.signal is not None:
        helpers.append(threading.Thread(target=send, args=(run.signal, process)))
    streams: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def drain(name: str) -> None:
        stream = getattr(process, name)
        if stream is not None:
            with stream:
                streams[name] = stream.read()

    readers = [threading.Thread(target=drain, args=(name,)) for name in streams]
    for thread in (*helpers, *readers):
        thread.start()
    hung = False
    try:
        process.wait(run.budget_ms / 1000 + _GIVE_UP_S)
        for thread in readers:
            thread.join(_GIVE_UP_S)
        hung = any(thread.is_alive() for thread in readers)
    except subprocess.TimeoutExpired:
        hung = True
    seconds = time.monotonic() - began
    gone.set()
    if hung:
        for pid in checks.marked(run.mark):
            os.kill(pid, signal.SIGKILL)
        process.wait()
    for thread in (*helpers, *readers):
        thread.join()
    return Ended(process.returncode, streams["stdout"], streams["stderr"], seconds, hung)


def feed(run: world.Run, pipe: Any, gone: threading.Event) -> None:
    """Write the payload as the run's ``stdin`` says."""
    if pipe is None:
        return
    data = memoryview(run.payload)
    half = len(data) // 2 if run.stdin == "pieces" else 0
    try:
        if run.stdin == "late":
            gone.wait(0.2)
        if half:
            pipe.write(data[:half])
            pipe.flush()
            gone.wait(0.15)
        pipe.write(data[half:])
        pipe.flush()
        if run.stdin == "open":
            gone.wait()
    except OSError:
        pass
    finally:
        try:
            pipe.close()
        except OSError:
            pass


def send(what: tuple[int, bool, float], process: subprocess.Popen[bytes]) -> None:
    """Send a signal to a hook that is still there."""
    number, group, after = what
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        (os.killpg if group else os.kill)(process.pid, number)


def work(options: argparse.Namespace) -> int:
    """A worker's life: its share of the runs, one line of JSON each on standard output."""
    base = Path(options.base) / f"w{options.worker}"
    worker = Worker(base)
    numbers = [options.only] if options.only is not None else range(options.worker, options.runs, options.workers)
    for number in numbers:
        print(json.dumps(worker.one(options, number)), flush=True)
    return 0


def lead(options: argparse.Namespace) -> int:
    """Start the workers, gather what they say, print the table."""
    began = time.monotonic()
    place = next((path for path in ("/var/tmp", "/dev/shm") if os.access(path, os.W_OK)), None)
    base = tempfile.mkdtemp(prefix="faults.", dir=place)
    results: list[dict[str, Any]] = []
    codes: list[int] = []
    inside = world.namespace()
    environment = {"PATH": os.environ.get("PATH", ""), "FAULT_BATTERY_MOUNTS": "1" if inside else "0"}
    command = [*inside, str(world.PYTHON), "-I", __file__, "--base", base, *options.words]
    workers: list[subprocess.Popen[str]] = []
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        world.make_store(Path(base) / "store")
        workers = [
            subprocess.Popen([*command, "--worker", str(number)], stdout=subprocess.PIPE, env=environment, text=True)
            for number in range(1 if options.only is not None else options.workers)
        ]

        def gather(process: subprocess.Popen[str]) -> None:
            assert process.stdout is not None
            for line in process.stdout:
                results.append(json.loads(line))
                if results[-1]["problems"]:
                    print(miss(options, results[-1]), flush=True)
            codes.append(process.wait())

        threads = [threading.Thread(target=gather, args=(process,)) for process in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for process in workers:
            process.kill()
        shutil.rmtree(base, ignore_errors=True)
    return report(options, results, codes, time.monotonic() - began)


def miss(options: argparse.Namespace, result: dict[str, Any]) -> str:
    """A miss in words, and how to see it again."""
    again = f"./tests/run faults --runs {options.runs} --seed {options.seed} --only {result['number']}"
    again += f" --fault '{options.fault}'" if options.fault else ""
    what = f"{' + '.join(result['faults'])}, payload {result['payload']}, harness {result['harness'] or 'none'}"
    return f"MISS {what}\n  " + "\n  ".join([*result["problems"], f"again: {again}"])


def report(options: argparse.Namespace, results: list[dict[str, Any]], codes: list[int], seconds: float) -> int:
    """The table; 0 where nothing was missed and every worker did its share."""
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    why: dict[str, str] = {}
    for result in results:
        for name in result["faults"]:
            rows[name]["runs"] += not result["skipped"]
            rows[name]["misses"] += bool(result["problems"])
            rows[name]["slow"] += bool(result.get("slow"))
            rows[name]["skipped"] += bool(result["skipped"])
            why[name] = result["skipped"] or why.get(name, "")
    print(f"{'fault':52} {'runs':>5} {'misses':>6} {'slow':>5}")
    for name, row in sorted(rows.items()):
        left_out = f"  {row['skipped']} skipped: {why[name]}" if row["skipped"] else ""
        print(f"{name:52} {row['runs']:5} {row['misses']:6} {row['slow']:5}{left_out}")
    failed = sum(bool(result["problems"]) for result in results) + sum(code != 0 for code in codes)
    skipped = sum(bool(result["skipped"]) for result in results)
    times = sorted(result["ms"] for result in results if not result["skipped"]) or [0]
    hooks = sum(result["hooks"] for result in results)
    print(
        f"seed {options.seed}: {hooks} hooks in {len(results)} runs, {len(rows)} faults, "
        f"{seconds:.0f} s; a run {times[len(times) // 2]} ms in the middle, {times[-1]} ms at most; "
        f"{sum(bool(result.get('slow')) for result in results)} slow once"
    )
    print(f"{len(results) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not results else 0


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Run the hook under faults.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=int, help="make this one run of the seed")
    parser.add_argument("--fault", default="", help="draw only faults whose name holds this")
    parser.add_argument("--long", action="store_true", help="also the faults that take minutes and much disk")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--base", help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    options.words = words
    return lead(options) if options.worker is None else work(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
