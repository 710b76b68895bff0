"""What the daemon answers: the verbs of the wire, each with its reply code."""

from __future__ import annotations

import gc
import itertools
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from chitta import leftovers
from chitta.breadcrumb import place_of
from chitta.daemon import memory
from chitta.daemon.desk import Desk
from chitta.daemon.environment import Environment, OtherStore
from chitta.daemon.freshness import Freshness
from chitta.daemon.graphs import GraphBuilder
from chitta.daemon.library import Library
from chitta.daemon.logbook import Logbook
from chitta.daemon.refusal import Refusal
from chitta.daemon.server import Answer
from chitta.daemon.warmup import Loaders, Models
from chitta.daemon.writing import Writer
from chitta.safety import secrets
from chitta.settings import Settings
from chitta.wire import codec
from chitta.wire.codec import LATE, MISUSE, OK, UNAVAILABLE, Head
from chitta.wire.request import Request, encode_request, parse_request
from chitta.wire.rows import LaneResult, encode_rows, parse_rows

if TYPE_CHECKING:
    from chitta.admission.calibration import Calibration
    from chitta.gateway.engine import Engine
    from chitta.index.snapshot import Snapshot
    from chitta.models.protocol import Embedder

#: Lanes that ask for the nearest notes by meaning, and so are worth waiting for the embedder.
MEANING = frozenset({"semantic", "context", "hybrid", "cross-realm", "correction"})
#: Share of a lane's time that may go into waiting for something to load.
WAIT_SHARE = 0.6
_LOADING_S = 60.0
#: Seconds that are left to the prompt that started the daemon before what only writing needs is made ready.
_FIRST_PROMPT_S = 0.5


class Parts(NamedTuple):
    """The daemon's working parts."""

    environment: Environment
    log: Logbook
    library: Library
    models: Models
    writer: Writer
    freshness: Freshness


def assemble(environment: Environment, log: Logbook, loaders: Loaders) -> Parts:
    """Put the parts together; nothing is loaded yet."""
    library = Library(log)

    def usable() -> Embedder | None:
        return models.loaded().embedder

    def embed_what_waits() -> None:
        writer.vectors(environment.own())

    models = Models(loaders, log, embed_what_waits)
    writer = Writer(library, usable, log)
    return Parts(environment, log, library, models, writer, Freshness(library, writer))


