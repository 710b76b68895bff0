"""Each rule of docs/admission.md at its edge: a situation, and the smallest change that turns the outcome."""

from typing import Any

import pytest

from chitta import settings
from chitta.admission import policy
from chitta.admission.verdict import ADMITTED
from chitta.settings import BY_NAME
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult

from .conftest import ASKED, LONE, STRANGER, TOKENS, judge, lane, outcome, row

SMALL_REALM_NOTES = int(BY_NAME["CHITTA_C2_SMALL_REALM_MAXN"].default)

BY_TAG = policy.BY_TAG
TAGS = list(BY_TAG)
UNCERTAIN = [tag for tag, terms in BY_TAG.items() if not terms.certain]
SCOPED = [tag for tag, terms in BY_TAG.items() if terms.role == policy.SCOPED]
HERE = [tag for tag, terms in BY_TAG.items() if terms.role != policy.BEYOND]
MEASURES = {terms.tag for terms in policy.LANES if terms.lane in policy.MEASURING_LANES.values()}
#: A realm of so many notes is not small.
MANY = SMALL_REALM_NOTES + 1
SPOKEN = float(settings.BY_NAME["CHITTA_KW_SINGLE_TOKEN_MIN"].default)
JUST = 0.001


def answers(tag: str, found: dict[str, Any], maxrel: float | None = 0.9, size: int = MANY) -> list[LaneResult]:
    """One row of one lane, with both measuring lanes beside it."""
    own = BY_TAG[tag].lane
    measuring = dict.fromkeys(policy.MEASURING_LANES.values())
    results = [lane(name, maxrel=maxrel, size=size) for name in measuring if name != own]
    measured: dict[str, Any] = {"maxrel": maxrel, "size": size} if own in measuring else {}
    return [lane(own, row("a", **found), **measured), *results]


def became(
    tag: str,
    found: dict[str, Any],
    *,
    maxrel: float | None = 0.9,
    size: int = MANY,
    request: Request = ASKED,
    **environ: Any,
) -> str:
    """What became of the one row."""
    return outcome(judge(*answers(tag, found, maxrel, size), request=request, **environ), tag)


# quar, sup, meta


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize(
    ("cause", "bad", "good"),
    [
        ("quar", {"quarantine": True}, {"quarantine": False}),
        ("quar", {"title": " \n", "text": "\t"}, {"title": "", "text": "x"}),
        ("quar", {"title": "", "text": ""}, {"title": "x", "text": " "}),
        ("sup", {"superseded_by": "b"}, {"superseded_by": " "}),
        ("sup", {"valid_until": "2026-06-14"}, {"valid_until": "2026-06-15"}),
        ("sup", {"valid_until": "2026-06-15T12:00:00Z"}, {"valid_until": "2026-06-15T12:00:01Z"}),
        ("meta", {"kind": "operational"}, {"kind": "insight"}),
        ("meta", {"kind": " Session "}, {"kind": " Insight "}),
    ],
)
def test_from_every_lane_what_is_no_longer_good(
    tag: str, cause: str, bad: dict[str, Any], good: dict[str, Any]
) -> None:
    assert (became(tag, bad), became(tag, good)) == (cause, ADMITTED)


@pytest.mark.parametrize("tag", TAGS)
def test_a_realm_that_the_lane_may_see(tag: str) -> None:
    assert became(tag, {"realm": STRANGER}) == (ADMITTED if tag not in HERE else "quar")
    assert became(tag, {"realm": ASKED.realm}) == became(tag, {"realm": policy.SHARED_REALM}) == ADMITTED


@pytest.mark.parametrize("tag", TAGS)
def test_only_lanes_of_knowledge_refuse_a_kind_of_ones_own(tag: str) -> None:
    assert became(tag, {"kind": "diary"}) == ("meta" if tag in ("corrk", "corr", "kw") else ADMITTED)


# conf


@pytest.mark.parametrize("tag", UNCERTAIN)
def test_fault_07_the_lanes_floor(tag: str) -> None:
    floor = BY_TAG[tag].conf_floor
    assert (became(tag, {"conf": floor - JUST}), became(tag, {"conf": floor})) == ("conf", ADMITTED)
    assert became(tag, {"conf": -1.0}) == "conf"


@pytest.mark.parametrize("tag", UNCERTAIN)
def test_the_floor_of_a_row_judged_from_words(tag: str) -> None:
    floor = BY_TAG[tag].words_conf_floor
    assert became(tag, {"conf": floor - JUST, "cos": -1.0}) == "conf"
    assert became(tag, {"conf": floor, "cos": -1.0}) == ADMITTED
    if floor > BY_TAG[tag].conf_floor:  # a measured cosine, even an honest nothing, has the usual floor
        assert became(tag, {"conf": floor - JUST, "cos": 0.0}) == ADMITTED


