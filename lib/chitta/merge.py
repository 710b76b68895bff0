"""The merge: what the lanes answered becomes what the hook prints.

Dedupe against the session, admit, render, log. The same code runs in the daemon and, when the
daemon is away, in the merge process. Keeping state may fail; the output never does for it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from chitta import recall_log
from chitta.admission.gate import admit
from chitta.admission.policy import FAILED_STATES
from chitta.admission.verdict import ADMITTED, Bands, Verdict
from chitta.render.block import compose, for_person
from chitta.render.envelope import envelope
from chitta.render.neutral import neutral
from chitta.safety.screen import screened
from chitta.sessions import Held
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult

#: Shared tokens that a line for a candidate spells out.
_SHOWN_TOKENS = 8


class Finished(NamedTuple):
    """The bytes to print (b"" for silence), and lines for standard error (CHITTA_ADMIT_DEBUG=1)."""

    stdout: bytes
    stderr: bytes


def finish(
    request: Request,
    results: Sequence[LaneResult],
    *,
    settings: Settings,
    total_ms: float,
    calibration: Bands | None = None,
    now: float | None = None,
) -> Finished:
    """Decide about one prompt's rows and keep what the session and the log must know.

    ``total_ms`` is the hook's time so far; ``calibration`` is read from the store when not given;
    ``now`` is seconds since the epoch.
    """
    now = time.time() if now is None else now
    bands = calibration or _calibration(settings)
    problems: list[str] = []
    with Held(settings.state_dir, request.session) as held:
        # A merge that took too long is done again by whoever waited; what the first one kept is this run's own.
        again = bool(request.run) and held.session.run == request.run
        own = held.session.recent if again else ()
        shown = tuple(held.session.injected)
        verdict = admit(
            request,
            results,
            seen=[name for name in held.session.injected if name not in own],
            recent=() if again else held.session.recent,
            settings=settings,
            calibration=bands,
            now=now,
        )
        block = compose(verdict, results, settings)
        try:
            held.record(
                turn=request.turn,
                topic=screened(request.query) if request.tokens else "",
                injected=[item.row.id for item in block.verdict.admitted if not item.pointer],
                realm=request.realm,
                run=request.run,
            )
        except OSError as problem:
            problems.append(f"session not kept: {problem.strerror}")
    line = recall_log.entry(
        request,
        results,
        block.verdict,
        settings=settings,
        total_ms=total_ms,
        now=now,
        threshold=bands.threshold,
        problems=problems,
        chars=len(block.text),
    )
    try:
        if not again:
            recall_log.append(settings.state_dir, line)
            _keep_besides(request, results, verdict, problems, settings=settings, now=now, shown=shown)
    except OSError:
        pass  # a store that cannot be written is reported by `chitta doctor`, not to the model
    debug = debug_lines(block.verdict, request.tokens) if settings.flag("CHITTA_ADMIT_DEBUG") else ()
    return Finished(
        envelope(block.text, request.harness, request.event, for_person(verdict)),
        "".join(f"{text}\n" for text in debug).encode("utf-8", "replace"),
    )


def debug_lines(verdict: Verdict, tokens: Collection[str]) -> Iterable[str]:
    """One line a candidate: band, lane, id, its evidence, the turn's tokens in it, and what became of it.

    ``small=yes`` says that the easier terms of a small realm were applied.
    """
    from chitta.admission.why import eased

    terms = verdict.terms
    for tag, row, outcome in verdict.trace:
        shared = ["".join(neutral(token).split()) for token in row.shared if token in tokens]
        more = f"+{len(shared) - _SHOWN_TOKENS}" if len(shared) > _SHOWN_TOKENS else ""
        yield (
            f"chitta: {verdict.band or 'unmeasured'} {tag} {neutral(row.id)!r} conf={row.conf:.2f} cos={row.cos:.2f} "
            f"bm25={row.bm25:.1f} shared={','.join(shared[:_SHOWN_TOKENS]) or 'none'}{more} "
            f"small={'yes' if eased(tag, row.realm, terms) else 'no'} "
            f"{outcome if outcome == ADMITTED else f'dropped {outcome}'}"
        )


def _keep_besides(
    request: Request,
    results: Sequence[LaneResult],
    verdict: Verdict,
    problems: Sequence[str],
    *,
    settings: Settings,
    now: float,
    shown: Sequence[str],
) -> None:
    """The knowledge gap that an empty answer shows; what failed on the way. Raises ``OSError``."""
    failed = [f"{result.lane} {result.state}" for result in results if result.state in FAILED_STATES]
    if failed or problems:
        from chitta import breadcrumb

        breadcrumb.leave(settings.state_dir, "lanes", "; ".join((*failed, *problems)), now=now)
    elif not verdict.admitted and request.tokens:
        from chitta import gaps

        gaps.note_prompt(request, results, verdict, settings=settings, now=now, seen=shown)


def _calibration(settings: Settings) -> Bands:
    from chitta.admission.calibration import load

    return load(settings)
