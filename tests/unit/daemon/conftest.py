"""A daemon in this process over a home of its own, with an embedder that needs no model file."""

from __future__ import annotations

import gc
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chitta import daemon_client, settings
from chitta.daemon import calls, lifecycle
from chitta.daemon.environment import Environment
from chitta.daemon.logbook import Logbook
from chitta.daemon.server import Server
from chitta.daemon.service import Service, assemble
from chitta.daemon.warmup import Loaders
from chitta.wire import codec

#: Seconds that nothing takes unless it hangs, however busy the machine is.
PATIENCE_S = 120


class WordEmbedder:
    """A deterministic embedder: each word adds one of 64 directions. Counts what it is asked."""

    dim = 64
    instruction = ""

    def __init__(self, name: str = "words-64") -> None:
        self.name = name
        self.queries: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def embed_query(self, text: str) -> np.ndarray:
        self.queries.append(text)
        self.gate.wait(PATIENCE_S)
        return self._vector(text)

    def embed_notes(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> np.ndarray:
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self.dim), np.float32)

    def _vector(self, text: str) -> np.ndarray:
        vector = np.full(self.dim, 1e-3, np.float32)
        for word in text.lower().split():
            vector[
                int.from_bytes(hashlib.sha256(word.strip(".,:?").encode("utf-8", "replace")).digest()[:4], "big")
                % self.dim
            ] += 1
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


class LocalDaemon:
    """The real server, service and parts, in threads of the test's own process."""

    def __init__(self, home: Path, loaders: Loaders, **variables: str) -> None:
        self.environ = {"CHITTA_HOME": str(home), "CHITTA_RUN_DIR": str(home / "run"), **variables}
        self.settings = settings.load(self.environ)
        home.mkdir(parents=True, exist_ok=True)
        lifecycle.private_folder(self.settings.run_dir)
        self.lock = lifecycle.take_lock(self.settings.run_dir)
        self.listener = lifecycle.listen(self.settings.run_dir)
        environment = Environment(self.environ, os.getcwd())
        self.log = Logbook(str(home / "state" / "chittad.log"))
        self.parts = assemble(environment, self.log, loaders)
        self.service = Service(self.parts, lambda reason: self.server.leave(reason))
        self.server = Server(
            self.listener,
            self.service.answer,
            log=self.log,
            idle_s=lambda: environment.own().integer("CHITTA_IDLE_TIMEOUT"),
            busy=self.parts.writer.busy,
            home_is_there=home.is_dir,
        )
        self.reason = ""
        self.thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        self.reason = self.server.serve()

    def start(self) -> LocalDaemon:
        self.thread.start()
        threading.Thread(target=self.service.warm_up).start()
        return self

    def close(self) -> None:
        self.server.leave("the test is over")
        if self.thread.ident is not None:
            self.thread.join(PATIENCE_S)
        os.close(self.lock)
        # A real one ends with its process. What still works here goes on with what it has open.
        end = time.monotonic() + 10
        while self.parts.writer.busy() and time.monotonic() < end:
            time.sleep(0.01)
        if not self.parts.writer.busy():
            with self.parts.library.reading() as snapshot:
                if snapshot is not None and self.parts.library._held.readers == 1:  # nobody but us
                    snapshot.close()

    def ask(self, verb: str, *arguments: str, body: bytes = b"") -> tuple[int, bytes]:
        return daemon_client.ask(self.settings, verb, arguments, body, PATIENCE_S)

    def call(self, operation: str, **body: Any) -> dict[str, Any]:
        return daemon_client.call(self.settings, operation, body, PATIENCE_S)

    def note(self, name: str, text: str, *, realm: str = "global", kind: str = "insight") -> Path:
        """Write a note by hand, as a person with an editor does."""
        path = Path(self.settings.notes_dir) / realm / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        front = f"---\nid: {name}\nkind: {kind}\nrealm: {realm}\ntitle: {name}\n---\n"
        path.write_text(f"{front}{text}\n", encoding="utf-8")
        return path

    def log_text(self) -> str:
        return (Path(self.settings.state_dir) / "chittad.log").read_text()


def lines_of(body: bytes) -> list[dict[str, Any]]:
    return [codec.loads(line) for line in body.splitlines()]


@pytest.fixture
def embedder() -> Iterator[WordEmbedder]:
    made = WordEmbedder()
    yield made
    made.gate.set()


@pytest.fixture
def make_daemon(
    own_home: Path, embedder: WordEmbedder, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., LocalDaemon]]:
    """Make a daemon, not started yet, that is closed after the test. Its callers are in no hurry."""
    for name in ("CHITTA_HOOK_BUDGET_MS", "CHITTA_LANE_LIMIT_MS", "CHITTA_HYBRID_LIMIT_MS"):
        monkeypatch.setenv(name, "60000")
    monkeypatch.setattr(calls, "VECTORS_S", 60.0)
    made: list[LocalDaemon] = []

    def make(loaders: Loaders | None = None, **variables: str) -> LocalDaemon:
        loaders = loaders or Loaders(lambda settings: embedder, lambda settings: None)
        made.append(LocalDaemon(own_home / ".chitta", loaders, **variables))
        return made[-1]

    yield make
    embedder.gate.set()
    for daemon in made:
        daemon.close()
    # A daemon freezes what it has loaded, for the life of its process; this process has many.
    made.clear()
    gc.unfreeze()
    gc.collect()
