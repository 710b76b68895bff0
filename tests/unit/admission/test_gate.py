"""What the gate admits, what it drops and why."""

from typing import Any

import pytest

from chitta import settings
from chitta.admission import policy
from chitta.admission.gate import expired
from chitta.admission.verdict import KNOWN, UNKNOWN, narrowed
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS
from chitta.settings import BY_NAME
from chitta.wire.rows import Header, LaneResult

from .conftest import LONE, NOON_2026_06_15, judge, lane, row, shown

SMALL_REALM_NOTES = int(BY_NAME["CHITTA_C2_SMALL_REALM_MAXN"].default)

# One row


@pytest.mark.parametrize("policed", policy.LANES, ids=lambda p: p.tag)
def test_a_sound_row_is_admitted_from_every_lane(policed: policy.LanePolicy) -> None:
    verdict = judge(lane(policed.lane, row("a")))
    assert shown(verdict) == [(policed.tag, "a")]
    assert verdict.dropped == {}


@pytest.mark.parametrize(
    ("cause", "fields"),
    [
        ("quar", {"quarantine": True}),
        ("quar", {"title": " ", "text": ""}),
        ("quar", {"realm": "project:other/o/n"}),
        ("sup", {"superseded_by": "b"}),
        ("sup", {"valid_until": "2026-06-14"}),
        ("meta", {"kind": "operational"}),
        ("conf", {"conf": -1.0}),
        ("conf", {"conf": 0.01}),
        ("floor", {"cos": -1.0, "bm25": 0.0}),
        ("floor", {"cos": 0.1, "shared": ()}),
        ("floor", {"cos": 0.1, "shared": ("claimed",)}),
    ],
)
def test_each_cause_drops(cause: str, fields: dict[str, Any]) -> None:
    verdict = judge(lane("semantic", row("a", **fields)))
    assert verdict.admitted == ()
    assert verdict.dropped == {("sem", cause): 1}


def test_causes_are_counted_in_order() -> None:
    everything = {"quarantine": True, "superseded_by": "b", "kind": "episode", "conf": 0.0, "cos": 0.0, "bm25": 0.0}
    mended = [("quarantine", False), ("superseded_by", ""), ("kind", "insight"), ("conf", 0.9), ("cos", 0.9)]
    found = []
    for step in range(len(mended)):
        fields: dict[str, Any] = {**everything, **dict(mended[:step])}
        found += [cause for _, cause in judge(lane("semantic", row("a", **fields))).dropped]
    assert found == ["quar", "sup", "meta", "conf", "floor"]


@pytest.mark.parametrize("policed", policy.LANES, ids=lambda p: p.tag)
@pytest.mark.parametrize("kind", [*BOOKKEEPING_KINDS, "Episode", " prompt "])
def test_fault_09_bookkeeping_never_enters(policed: policy.LanePolicy, kind: str) -> None:
    assert judge(lane(policed.lane, row("a", kind=kind))).dropped == {(policed.tag, "meta"): 1}


def test_keyword_admits_knowledge_kinds_only() -> None:
    assert not judge(lane("keyword", row("a", kind="diary"))).admitted
    assert judge(lane("semantic", row("a", kind="diary"))).admitted
    for kind in KNOWLEDGE_KINDS:
        assert judge(lane("keyword", row("a", kind=kind))).admitted


def test_words_alone_or_meaning_alone_are_evidence() -> None:
    assert judge(lane("hybrid", row("a", cos=-1.0))).admitted
    assert judge(lane("hybrid", row("a", bm25=0.0, shared=(), cos=policy.COS_FLOOR))).admitted


def test_a_certain_match_needs_no_evidence() -> None:
    bare = row("a", kind="correction", conf=-1.0, cos=-1.0, bm25=0.0, shared=(), why="npm install")
    assert shown(judge(lane("correction-key", bare))) == [("corrk", "a")]


def test_a_lone_keyword_turn_needs_more_confidence() -> None:
    terms = policy.BY_TAG["kw"]
    between = (terms.conf_floor + terms.lone_conf_floor) / 2
    measured = lane("hybrid", maxrel=0.9)
    assert judge(lane("keyword", row("a", conf=between)), measured).admitted
    spoken = settings.BY_NAME["CHITTA_KW_SINGLE_TOKEN_MIN"].default
    unsure, sure = (lane("keyword", row("a", conf=conf, bm25=spoken)) for conf in (between, terms.lone_conf_floor))
    assert judge(unsure, measured, request=LONE).dropped == {("kw", "conf"): 1}
    assert judge(sure, measured, request=LONE).admitted


def test_another_realm_enters_through_cross_realm_only() -> None:
    stranger = row("a", realm="project:other/o/n")
    assert not judge(lane("hybrid", stranger)).admitted
    assert judge(lane("cross-realm", stranger)).admitted
    assert judge(lane("correction", row("a", realm="global", kind="correction"))).admitted


