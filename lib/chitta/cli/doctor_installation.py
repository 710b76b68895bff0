"""Checks of what was installed: interpreter, packages, hook, lanes, models."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from chitta.admission import policy
from chitta.cli import checkout, output
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings

OLDEST_PYTHON = (3, 10)
#: What the product imports, by module name.
PACKAGES = ("filelock", "numpy", "onnxruntime", "orjson", "rich", "tantivy", "tokenizers", "typer", "yaml")
_AGAIN = "run install.sh again"
_HOOK_PATIENCE_S = 15.0


def interpreter(settings: Settings) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding(
            "interpreter", FAIL, f"Python {version} is too old", "install Python 3.10 or later, then " + _AGAIN
        )
        return
    pinned = hook_interpreter(settings)
    if pinned is not None and not os.access(pinned, os.X_OK):
        yield Finding("interpreter", FAIL, f"the hook's interpreter {pinned} is not there", _AGAIN)
        return
    where = f"Python {version} in {sys.prefix}"
    if sys.prefix == sys.base_prefix:
        yield Finding("interpreter", WARN, f"{where}, which is no environment of its own", _AGAIN)
    elif pinned is not None and not _same_environment(pinned):
        yield Finding("interpreter", WARN, f"{where}, but the hook runs {pinned}", "start chitta through bin/chitta")
    else:
        yield Finding("interpreter", OK, where)


def hook_interpreter(settings: Settings) -> str | None:
    """What the hook runs its steps with: CHITTA_PYTHON, else the one that install.sh made in the checkout."""
    named = settings.text("CHITTA_PYTHON")
    root = checkout.root()
    return named or (str(root / ".venv" / "bin" / "python") if root is not None else None)


def _same_environment(python: str) -> bool:
    return Path(python).parent.resolve() == Path(sys.prefix, "bin").resolve() or os.path.samefile(
        python, sys.executable
    )


def packages(settings: Settings) -> Iterator[Finding]:
    missing = []
    for name in PACKAGES:
        try:
            importlib.import_module(name)
        except Exception as problem:  # a broken binary package raises what it likes
            missing.append(f"{name} ({type(problem).__name__}: {problem})")
    if missing:
        yield Finding("packages", FAIL, f"cannot be imported: {'; '.join(missing)}", _AGAIN)
    else:
        yield Finding("packages", OK, f"all {len(PACKAGES)} can be imported")


def hook(settings: Settings) -> Iterator[Finding]:
    root = checkout.root()
    if root is None:
        yield Finding("hook", FAIL, "hooks/prompt-core.sh is not beside this package", "run chitta from its checkout")
        return
    parts = [
        root / checkout.HOOK,
        root / "bin" / "chitta-turn",
        root / "bin" / "chitta-merge",
        root / "bin" / "chittad",
    ]
    bad = [path for path in parts if not os.access(path, os.X_OK)]
    if bad:
        names = " ".join(str(path) for path in bad)
        yield Finding("hook", FAIL, f"not executable: {names}", f"chmod +x {names}")
        return
    yield _run_hook(root / checkout.HOOK, settings)


def _run_hook(path: Path, settings: Settings) -> Finding:
    """Run the hook with nothing to do and next to no PATH: what an agent started from a desktop would give it."""
    environ = {name: value for name, value in os.environ.items() if name.startswith("CHITTA_")}
    environ |= {"PATH": "/usr/bin:/bin", "CHITTA_HOME": settings.home}
    environ |= {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [str(path)], input=b"{}", capture_output=True, env=environ, timeout=_HOOK_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding("hook", FAIL, f"it did not end within {_HOOK_PATIENCE_S:g} seconds", _AGAIN)
    except OSError as problem:
        return Finding("hook", FAIL, f"{path} cannot be run: {problem.strerror}", _AGAIN)
    ms = (time.perf_counter() - started) * 1000
    if done.returncode != 0 or done.stdout:
        said = output.one_line(done.stdout.decode("utf-8", "replace"), 100)
        return Finding("hook", FAIL, f"given nothing, it ended with {done.returncode} and printed {said!r}", _AGAIN)
    return Finding("hook", OK, f"{path} runs, {ms:.0f} ms when there is nothing to do")


def lanes(settings: Settings) -> Iterator[Finding]:
    root = checkout.root()
    if root is None:
        return
    there = {path.name for path in checkout.lane_files(root)}
    missing = [row.lane for row in policy.LANES if row.lane not in there]
    if missing:
        files = " ".join(f"{root}/lanes/{name}" for name in missing)
        yield Finding(
            "lanes", FAIL, f"missing or not executable: {', '.join(missing)}", f"chmod +x {files}; or {_AGAIN}"
        )
    else:
        yield Finding("lanes", OK, f"all {len(policy.LANES)} can be started" + _extras(there))


def _extras(there: set[str]) -> str:
    extras = sorted(there - set(policy.BY_LANE))
    return f"; in shadow: {', '.join(extras)}" if extras else ""


def models(settings: Settings) -> Iterator[Finding]:
    """Each role's model: whether it can load, and whether its files are byte for byte what was published."""
    from chitta.models import registry

    bad = [check for check in registry.verify(settings) if not check.good]
    for fact in registry.describe(settings):
        if fact.problem:
            yield Finding("models", FAIL, f"{fact.role}: {fact.problem}", fact.hint)
            continue
        files = [check.path for check in bad if check.model == fact.name]
        if files:
            yield Finding("models", FAIL, f"{fact.role}: not as published: {', '.join(files)}", _AGAIN)
        else:
            checked = "sha256 verified" if fact.kind == "shipped" else fact.kind
            yield Finding("models", OK, f"{fact.role}: {fact.name}, {checked}")
