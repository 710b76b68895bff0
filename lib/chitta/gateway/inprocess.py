"""A lane answered in its own process, for when the daemon is away.

Words answer at once. Meaning is worth a model load only when the person has forbidden the
daemon: then the lanes that know only meaning load the embedder themselves, within their limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chitta.admission import calibration
from chitta.gateway.engine import LANES, Engine, Unavailable
from chitta.gateway.readings import Readings
from chitta.index.snapshot import open_snapshot
from chitta.settings import Settings, load
from chitta.wire.codec import MISUSE, OK, UNAVAILABLE
from chitta.wire.request import parse_request
from chitta.wire.rows import encode_rows

if TYPE_CHECKING:
    from chitta.models.protocol import Embedder

#: Lanes that know only meaning.
MEANING_LANES = frozenset({"semantic", "context"})


def answer(lane: str, raw_request: bytes, environ: Mapping[str, str]) -> tuple[int, bytes]:
    """The exit code and the rows, or the exit code and one line saying why there are none."""
    try:
        request = parse_request(raw_request)
    except ValueError as problem:
        return MISUSE, str(problem).encode()
    if lane not in LANES:
        return MISUSE, f"no lane named {lane}".encode()
    settings = load(environ)
    means = lane in MEANING_LANES and settings.flag("CHITTA_NO_DAEMON")
    snapshot = open_snapshot(settings.index_dir, with_vectors=means)
    try:
        embedder = _embedder(settings) if means and snapshot is not None else None
        warming = not settings.flag("CHITTA_NO_DAEMON")
        readings = Readings(snapshot, reads=False) if snapshot is not None else None
        engine = Engine(settings, snapshot, embedder, None, calibration.load(settings), warming, readings)
        header, rows = engine.rows(lane, request, settings)
    except Unavailable as problem:
        return UNAVAILABLE, str(problem).encode()
    finally:
        if snapshot is not None:
            snapshot.close()
    return OK, encode_rows(header, rows)


def _embedder(settings: Settings) -> Embedder:
    from chitta.models.registry import ModelUnavailable, load_embedder

    try:
        return load_embedder(settings)
    except ModelUnavailable as problem:
        raise Unavailable(str(problem)) from None