@pytest.mark.parametrize(
    ("valid_until", "gone"),
    [
        ("", False),
        ("2026-06-14", True),
        ("2026-06-15", False),
        ("2026-06-15T12:00:00", True),
        ("2026-06-15T12:00:01Z", False),
        ("2026-06-15T13:30:00+02:00", True),
        ("2026-06-15T10:30:00-02:00", False),
        ("soon", False),
        ("9999-12-31", False),
    ],
)
def test_expiry(valid_until: str, gone: bool) -> None:
    assert expired(valid_until, NOON_2026_06_15) is gone
    assert expired(valid_until, 0.0) is False


# Bands


def test_fault_08_band_and_percent_come_from_hybrids_maxrel() -> None:
    low, high = judge(lane("hybrid", maxrel=0.49)), judge(lane("hybrid", maxrel=0.5))
    assert (low.band, low.maxrel, low.percent) == (UNKNOWN, 0.49, 24)
    assert (high.band, high.maxrel, high.percent) == (KNOWN, 0.5, 25)


@pytest.mark.parametrize(
    "hybrid",
    [
        [],
        [lane("hybrid")],
        [lane("hybrid", maxrel=0.1, warming=True)],
        [LaneResult("hybrid", "late")],
        [LaneResult("hybrid", "ablated")],
        [lane("semantic", maxrel=0.1)],
    ],
)
def test_what_was_not_measured_is_not_unknown(hybrid: list[LaneResult]) -> None:
    verdict = judge(*hybrid, lane("context", row("a")))
    assert (verdict.band, verdict.maxrel, verdict.percent) == (None, None, None)
    assert shown(verdict) == [("ctx", "a")]


@pytest.mark.parametrize("policed", policy.LANES, ids=lambda p: p.tag)
@pytest.mark.parametrize("tied", [True, False])
def test_fault_07_unknown_silence(policed: policy.LanePolicy, tied: bool) -> None:
    one = row("a", shared=("postgres",) if tied else ())
    survives = {policy.PASS: True, policy.TOKEN: tied, policy.DROP: False}[policed.under_unknown]
    unknown = LaneResult("hybrid", "ok", 1.0, Header("hybrid", maxrel=0.0))
    results = [unknown, lane(policed.lane, one)]
    assert bool(judge(*results).admitted) is survives
    assert judge(*results).dropped == ({} if survives else {(policed.tag, "unk"): 1})
    assert judge(*results, CHITTA_UNKNOWN_SILENCE="0").admitted


# Rows among each other


def test_a_tie_under_unknown_needs_the_higher_floor() -> None:
    floor = policy.BY_LANE["keyword"].unknown_conf_floor
    hybrid = lane("hybrid", maxrel=0.1)
    assert judge(lane("keyword", row("a", conf=floor - 0.01)), hybrid).dropped == {("kw", "unk"): 1}
    assert shown(judge(lane("keyword", row("a", conf=floor)), hybrid)) == [("kw", "a")]
    assert shown(judge(lane("keyword", row("a", conf=floor - 0.01)), lane("hybrid", maxrel=0.9))) == [("kw", "a")]


@pytest.mark.parametrize(("name", "tied", "enters"), [
    ("semantic", True, True), ("semantic", False, False), ("context", True, True), ("keyword", True, True),
    ("correction", True, False),
])  # fmt: skip
def test_in_a_small_realm_a_tie_and_the_usual_floor_are_enough(name: str, tied: bool, enters: bool) -> None:
    kind = "correction" if name == "correction" else "insight"
    found = row("a", conf=0.5, kind=kind, shared=("postgres",) if tied else ())
    small = lane("hybrid", maxrel=0.1, size=SMALL_REALM_NOTES)
    large = lane("hybrid", maxrel=0.1, size=SMALL_REALM_NOTES + 1)
    assert bool(judge(lane(name, found), small).admitted) is enters
    assert not judge(lane(name, found._replace(conf=0.49)), large).admitted


@pytest.mark.parametrize(("realm", "enters"), [("global", True), ("project:h/o/other", False)])
def test_few_notes_are_no_excuse_for_another_projects(realm: str, enters: bool) -> None:
    found = lane("cross-realm", row("a", conf=0.4, realm=realm), maxrel=0.1, size=20)
    assert bool(judge(found).admitted) is enters


@pytest.mark.parametrize(("kind", "enters"), [("insight", True), ("correction", False)])
def test_no_lane_brings_a_correction_by_likeness_under_unknown(kind: str, enters: bool) -> None:
    for size in (20, 5_000):
        found = lane("keyword", row("a", conf=0.9, kind=kind, shared=("postgres",)))
        assert bool(judge(found, lane("hybrid", maxrel=0.1, size=size)).admitted) is enters


def test_a_lone_turn_in_a_small_realm_needs_less() -> None:
    found = lane("keyword", row("a", conf=policy.SMALL_LONE_CONF_FLOOR))
    assert shown(judge(found, lane("hybrid", maxrel=0.9, size=20), request=LONE)) == [("kw", "a")]
    assert judge(found, lane("hybrid", maxrel=0.9, size=2_000), request=LONE).dropped == {("kw", "conf"): 1}


