"""The admission policy as a table: every lane that may admit, and on what terms.

docs/admission.md shows this table; ``python -m chitta.admission.policy`` prints it. A lane file
that has no row here runs in shadow: measured and logged, admitting nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.settings import BY_NAME, Settings
from chitta.wire.rows import NOT_MEASURED

#: Least cosine that counts as a note's own evidence.
COS_FLOOR = 0.6
#: A turn with fewer distinctive tokens than this is *lone*: a single word may match by accident.
LONE_TOKENS = 2
#: Least probability of a lone turn's row in a small realm.
SMALL_LONE_CONF_FLOOR = 0.2
#: Least probability of a row where the turn's relevance was not measured: it has to speak for itself.
UNMEASURED_CONF_FLOOR = 0.35
#: A row less sure than this share of the surest one from the same place is left out.
RELATIVE_FLOOR = 0.5
#: The realm whose notes every project may see.
SHARED_REALM = "global"

# What a lane recalls from.
CORRECTION = "correction"
SCOPED = "scoped"
BEYOND = "beyond"

# What becomes of a lane's rows under UNKNOWN.
PASS = "pass"
TOKEN = "token"
DROP = "drop"


class LanePolicy(NamedTuple):
    """One lane's terms. The table's order is the fairness order.

    ``role``: corrections, recall in this realm, or recall beyond it (which waits for scoped recall
    to find nothing). Least calibrated probabilities (0–1): ``conf_floor``; ``lone_conf_floor`` for a
    lone turn; ``words_conf_floor`` for a row without a measured cosine; ``unknown_conf_floor`` for a
    row that UNKNOWN lets by. ``under_unknown``: rows pass, need a shared distinctive token, or are
    dropped. ``knowledge_only``: only knowledge kinds. ``certain``: the match itself is proof: no
    evidence asked, a reserved slot, and again in the same session. ``single_token_min``: a lone
    turn's rows need CHITTA_KW_SINGLE_TOKEN_MIN. ``limit``: the setting that bounds the lane's time.
    """

    lane: str
    tag: str
    role: str
    ablatable: bool
    conf_floor: float
    lone_conf_floor: float
    words_conf_floor: float
    unknown_conf_floor: float
    under_unknown: str
    knowledge_only: bool
    certain: bool
    limit: str
    asks: str
    single_token_min: bool = False


NO_CONF = NOT_MEASURED
_NO_FLOORS = (NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED)
_LIMIT = "CHITTA_LANE_LIMIT_MS"
_LONG_LIMIT = "CHITTA_HYBRID_LIMIT_MS"

LANES: tuple[LanePolicy, ...] = (
    LanePolicy(
        "correction-key", "corrk", CORRECTION, False, *_NO_FLOORS, PASS, True, True, _LIMIT,
        "corrections whose trigger the prompt repeats",
    ),
    LanePolicy(
        "correction", "corr", CORRECTION, True, 0.5, 0.5, 0.5, 0.5, DROP, True, False, _LIMIT,
        "corrections by similarity, this realm and global",
    ),
    LanePolicy(
        "keyword", "kw", SCOPED, True, 0.1, 0.5, 0.3, 0.7, TOKEN, True, False, _LIMIT,
        "exact words, this realm", True,
    ),
    LanePolicy(
        "semantic", "sem", SCOPED, True, 0.1, 0.5, 0.3, 0.7, DROP, False, False, _LIMIT,
        "nearest notes by meaning, this realm",
    ),
    LanePolicy(
        "context", "ctx", SCOPED, True, 0.1, 0.5, 0.3, 0.7, DROP, False, False, _LIMIT,
        "the same for this and the last two turns together",
    ),
    LanePolicy(
        "hybrid", "hyb", SCOPED, True, 0.1, 0.5, 0.3, 0.7, TOKEN, False, False, _LONG_LIMIT,
        "words and meaning joined, this realm; measures maxrel",
    ),
    LanePolicy(
        "cross-realm", "xr", BEYOND, True, 0.3, 0.5, 0.35, 0.7, TOKEN, False, False, _LONG_LIMIT,
        "words and meaning joined, all realms",
    ),
)  # fmt: skip

BY_LANE: dict[str, LanePolicy] = {policy.lane: policy for policy in LANES}
BY_TAG: dict[str, LanePolicy] = {policy.tag: policy for policy in LANES}
ORDER: dict[str, int] = {policy.tag: place for place, policy in enumerate(LANES)}
#: The lane whose header says whether the store knows anything about the prompt, by what a lane recalls from.
MEASURING_LANE = "hybrid"
MEASURING_LANES: dict[str, str] = {CORRECTION: MEASURING_LANE, SCOPED: MEASURING_LANE, BEYOND: "cross-realm"}
#: The lanes that run when a turn holds no distinctive token.
TERSE_LANES: tuple[str, ...] = tuple(policy.lane for policy in LANES if policy.certain)

#: States in which a lane was asked and gave nothing.
FAILED_STATES = ("late", "unavailable", "misuse", "crash")

#: Drop causes in the order in which they are shown, with what each means.
CAUSES: dict[str, str] = {
    "quar": "quarantined, outside the realms this lane may see, or with nothing to show",
    "sup": "superseded by another note, or past its `valid_until`",
    "meta": "a bookkeeping kind; for lanes of knowledge only, any other kind that is not knowledge",
    "conf": "calibrated probability below the lane's floor, or not measured",
    "floor": "no evidence of its own: no shared distinctive token with a keyword score, and cosine below the floor;"
    " of a correction: the prompt only mentions the wrong form",
    "unk": "noise under UNKNOWN",
    "dup": "already shown in this session, or the same note from another lane;"
    " in a turn that leans on the last one also: less sure than what was shown of its subject",
    "cap": "no slot or no room left, or far less sure than the surest;"
    " for cross-realm also: scoped recall found something",
}

_LANE_NAME = re.compile(r"[a-z][a-z-]{0,40}")


def ablated(settings: Settings) -> tuple[str, ...]:
    """Lane files that CHITTA_ABLATE_LANES leaves out, by tag or file name, in policy order.

    Lanes that are not ablatable stay; a well-formed name that the policy does not know is a
    shadow lane's.
    """
    asked = set(settings.words("CHITTA_ABLATE_LANES"))
    known = [p.lane for p in LANES if p.ablatable and asked & {p.lane, p.tag}]
    others = sorted(name for name in asked - set(BY_LANE) - set(BY_TAG) if _LANE_NAME.fullmatch(name))
    return tuple(known + others)


def document() -> str:
    """The numbers, the lanes and the drop causes for docs/admission.md."""
    few, least = (BY_NAME[name].default for name in ("CHITTA_C2_SMALL_REALM_MAXN", "CHITTA_KW_SINGLE_TOKEN_MIN"))
    lines = [
        f"The cosine floor is {COS_FLOOR:g}; a turn with fewer than {LONE_TOKENS} distinctive tokens is lone;"
        f" a realm of at most {few} notes (CHITTA_C2_SMALL_REALM_MAXN) is small, and there a lone turn's floor is"
        f" {SMALL_LONE_CONF_FLOOR:g}; elsewhere a lone turn's keyword rows need a BM25 of {least:g}"
        f" (CHITTA_KW_SINGLE_TOKEN_MIN). Where relevance was not measured, the conf floor is"
        f" {UNMEASURED_CONF_FLOOR:g}. A row with less than {RELATIVE_FLOOR:g} of the conf of the surest one from the"
        " same place (corrections, this realm, beyond it) is left out.",
        "",
        "| lane | tag | asks | conf floor | lone turn | words only | under UNKNOWN | kinds | ablatable |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    words = {PASS: "passes", TOKEN: "needs a shared token and {:g}", DROP: "dropped"}
    for policy in LANES:
        asked = (policy.conf_floor, policy.lone_conf_floor, policy.words_conf_floor)
        floors = ["none" if floor < 0 else f"{floor:g}" for floor in asked]
        kinds = "knowledge" if policy.knowledge_only else "not bookkeeping"
        unknown = words[policy.under_unknown].format(policy.unknown_conf_floor)
        cells = (policy.lane, policy.tag, policy.asks, *floors, unknown, kinds)
        lines.append(f"| {' | '.join(cells)} | {'yes' if policy.ablatable else '**no**'} |")
    lines += ["", "| cause | what it means |", "|---|---|"]
    lines += [f"| `{cause}` | {meaning} |" for cause, meaning in CAUSES.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")