class Service:
    """Answers payloads; called from many threads. ``leave`` asks the server to stop."""

    def __init__(self, parts: Parts, leave: Callable[[str], None]) -> None:
        self.parts = parts
        self.leave = leave
        self._count = itertools.count(1)
        self.requests = 0
        self.started = time.monotonic()
        self._calibration = _Calibrations()
        self.graphs = GraphBuilder(parts.log)
        self.desk = Desk()

    def warm_up(self) -> None:
        """Open the index, begin to load the models, and remove what killed processes have left."""
        own = self.parts.environment.own()
        self.parts.freshness.begin(own)
        self.want_models(own)
        swept = leftovers.sweep(own)
        if swept:
            self.parts.log.note("swept", files=len(swept))
        import chitta.merge  # noqa: F401  # what the first prompt will ask for, while its models load

        self.parts.models.wait_for_embedder(_LOADING_S)  # prompts need it first
        time.sleep(_FIRST_PROMPT_S)
        try:
            secrets.make_ready()  # so that a note written by hand is in the next prompt
        except (ImportError, OSError, RuntimeError) as problem:
            self.parts.log.fault("secrets", problem)

    def want_models(self, settings: Settings) -> None:
        """Have the models loaded that prompts use under these settings; only a budget makes it the reranker as well."""
        self.parts.models.want(settings, rerank=settings.integer("CHITTA_RERANK_BUDGET_MS") > 0)

    def answer(self, payload: bytes, arrived: float) -> Answer:
        """The reply to one request. Never raises: what goes wrong is a reply too."""
        verb = "?"
        self.requests = next(self._count)
        try:
            head, body = codec.decode_request_payload(payload)
            verb = head.verb
            return self._answer(head, body, arrived)
        except Refusal as refusal:
            return _reply(refusal.code, refusal.why.encode())
        except OtherStore as problem:
            return _reply(MISUSE, str(problem).encode())
        except Exception as problem:
            if verb == "?" and isinstance(problem, ValueError):
                return _reply(MISUSE, str(problem).encode("utf-8", "replace"))
            self.parts.log.fault("request", problem, verb=verb)
            return _reply(UNAVAILABLE, f"the daemon failed: {type(problem).__name__} at {place_of(problem)}".encode())

    def _answer(self, head: Head, body: bytes, arrived: float) -> Answer:
        settings = self.parts.environment.of(head.environ)
        if head.verb == "lane":
            return self._lane(_argument(head), body, settings, arrived)
        if head.verb == "turn":
            return self._turn(head, body, settings)
        if head.verb == "merge":
            return self._merge(body, settings, arrived)
        if head.verb == "call":
            from chitta.daemon.calls import call

            return call(self, _argument(head), body, settings)
        raise Refusal(MISUSE, f"no verb {head.verb[:40]!r}")

    # lane

    def _lane(self, lane: str, body: bytes, settings: Settings, arrived: float) -> Answer:
        try:
            request = parse_request(body)
        except ValueError as problem:
            raise Refusal(MISUSE, str(problem)) from None
        end = arrived + request.deadline_ms / 1000
        self.want_models(settings)
        if lane not in MEANING and self._opens(settings):
            raise Refusal(UNAVAILABLE, "the index is still being opened")  # the lane knows words and opens it itself
        self.wait_for_index(arrived + request.deadline_ms / 1000 * WAIT_SHARE)
        self.parts.freshness.before_lane(settings, patient=lane in MEANING)
        if lane in MEANING:
            wait_ms = min(settings.integer("CHITTA_WARM_WAIT_MS"), request.deadline_ms * WAIT_SHARE)
            self.parts.models.wait_for_embedder(arrived + wait_ms / 1000 - time.monotonic())
        if time.monotonic() >= end:
            raise Refusal(LATE, "the time was over before the lane began")
        return _reply(OK, self._rows(lane, request, settings))

    def _rows(self, lane: str, request: Request, settings: Settings) -> bytes:
        from chitta.gateway.engine import LANES, Unavailable

        if lane not in LANES:
            raise Refusal(MISUSE, f"no lane {lane[:40]!r}")
        with self.parts.library.reading() as snapshot:
            if snapshot is None and self.index_problems():
                raise Refusal(UNAVAILABLE, self.index_problems()[0])
            try:
                header, rows = self.engine(snapshot, settings).rows(lane, request, settings)
            except Unavailable as problem:
                raise Refusal(UNAVAILABLE, str(problem)) from None
        return encode_rows(header, rows)

    def wait_for_index(self, until: float) -> None:
        """Wait until the index is open or surely empty. Raises :class:`Refusal` when that takes too long."""
        if not self.parts.library.opened.wait(max(0.0, until - time.monotonic())):
            raise Refusal(UNAVAILABLE, "the index is still being opened")

    def _opens(self, settings: Settings) -> bool:
        """Whether there is an index that is not open yet."""
        from chitta.index import generation

        return not self.parts.library.opened.is_set() and generation.current(settings.index_dir) is not None

    def index_problems(self) -> list[str]:
        """Why the index is not there or not level, as far as the daemon has tried."""
        return [*filter(None, (self.parts.library.problem,)), *self.parts.writer.problems]

    def engine(self, snapshot: Snapshot | None, settings: Settings) -> Engine:
        """An engine over ``snapshot`` with the models that can be used right now."""
        from chitta.gateway.engine import Engine

        loaded = self.parts.models.loaded()
        return Engine(
            settings,
            snapshot,
            loaded.embedder,
            loaded.reranker,
            self._calibration.of(settings),
            warming=loaded.warming,
            readings=self.parts.library.readings(snapshot),
        )

    def rest(self) -> None:
        """Let go of what only served the last prompts, and see to what makes the next ones faster."""
        self.parts.library.forget_readings()
        gc.collect()  # what is held by circles alone keeps old snapshots open, each with a thread of the keyword index
        memory.give_back()
        with self.parts.library.reading() as snapshot:
            self.graphs.see_to(snapshot)

    # turn

    def _turn(self, head: Head, body: bytes, settings: Settings) -> Answer:
        from urllib.parse import unquote

        from chitta.folders import open_to_others
        from chitta.turn import prepare

        if open_folder := open_to_others(settings.home, settings.notes_dir):  # since the daemon was started
            return _reply(UNAVAILABLE, open_folder.encode("utf-8", "replace"))
        words = [unquote(word, errors="surrogateescape") for word in head.arguments]
        harness, cwd = (*words, "", "")[:2]
        self.want_models(settings)
        turn = prepare(body, settings=settings, harness=harness, cwd=cwd, run=f"d{time.time_ns():x}")
        facts = "".join(f"{name}={value}\n" for name, value in turn.facts.items()).encode()
        if turn.request is None:
            return _reply(OK, facts + b"\n")
        self.parts.freshness.before_prompt(settings)
        texts = _texts_to_embed(turn.request, turn.facts)
        return _reply(OK, facts + b"\n" + encode_request(turn.request), lambda: self._embed_ahead(texts, settings))

    def _embed_ahead(self, texts: list[tuple[str, bool]], settings: Settings) -> None:
        """Embed while the lanes are being started; they find the vectors done or under way."""
        from chitta.gateway.meaning import as_search

        embedder = self.parts.models.loaded().embedder
        if embedder is not None:
            for text, asks in texts:
                if asks:
                    embedder.embed_query(as_search(text, embedder, settings))
                embedder.embed_query(text)

    # merge

    def _merge(self, body: bytes, settings: Settings, arrived: float) -> Answer:
        from chitta.merge import finish

        try:
            (name, facts, raw), *rest = codec.decode_parts(body)
            if name != "request":
                raise ValueError("a merge begins with its request")
            request = parse_request(raw)
        except ValueError as problem:
            raise Refusal(MISUSE, str(problem)) from None
        results = [_lane_result(facts, data) for name, facts, data in rest if name == "lane"]
        within_ms = _milliseconds(facts.get("within_ms", ""))
        if within_ms and (time.monotonic() - arrived) * 1000 >= within_ms:
            raise Refusal(LATE, "nobody waits for this merge any more")  # who asked merges, and logs, by itself
        total_ms = _milliseconds(facts.get("total_ms", "")) or max((result.ms for result in results), default=0.0)
        finished = finish(
            request, results, settings=settings, total_ms=total_ms, calibration=self._calibration.of(settings)
        )
        body = codec.encode_part("out", finished.stdout) + codec.encode_part("err", finished.stderr)
        texts = (request.query, request.context_query)
        return _reply(OK, body, lambda: self.parts.library.forget_readings(*texts))


