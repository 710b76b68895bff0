"""A command line over a store of its own, with neither daemon nor model unless a test asks for them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chitta.cli.main import app


class Ran:
    """What one command gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def value(self) -> Any:
        """Standard output as JSON; it must be that and nothing else."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder outside of any repository."""
    place = tmp_path / "work"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture(autouse=True)
def as_it_was(own_home: Path) -> Iterator[None]:
    """What measuring sets for its whole process (a handler of SIGTERM, variables) is gone after the test."""
    handler, names = signal.getsignal(signal.SIGTERM), set(os.environ)
    yield
    signal.signal(signal.SIGTERM, handler)
    for name in [name for name in os.environ if name.startswith("CHITTA_") and name not in names]:
        del os.environ[name]


@pytest.fixture
def chitta(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a command: ``chitta("remember", "text", input="")``."""
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "/no/such/model")
    runner = CliRunner()
    mask = os.umask(0o022)  # a common one: what a command makes must be private all the same

    def run(*words: str, input: str | bytes | None = None) -> Ran:
        done = runner.invoke(app, list(words), input=input, prog_name="chitta")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Ran(done.exit_code, done.stdout, done.stderr)

    yield run
    os.umask(mask)