def test_a_row_judged_from_words_alone_has_its_own_floor() -> None:
    floor = policy.BY_LANE["keyword"].words_conf_floor
    assert judge(lane("keyword", row("a", conf=floor - 0.01, cos=-1.0))).dropped == {("kw", "conf"): 1}
    assert shown(judge(lane("keyword", row("a", conf=floor, cos=-1.0)))) == [("kw", "a")]


def test_cross_realm_is_judged_by_its_own_measure_and_shows_it() -> None:
    far = row("a", conf=0.4, realm="project:h/o/other")
    verdict = judge(lane("hybrid", maxrel=0.1), lane("cross-realm", far, maxrel=0.9))
    assert shown(verdict) == [("xr", "a")]
    assert (verdict.band, verdict.maxrel) == (KNOWN, 0.9)
    silent = judge(lane("hybrid", maxrel=0.1), lane("cross-realm", far, maxrel=0.2))
    assert silent.dropped == {("xr", "unk"): 1}
    assert (silent.band, silent.maxrel) == (UNKNOWN, 0.1)


def test_cross_realm_waits_for_scoped_recall() -> None:
    beyond = lane("cross-realm", row("x", realm="project:other/o/n"))
    assert shown(judge(beyond, lane("semantic", row("a", conf=0.0)))) == [("xr", "x")]
    verdict = judge(beyond, lane("semantic", row("a")))
    assert shown(verdict) == [("sem", "a")]
    assert verdict.dropped == {("xr", "cap"): 1}


def test_cross_realm_waits_also_for_what_was_shown_before() -> None:
    beyond = lane("cross-realm", row("x", realm="project:other/o/n"))
    assert not judge(beyond, lane("semantic", row("a")), seen=["a"]).admitted


def test_corrections_do_not_silence_cross_realm() -> None:
    corrections = lane("correction-key", row("c", kind="correction"))
    verdict = judge(corrections, lane("cross-realm", row("x", realm="project:other/o/n")))
    assert shown(verdict) == [("corrk", "c"), ("xr", "x")]


def test_fault_32_a_session_sees_a_note_once_but_a_repeated_mistake_again() -> None:
    results = lane("semantic", row("a")), lane("correction-key", row("c", kind="correction"))
    verdict = judge(*results, seen=["a", "c"])
    assert shown(verdict) == [("corrk", "c")]
    assert verdict.dropped == {("sem", "dup"): 1}


def test_one_note_from_many_lanes_is_one_item_of_the_first_lane() -> None:
    verdict = judge(*(lane(name, row("a")) for name in ("hybrid", "keyword", "semantic")))
    assert shown(verdict) == [("kw", "a")]
    assert verdict.dropped == {("sem", "dup"): 1, ("hyb", "dup"): 1}


def test_a_lanes_own_double_is_dropped() -> None:
    assert judge(lane("semantic", row("a", 2.0), row("a", 1.0))).dropped == {("sem", "dup"): 1}


def test_lanes_take_turns() -> None:
    results = (
        lane("hybrid", row("h1", 9.0), row("h2", 8.0)),
        lane("semantic", row("s1", 0.9), row("s2", 0.8)),
        lane("keyword", row("k1", 30.0), row("k2", 20.0)),
    )
    assert shown(judge(*results)) == [("kw", "k1"), ("sem", "s1"), ("hyb", "h1")]
    more = judge(*results, CHITTA_MAX_MEMORIES="5")
    assert shown(more) == [("kw", "k1"), ("sem", "s1"), ("hyb", "h1"), ("kw", "k2"), ("sem", "s2")]
    assert more.dropped == {("hyb", "cap"): 1}


def test_a_lane_whose_best_is_taken_gives_its_next() -> None:
    verdict = judge(
        lane("keyword", row("a", 3.0), row("b", 2.0), row("c", 1.0)),
        lane("hybrid", row("a", 3.0), row("c", 2.0)),
        CHITTA_MAX_MEMORIES="2",
    )
    assert shown(verdict) == [("kw", "a"), ("kw", "c")]


def test_the_best_certain_match_has_the_first_slot() -> None:
    keys = lane(
        "correction-key",
        row("c1", kind="correction", why="install"),
        row("c2", kind="correction", why="npm install"),
    )
    verdict = judge(keys, lane("keyword", row("k", 99.0)), CHITTA_MAX_MEMORIES="1")
    assert shown(verdict) == [("corrk", "c2")]
    assert verdict.admitted[0].reserved
    assert "npm install" in verdict.admitted[0].reason
    assert verdict.dropped == {("corrk", "cap"): 1, ("kw", "cap"): 1}


def test_a_shadow_lane_is_counted_and_admits_nothing() -> None:
    verdict = judge(lane("temporal", row("a"), row("b")), lane("graph"))
    assert verdict.admitted == ()
    assert verdict.dropped == {("temporal", "shadow"): 2}


def test_narrowed_counts_what_has_no_room() -> None:
    verdict = judge(lane("semantic", row("a", 2.0), row("b", 1.0)))
    less = narrowed(verdict, 1)
    assert shown(less) == [("sem", "a")]
    assert less.dropped == {("sem", "cap"): 1}
    assert [(j.row.id, j.outcome) for j in less.trace] == [("a", "admitted"), ("b", "cap")]
    assert narrowed(verdict, 5) is verdict
