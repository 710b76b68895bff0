"""The models of the daemon: loaded in the background, embedder first, and watched while they load.

A request never loads a model. It says which models its settings name; when those are not the
ones that are here, they are loaded behind its back, and whoever can wait a little waits for the
embedder.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from chitta.daemon.embedding import SharedEmbedder
from chitta.daemon.logbook import Logbook, sentence_of
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.models.protocol import Embedder, Reranker

#: Seconds between two loads of other models, so that callers with different settings cannot make the daemon thrash.
SWITCH_REST_S = 60.0
#: Seconds after which a model that could not be loaded is tried again.
RETRY_S = 300.0

_EMBEDDER_KEYS = ("CHITTA_EMBED_MODEL", "CHITTA_EMBED_THREADS")
_RERANKER_KEYS = (
    "CHITTA_RERANK_MODEL",
    "CHITTA_RERANK_ONNX_DIR",
    "CHITTA_RERANK_THREADS",
    "CHITTA_RERANK_MAX_LEN",
)


class ModelState(NamedTuple):
    """What a person is told of one model: ``state`` is unused, loading, ready, failed or off."""

    name: str
    state: str
    reason: str = ""


class Loaded(NamedTuple):
    """The models that can be used right now; ``warming`` while the embedder is still loading."""

    embedder: Embedder | None
    reranker: Reranker | None
    warming: bool


class Loaders(NamedTuple):
    """How models come into being; they raise ``ModelUnavailable`` or whatever a library raises."""

    embedder: Callable[[Settings], Embedder]
    reranker: Callable[[Settings], Reranker | None]


def shipped_loaders() -> Loaders:
    """The registry's loaders; importing it waits until a model is wanted."""

    def embedder(settings: Settings) -> Embedder:
        from chitta.models.registry import load_embedder

        return load_embedder(settings)

    def reranker(settings: Settings) -> Reranker | None:
        from chitta.models.registry import load_reranker

        return load_reranker(settings)

    return Loaders(embedder, reranker)


class _Slot:
    """The place of one model: which one its settings name, whether it is there, and when that was last tried."""

    def __init__(self, names: tuple[str, ...], state: str) -> None:
        self._names = names
        self._key: tuple[str, ...] = ()
        self._began = float("-inf")
        self.state = ModelState("", state)
        self.running = False

    def take(self, settings: Settings) -> bool:
        """Whether the model that these settings name is to be loaded now; then the caller does it."""
        key = tuple(settings.text(name) for name in self._names)
        if self.running or key == self._key and self.state.state != "failed":
            return False
        rest = 0.0 if not self._key else RETRY_S if key == self._key else SWITCH_REST_S
        if time.monotonic() - self._began < rest:
            return False
        self._key, self._began, self.running = key, time.monotonic(), True
        self.state = ModelState(key[0], "loading")
        return True


class Models:
    """The daemon's embedder and reranker. ``on_embedder`` is called once for each embedder that became ready."""

    def __init__(self, loaders: Loaders, log: Logbook, on_embedder: Callable[[], None]) -> None:
        self._loaders = loaders
        self._log = log
        self._on_embedder = on_embedder
        self._changed = threading.Condition()
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._embedding = _Slot(_EMBEDDER_KEYS, "loading")
        self._reranking = _Slot(_RERANKER_KEYS, "unused")

    def want(self, settings: Settings, *, rerank: bool = True) -> None:
        """Begin to load the models that these settings name, unless they are here or tried just now.

        Without ``rerank`` the embedder alone: most prompts are answered without a reranker, and it is large.
        """
        with self._changed:
            embed, rerank = self._embedding.take(settings), rerank and self._reranking.take(settings)
            if embed:
                self._embedder = None
            if rerank:
                self._reranker = None
        if embed or rerank:
            threading.Thread(target=self._load, args=(settings, embed, rerank), name="models", daemon=True).start()

    def loaded(self) -> Loaded:
        """What can be used right now."""
        with self._changed:
            return Loaded(self._embedder, self._reranker, self._embedding.state.state == "loading")

    def wait_for_embedder(self, seconds: float) -> None:
        """Return when the embedder is ready or has failed, or after ``seconds``."""
        self._wait_for(self._embedding, seconds)

    def wait_for_reranker(self, seconds: float) -> None:
        """Return when the reranker is not being loaded, or after ``seconds``."""
        self._wait_for(self._reranking, seconds)

    def states(self) -> dict[str, ModelState]:
        """Both models' states, for people."""
        with self._changed:
            return {"embedder": self._embedding.state, "reranker": self._reranking.state}

    def _wait_for(self, slot: _Slot, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: slot.state.state != "loading", max(0.0, seconds))

    def _load(self, settings: Settings, embed: bool, rerank: bool) -> None:
        if embed:
            self._load_embedder(settings)
        if rerank:
            self._load_reranker(settings)
        # What is loaded now stays; the collector need not walk it again in the middle of a request.
        gc.collect()
        gc.freeze()

    def _load_embedder(self, settings: Settings) -> None:
        name = settings.text("CHITTA_EMBED_MODEL")
        embedder: Embedder | None = None
        started = time.monotonic()
        try:
            embedder = SharedEmbedder(self._loaders.embedder(settings))
            embedder.embed_query("warm")
            state = ModelState(embedder.name, "ready")
        except Exception as problem:
            embedder, state = None, ModelState(name, "failed", sentence_of(problem))
            self._log.fault("embedder", problem, model=name)
        with self._changed:
            self._embedder = embedder
            self._end(self._embedding, state)
        if embedder is not None:
            self._log.note("embedder", model=state.name, seconds=f"{time.monotonic() - started:.2f}")
            self._on_embedder()

    def _load_reranker(self, settings: Settings) -> None:
        name = settings.text("CHITTA_RERANK_MODEL")
        reranker: Reranker | None = None
        started = time.monotonic()
        try:
            reranker = self._loaders.reranker(settings)
            if reranker is None:
                state = ModelState(name, "off")
            else:
                reranker.score("warm", ["warm"])
                state = ModelState(reranker.name, "ready")
        except Exception as problem:
            reranker, state = None, ModelState(name, "failed", sentence_of(problem))
            self._log.fault("reranker", problem, model=name)
        with self._changed:
            self._reranker = reranker
            self._end(self._reranking, state)
        self._log.note("reranker", model=state.name, state=state.state, seconds=f"{time.monotonic() - started:.2f}")

    def _end(self, slot: _Slot, state: ModelState) -> None:
        slot.state, slot.running = state, False
        self._changed.notify_all()
