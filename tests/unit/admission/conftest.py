"""Lanes' answers made by hand, and the gate's word on them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from chitta import settings
from chitta.admission.gate import admit
from chitta.admission.verdict import Verdict
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

TOKENS = ("postgres", "index", "concurrently")
ASKED = Request(prompt="p", query="q", tokens=TOKENS, realm="project:h/o/n", session="s")
LONE = ASKED._replace(tokens=TOKENS[:1])
#: A turn that leans on the one before it.
ANCHORED = ASKED._replace(prompt="same for staging", anchor="the words of the last turn")
STRANGER = "project:other/o/n"
NOON_2026_06_15 = 1_781_524_800.0


class Bands(NamedTuple):
    threshold: float = 0.5

    def percent(self, maxrel: float) -> int:
        return round(maxrel * 50)


def row(name: str, score: float = 1.0, **fields: Any) -> Row:
    """A row that every lane's terms admit."""
    sound: dict[str, Any] = {
        "kind": "insight",
        "realm": ASKED.realm,
        "title": name,
        "text": "text",
        "conf": 0.95,
        "cos": 0.8,
        "bm25": 5.0,
        "shared": ("postgres",),
    }
    return Row(name, score, **{**sound, **fields})


def lane(name: str, *rows: Row, maxrel: float | None = None, warming: bool = False, size: int = 0) -> LaneResult:
    return LaneResult(name, "ok", 1.0, Header(name, maxrel=maxrel, warming=warming, size=size), rows)


def judge(
    *results: LaneResult,
    request: Request = ASKED,
    seen: Sequence[str] = (),
    recent: Sequence[str] = (),
    now: float = NOON_2026_06_15,
    **environ: str,
) -> Verdict:
    chosen = settings.load(environ)
    return admit(request, results, seen=seen, recent=recent, settings=chosen, calibration=Bands(), now=now)


def shown(verdict: Verdict) -> list[tuple[str, str]]:
    return [(item.tag, item.row.id) for item in verdict.admitted]


def outcomes(verdict: Verdict) -> list[tuple[str, str, str]]:
    """What became of each candidate, by lane and id."""
    return [(judged.tag, judged.row.id, judged.outcome) for judged in verdict.trace]


def outcome(verdict: Verdict, tag: str, name: str = "a") -> str:
    """What became of the one candidate that a lane brought under this id."""
    (found,) = (judged.outcome for judged in verdict.trace if (judged.tag, judged.row.id) == (tag, name))
    return found