class _Calibrations:
    """The calibration of the store, read again when its file changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._calibration: Calibration | None = None

    def of(self, settings: Settings) -> Calibration:
        import os

        from chitta.admission import calibration

        try:
            found = os.stat(os.path.join(settings.home, "calibration.json"))
            stamp = (found.st_mtime_ns, found.st_size)
        except OSError:
            stamp = (0, 0)
        with self._lock:
            if self._calibration is None or stamp != self._stamp:
                self._calibration, self._stamp = calibration.load(settings), stamp
            return self._calibration


def _reply(code: int, body: bytes, afterwards: Callable[[], None] | None = None) -> Answer:
    return Answer(codec.encode_reply_payload(code, body), afterwards)


def _argument(head: Head) -> str:
    """The verb's own word: the lane, the operation, the harness."""
    if not head.arguments:
        raise Refusal(MISUSE, f"{head.verb} of what?")
    return head.arguments[0]


def _texts_to_embed(request: Request, facts: dict[str, str]) -> list[tuple[str, bool]]:
    """What the lanes that are about to be launched will ask the embedder for, and whether it is searched with."""
    launched = MEANING - set(facts.get("skip", "").split())
    if "only" in facts:
        launched &= set(facts["only"].split())
    texts = [(request.query, True)] if launched - {"context"} else []
    return texts + [(turn, False) for turn in request.context_turns if "context" in launched]


def _lane_result(facts: dict[str, str], data: bytes) -> LaneResult:
    state = facts.get("state", "crash")
    return parse_rows(facts.get("name", ""), state, _milliseconds(facts.get("ms", "")), data)


def _milliseconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0.0 <= number < 1e9 else 0.0
