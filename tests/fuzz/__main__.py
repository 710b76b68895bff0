"""The command of tests/fuzz/run; see there."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]


def main(words: list[str]) -> int:
    asked = _asked(words)
    os.environ["HOME"] = home = tempfile.mkdtemp(prefix="chitta-fuzz-")
    for name in list(os.environ):
        if name.startswith("CHITTA_"):
            del os.environ[name]
    os.environ["CHITTA_HOME"] = os.path.join(home, ".chitta")
    tempfile.tempdir = None
    try:
        if asked.guided_one:
            return _guided_one(asked)
        return _all(asked)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _asked(words: list[str]) -> argparse.Namespace:
    reader = argparse.ArgumentParser(prog="tests/fuzz/run", description="See the head of tests/fuzz/run.")
    reader.add_argument("--seconds", type=float, default=60.0, help="time over all targets (60)")
    reader.add_argument("--target", action="append", default=[], help="only this one; may be given again")
    reader.add_argument("--seed", type=int, default=None, help="of the random numbers (0; with hours, one of your own)")
    reader.add_argument("--engine", choices=("auto", "plain", "guided"), default="auto")
    reader.add_argument("--repeat", type=Path, help="run the target on this file alone")
    reader.add_argument("--list", action="store_true", help="name the targets")
    reader.add_argument("--corpus", type=Path, help="folder where guided runs keep inputs that reach new code")
    reader.add_argument("--guided-one", action="store_true", help=argparse.SUPPRESS)
    asked = reader.parse_args(words)
    asked.seed = asked.seed or 0
    return asked


def _all(asked: argparse.Namespace) -> int:
    from tests.fuzz.finder import Finder, fault
    from tests.fuzz.table import TARGETS

    if asked.list:
        print("\n".join(TARGETS))
        return 0
    unknown = [name for name in asked.target if name not in TARGETS]
    if unknown or (asked.repeat and len(asked.target) != 1):
        print("chitta: name a target of: " + " ".join(TARGETS), file=sys.stderr)
        return 2
    if asked.repeat:
        problem = fault(TARGETS[asked.target[0]].run, asked.repeat.read_bytes())
        if problem is not None:
            raise problem
        print("1 passed, 0 failed, 0 skipped")
        return 0
    guided = asked.engine == "guided" or (asked.engine == "auto" and importlib.util.find_spec("atheris") is not None)
    names = asked.target or list(TARGETS)
    share = asked.seconds / len(names)
    failed = 0
    print(f"engine {'atheris' if guided else 'plain'}, seed {asked.seed}, {share:.1f} s a target")
    for name in names:
        finder = Finder(TARGETS[name], asked.seed)
        begun = time.monotonic()
        if guided:
            runs, found = _guided(asked, name, share)
        else:
            _plain(finder, share)
            runs, found = finder.runs, len(finder.names)
        failed += bool(found)
        print(f"{name:14} {runs:9,} runs  {time.monotonic() - begun:6.1f} s  {found} found", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


def _plain(finder: object, seconds: float) -> None:
    """The seeds as they are, then changed ones until the time is over: the n-th of a seed is always the same."""
    from tests.fuzz.finder import Finder
    from tests.fuzz.mutate import mutated

    assert isinstance(finder, Finder)
    target, end = finder.target, time.monotonic() + seconds
    seeds = target.seeds()
    for data in seeds:
        finder.look(data)
    random = Random(f"{finder.seed} {target.name}")
    while time.monotonic() < end:
        finder.look(mutated(random, seeds, target.words, target.most_bytes))


def _guided(asked: argparse.Namespace, name: str, seconds: float) -> tuple[int, int]:
    """One target in a process of its own, which libFuzzer ends; runs and findings."""
    command = [sys.executable, "-m", "tests.fuzz", "--guided-one", "--target", name, "--seconds", str(seconds)]
    command += ["--seed", str(asked.seed), *(["--corpus", str(asked.corpus)] if asked.corpus else [])]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    told = done.stdout.rsplit("runs ", 1)[-1].split()
    return (int(told[0]), int(told[1])) if len(told) >= 2 and told[0].isdigit() else (0, 1)


def _guided_one(asked: argparse.Namespace) -> int:
    """Coverage-guided: the product is instrumented as it is imported, so nothing of it may be imported before."""
    import atheris

    with atheris.instrument_imports(include=["chitta"]), contextlib.redirect_stdout(sys.stderr):
        from tests.fuzz.finder import Finder
        from tests.fuzz.mutate import WORDS
        from tests.fuzz.table import TARGETS

    target = TARGETS[asked.target[0]]
    finder = Finder(target, asked.seed)
    end = time.monotonic() + asked.seconds
    seeds = target.seeds()
    home = Path(os.environ["HOME"])
    begin, kept = home / "seeds", (asked.corpus / target.name) if asked.corpus else home / "corpus"
    for folder in (begin, kept):
        folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds):
        (begin / f"{number:04}").write_bytes(data)
    (home / "words").write_text("".join(f'"{_escaped(word)}"\n' for word in (*WORDS, *target.words) if len(word) < 64))

    def once(data: bytes) -> None:
        if time.monotonic() >= end:  # libFuzzer looks at its own clock too seldom
            print(f"runs {finder.runs} {len(finder.names)}", flush=True)
            shutil.rmtree(home, ignore_errors=True)
            os._exit(0)
        finder.look(data)

    options = [f"-seed={asked.seed + 1}", f"-max_len={target.most_bytes}", f"-dict={home / 'words'}", "-timeout=600"]
    sys.stdout.flush()
    _quiet()
    atheris.Setup([sys.argv[0], *options, "-rss_limit_mb=4096", str(kept), str(begin)], once)
    atheris.Fuzz()
    return 0


def _quiet() -> None:
    """libFuzzer tells of every new input on standard error; findings are written there by Python's own stream."""
    mine = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = os.fdopen(mine, "w", buffering=1)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