@pytest.mark.parametrize("tag", UNCERTAIN)
def test_the_floor_of_a_lone_turn(tag: str) -> None:
    floor = BY_TAG[tag].lone_conf_floor
    below, at = ({"conf": conf, "bm25": SPOKEN} for conf in (floor - JUST, floor))
    assert (became(tag, below, request=LONE), became(tag, at, request=LONE)) == ("conf", ADMITTED)
    leaning = LONE._replace(anchor="the last turn")
    if floor > BY_TAG[tag].conf_floor:
        assert became(tag, below, request=leaning) == became(tag, below, request=ASKED) == ADMITTED
        twice = LONE._replace(tokens=TOKENS[:1] * 2)
        assert became(tag, below, request=twice) == "conf", "a word said twice is one word"


@pytest.mark.parametrize("tag", TAGS)
def test_a_lone_turns_words_must_be_rare_for_keyword(tag: str) -> None:
    below, at = ({"conf": 0.95, "bm25": bm25} for bm25 in (SPOKEN - 0.1, SPOKEN))
    assert became(tag, below, request=LONE) == ("conf" if tag == "kw" else ADMITTED)
    assert became(tag, at, request=LONE) == ADMITTED
    assert became(tag, below) == became(tag, below, request=LONE._replace(anchor="last")) == ADMITTED
    assert became(tag, below, request=LONE, CHITTA_KW_SINGLE_TOKEN_MIN="12.9") == ADMITTED
    assert became(tag, below, request=LONE, size=SMALL_REALM_NOTES) == ADMITTED


@pytest.mark.parametrize("tag", UNCERTAIN)
def test_a_lone_turn_in_a_small_realm(tag: str) -> None:
    floor = max(policy.SMALL_LONE_CONF_FLOOR, BY_TAG[tag].conf_floor)
    here = policy.SHARED_REALM
    below, at = ({"conf": conf, "bm25": 1.0, "realm": here} for conf in (floor - JUST, floor))
    few = SMALL_REALM_NOTES
    assert (became(tag, below, request=LONE, size=few), became(tag, at, request=LONE, size=few)) == ("conf", ADMITTED)
    worded = max(policy.SMALL_LONE_CONF_FLOOR, BY_TAG[tag].words_conf_floor)
    below, at = ({"conf": conf, "cos": -1.0, "realm": here} for conf in (worded - JUST, worded))
    assert (became(tag, below, request=LONE, size=few), became(tag, at, request=LONE, size=few)) == ("conf", ADMITTED)


@pytest.mark.parametrize("tag", SCOPED)
@pytest.mark.parametrize(
    ("most", "size", "small"),
    [("200", 200, True), ("200", 201, False), ("7", 7, True), ("7", 8, False), ("0", 1, False), ("200", 0, False)],
)
def test_how_many_notes_are_few(tag: str, most: str, size: int, small: bool) -> None:
    between = {"conf": (policy.SMALL_LONE_CONF_FLOOR + BY_TAG[tag].lone_conf_floor) / 2, "bm25": SPOKEN}
    found = became(tag, between, request=LONE, size=size, CHITTA_C2_SMALL_REALM_MAXN=most)
    assert found == (ADMITTED if small else "conf")


NOT_MEASURED: dict[str, list[LaneResult]] = {
    "not asked": [],
    "late": [LaneResult("hybrid", "late")],
    "ablated": [LaneResult("hybrid", "ablated")],
    "warming": [lane("hybrid", maxrel=0.9, warming=True)],
    "could not": [lane("hybrid", maxrel=None)],
    "of another lane": [lane("semantic", maxrel=0.9)],
}


@pytest.mark.parametrize("tag", [tag for tag in UNCERTAIN if tag not in MEASURES])
@pytest.mark.parametrize("hybrid", NOT_MEASURED.values(), ids=NOT_MEASURED.keys())
def test_where_relevance_was_not_measured_a_row_speaks_for_itself(tag: str, hybrid: list[LaneResult]) -> None:
    terms = BY_TAG[tag]
    floor = max(terms.conf_floor, policy.UNMEASURED_CONF_FLOOR)

    def came(conf: float, cos: float, *measured: LaneResult) -> str:
        return outcome(judge(lane(terms.lane, row("a", conf=conf, cos=cos)), *measured), tag)

    assert (came(floor - JUST, 0.8, *hybrid), came(floor, 0.8, *hybrid)) == ("conf", ADMITTED)
    # From words alone the words' floor holds: whoever measured no cosine measured no relevance either.
    worded = terms.words_conf_floor
    assert (came(worded - JUST, -1.0, *hybrid), came(worded, -1.0, *hybrid)) == ("conf", ADMITTED)
    if terms.conf_floor < floor:
        assert came(floor - JUST, 0.8, lane("hybrid", maxrel=0.9)) == ADMITTED


@pytest.mark.parametrize("hybrid", [0.9, None])
@pytest.mark.parametrize("beyond", [0.9, None])
def test_beyond_is_measured_by_its_own_lane_or_else_by_hybrid(hybrid: float | None, beyond: float | None) -> None:
    found = lane("cross-realm", row("a", conf=BY_TAG["xr"].conf_floor, realm=STRANGER), maxrel=beyond)
    verdict = judge(found, lane("hybrid", maxrel=hybrid))
    assert outcome(verdict, "xr") == (ADMITTED if hybrid or beyond else "conf")


