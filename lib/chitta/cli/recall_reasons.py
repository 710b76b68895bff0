"""Why a note stands where it does: its ranks, scores and factors at each step, for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chitta.cli import output

if TYPE_CHECKING:
    from chitta.wire.rows import Row

#: Arms as people know them.
_ARMS = {"semantic": "meaning", "keyword": "words"}
_OK, _OFF = "ok", "off"
_WEAK = "weak"
#: Why candidates were left out, in words that follow a number.
CAUSES = {
    "kind": "of another kind",
    "confidence": "below the confidence",
    "before": "from before that time",
    "after": "from after that time",
    "undated": "without a date",
    "unknown then": "not known then",
    "not valid then": "not valid then",
    "superseded": "replaced by others",
    "quarantined": "in quarantine",
    "expired": "expired",
    "bookkeeping": "of bookkeeping",
    "duplicate": "saying the same as another",
    "out of domain": "with too few of the question's words",
    "gone": "gone since",
    _WEAK: "too weakly tied to the question (--show-weak)",
}
CONTRACT = (
    "conf is the calibrated chance (0 to 1) that a note helps. Scores, bm25 and logits only put the notes of one "
    "answer in order: they are no chances, and are not to be compared with another answer's."
)


def lines(row: Row, why: Mapping[str, Any], indent: str) -> list[str]:
    """What each step said of one note, a line a step; steps that did not happen are left out."""
    steps = [("found", _found(why)), ("reranked", _reranked(why)), ("factors", _factors(why))]
    steps += [("score", f"{row.score:.4f}"), ("evidence", _evidence(row))]
    return [
        f"{indent}{output.paint(f'{name:<9}', 'dim')} {piece}" if at == 0 else f"{indent}{'':<9} {piece}"
        for name, words in steps
        if words
        for at, piece in enumerate(output.pieces_of(words, output.width() - len(indent) - 10))
    ]


def foot(
    health: Mapping[str, str],
    dropped: Mapping[str, int],
    reasons: Mapping[str, Mapping[str, Any]] | None = None,
    weak: int = 0,
) -> list[str]:
    """How each arm did, what was left out and why, and what the numbers mean.

    ``reasons`` are those of all notes that are left; ``weak`` so many of them are not shown.
    """
    told = ["", output.paint("The arms", "bold")]
    found = [why.get("arms") or {} for why in (reasons or {}).values()]
    off = [arm for arm, state in health.items() if state == _OFF]
    for arm, state in health.items():
        if state == _OFF:
            continue
        words = state
        if state == _OK:
            count = sum(1 for arms in found if arm in arms)
            words = f"ok, found {count:,} of the {output.plural(len(found), 'note')} left" if found else "ok"
        told += [f"  {output.paint(f'{arm_name(arm):<16}', 'dim')} {output.one_line(words, output.width() - 19)}"]
    if off:
        told += [f"  {output.paint(f'{_OFF:<16}', 'dim')} {', '.join(map(arm_name, off))}"] if health else []
    out = causes({**dropped, _WEAK: weak})
    if out:
        told += output.pieces_of(f"Left out: {', '.join(out)}", output.width())
    elif not found:
        told.append("No arm found a candidate.")
    return [*told, *output.pieces_of(CONTRACT, output.width())]


def causes(dropped: Mapping[str, int]) -> list[str]:
    """``3 of another kind``, the most first."""
    counted = sorted(dropped.items(), key=lambda pair: (-pair[1], pair[0]))
    return [f"{count:,} {CAUSES.get(cause, cause)}" for cause, count in counted if count]


def arm_name(arm: str) -> str:
    return _ARMS.get(arm, arm)


def _found(why: Mapping[str, Any]) -> str:
    """``words 1st (18.2) · meaning 3rd (0.712) · together 1st (0.95)``"""
    told = [_place(arm_name(arm), place) for arm, place in (why.get("arms") or {}).items()]
    if why.get("fused"):
        told.append(_place("together", why["fused"]))
    return " · ".join(told)


def _place(name: str, place: Mapping[str, Any]) -> str:
    return f"{name} {ordinal(int(place['rank']))} ({place['score']:.4g})"


def ordinal(number: int) -> str:
    """``1st``, ``2nd``, ``3rd``, ``4th``, ``11th``."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{'th' if 10 <= number % 100 <= 20 else ending}"


def _reranked(why: Mapping[str, Any]) -> str:
    return f"logit {why['logit']:.3f}" if why.get("logit") is not None else ""


def _factors(why: Mapping[str, Any]) -> str:
    return " · ".join(f"{name} ×{value:.4g}" for name, value in (why.get("factors") or {}).items())


def _evidence(row: Row) -> str:
    told: Sequence[str] = [
        f"conf {row.conf:.2f}" if row.conf >= 0 else "",
        f"cosine {row.cos:.3f}" if row.cos >= 0 else "cosine not measured",
        f"bm25 {row.bm25:.2f}" if row.bm25 > 0 else "",
        f"coverage {row.coverage:.2f}" if row.bm25 > 0 else "",
        f"shared words: {output.one_line(', '.join(row.shared), 120)}" if row.shared else "",
    ]
    return " · ".join(filter(None, told))