def test_a_certain_row_has_no_floor() -> None:
    nothing: dict[str, Any] = {"conf": -1.0, "cos": -1.0, "bm25": 0.0, "shared": ()}
    assert outcome(judge(lane("correction-key", row("a", **nothing)), request=LONE), "corrk") == ADMITTED
    assert became("corrk", nothing, maxrel=0.0) == ADMITTED


# floor


@pytest.mark.parametrize("tag", UNCERTAIN)
@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ({"cos": 0.0, "bm25": 9.0, "shared": ()}, {"cos": 0.0, "bm25": 9.0, "shared": TOKENS[:1]}),
        (
            {"cos": 0.0, "bm25": 9.0, "shared": ("claimed",)},
            {"cos": 0.0, "bm25": 9.0, "shared": ("claimed", TOKENS[2])},
        ),
        ({"cos": 0.0, "bm25": 0.0, "shared": TOKENS}, {"cos": 0.0, "bm25": 0.1, "shared": TOKENS}),
        ({"cos": -1.0, "bm25": 0.0, "shared": TOKENS}, {"cos": -1.0, "bm25": 0.1, "shared": TOKENS}),
        (
            {"cos": policy.COS_FLOOR - JUST, "bm25": 0.0, "shared": ()},
            {"cos": policy.COS_FLOOR, "bm25": 0.0, "shared": ()},
        ),
    ],
)
def test_a_row_needs_evidence_of_its_own(tag: str, bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert (became(tag, bad), became(tag, good)) == ("floor", ADMITTED)


@pytest.mark.parametrize("tag", TAGS)
def test_a_wrong_form_that_is_only_mentioned_lets_its_correction_in_by_the_key_alone(tag: str) -> None:
    mentioned = {"kind": "correction", "only_mentioned": True, "conf": 1.0, "cos": 1.0}
    assert became(tag, mentioned) == (ADMITTED if tag == "corrk" else "floor")
    assert became(tag, {**mentioned, "only_mentioned": False}) == ADMITTED


# unk


@pytest.mark.parametrize("tag", TAGS)
def test_under_unknown(tag: str) -> None:
    terms, sure = BY_TAG[tag], {"conf": 1.0, "cos": 1.0}
    tied = {**sure, "shared": TOKENS[:1]}
    claimed = {**sure, "shared": ("claimed",)}
    spared = {policy.PASS: ADMITTED, policy.TOKEN: ADMITTED, policy.DROP: "unk"}[terms.under_unknown]
    assert became(tag, tied, maxrel=0.1) == spared
    untied = ADMITTED if terms.under_unknown == policy.PASS else "unk"
    assert became(tag, {**sure, "shared": ()}, maxrel=0.1) == became(tag, claimed, maxrel=0.1) == untied
    for loud in ({"maxrel": 0.5}, {"maxrel": None}):
        assert became(tag, tied, **loud) == became(tag, {**sure, "shared": ()}, **loud) == ADMITTED
    assert became(tag, {**sure, "shared": ()}, maxrel=0.1, CHITTA_UNKNOWN_SILENCE="0") == ADMITTED


@pytest.mark.parametrize("tag", [tag for tag in TAGS if BY_TAG[tag].under_unknown == policy.TOKEN])
def test_under_unknown_a_tie_must_be_sure(tag: str) -> None:
    floor = BY_TAG[tag].unknown_conf_floor
    assert (became(tag, {"conf": floor - JUST}, maxrel=0.1), became(tag, {"conf": floor}, maxrel=0.1)) == (
        "unk",
        ADMITTED,
    )
    assert became(tag, {"conf": floor - JUST}, maxrel=0.1, CHITTA_UNKNOWN_SILENCE="0") == ADMITTED


@pytest.mark.parametrize("tag", UNCERTAIN)
@pytest.mark.parametrize("tied", [True, False])
def test_under_unknown_in_a_small_realm(tag: str, tied: bool) -> None:
    below = BY_TAG[tag].unknown_conf_floor - JUST if tag != "corr" else 1.0
    kind = "correction" if tag == "corr" else "insight"
    found = {"conf": below, "kind": kind, "shared": TOKENS[:1] if tied else (), "realm": policy.SHARED_REALM}
    few = SMALL_REALM_NOTES
    fuzzy = tag == "corr"  # a wrong correction costs more than a missed one, few notes or many
    assert became(tag, found, maxrel=0.1, size=few) == (ADMITTED if tied and not fuzzy else "unk")
    assert became(tag, found, maxrel=0.1, size=few + 1) == "unk"


@pytest.mark.parametrize(
    ("maxrel", "request_", "conf", "cause"),
    [
        (0.1, ASKED, BY_TAG["xr"].unknown_conf_floor - JUST, "unk"),
        (0.9, LONE, BY_TAG["xr"].lone_conf_floor - JUST, "conf"),
    ],
)
def test_another_projects_note_gains_nothing_from_a_small_store(
    maxrel: float, request_: Request, conf: float, cause: str
) -> None:
    for realm, came in ((STRANGER, cause), (policy.SHARED_REALM, ADMITTED)):
        assert became("xr", {"conf": conf, "realm": realm}, maxrel=maxrel, size=9, request=request_) == came
