"""What a person reads of a candidate, and that it agrees with the gate."""

import itertools
from typing import Any, NamedTuple

import pytest

from chitta import settings
from chitta.admission import gate, policy, why
from chitta.admission.verdict import ADMITTED, SHADOW, Terms
from chitta.admission.why import Company, Evidence
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

ALL_ROLES = frozenset(policy.MEASURING_LANES)
SOUND = Evidence(conf=0.9, cos=0.8, bm25=4.0, shared=2)
PLAIN = Terms()
LOUD, DROPPED = (
    next(row for row in policy.LANES if row.under_unknown == terms and row.role != policy.CORRECTION)
    for terms in (policy.TOKEN, policy.DROP)
)
BEYOND = next(row.tag for row in policy.LANES if row.role == policy.BEYOND)
CERTAIN = next(row for row in policy.LANES if row.certain)


def phrase(tag: str, outcome: str, terms: Terms = PLAIN, company: Company = why.ALONE, **fields: Any) -> str:
    return why.why(tag, outcome, SOUND._replace(**fields), terms, company)


@pytest.mark.parametrize("lane", policy.LANES, ids=lambda lane: lane.tag)
def test_every_outcome_has_a_phrase_of_its_own_in_every_lane(lane: policy.LanePolicy) -> None:
    assert set(why.PHRASES) == {*policy.CAUSES, ADMITTED}
    said = {outcome: phrase(lane.tag, outcome) for outcome in why.PHRASES}
    assert len(set(said.values())) == len(said) and all(len(words) > 10 for words in said.values())


LANE = LOUD.tag
UNDER = LOUD.unknown_conf_floor
UNMEASURED = Terms(unmeasured=ALL_ROLES)
SILENCE = "UNKNOWN silences this lane; CHITTA_UNKNOWN_SILENCE=0 lets it speak"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (phrase(LANE, "conf", conf=0.04), f"conf 0.04 is below the lane's floor {LOUD.conf_floor:g}"),
        (phrase(LANE, "conf", conf=LOUD.conf_floor - 0.0003), f"conf {LOUD.conf_floor - 0.0003:.4f} is below"),
        (phrase(LANE, "conf", conf=-1.0), "not measured"),
        (phrase(LANE, "conf", conf=0.01, cos=-1.0), f"below the words-only floor {LOUD.words_conf_floor:g}"),
        (phrase(LANE, "conf", Terms(lone=True), conf=0.3), f"below a lone prompt's floor {LOUD.lone_conf_floor:g}"),
        (
            phrase(LANE, "conf", UNMEASURED, conf=0.3),
            f"conf 0.30 is below the floor where relevance was not measured, {policy.UNMEASURED_CONF_FLOOR:g}",
        ),
        (phrase(LANE, "conf", UNMEASURED, conf=0.2, cos=-1.0), f"below the words-only floor {LOUD.words_conf_floor:g}"),
        (phrase(LANE, "conf", conf=0.95), f"was below the floor when it was judged (now {LOUD.conf_floor:g})"),
        (phrase(LANE, "floor", shared=0, cos=0.52), f"no shared word and cosine 0.52 below {policy.COS_FLOOR:g}"),
        (phrase(LANE, "floor", shared=0, cos=-1.0), "no shared word, and its cosine was not measured"),
        (phrase(LANE, "floor", shared=1, bm25=0.0, cos=0.5), "1 shared word but no keyword score and cosine 0.50"),
        (phrase("corr", "floor"), "only mentions the wrong form"),
        (phrase("kw", "conf", Terms(lone=True, least_bm25=6.0)), "needs a keyword score of 6 here (has 4.00)"),
        (
            phrase("kw", "conf", Terms(True, small=ALL_ROLES, least_bm25=6.0), conf=0.1),
            "below a lone prompt's floor 0.2",
        ),
        (phrase("sem", "conf", Terms(lone=True, least_bm25=6.0), conf=0.3), "below a lone prompt's floor"),
        (phrase(LANE, "unk", conf=0.31), f"needs a shared token and conf ≥ {UNDER:g} (has 0.31)"),
        (phrase(LANE, "unk", shared=0), f"needs a shared token and conf ≥ {UNDER:g} (shares none)"),
        (phrase(LANE, "unk", shared=0, conf=0.31), "(shares none, has 0.31)"),
        (phrase(LANE, "unk", Terms(small=ALL_ROLES), shared=0), "a note among few needs a shared word"),
        (phrase(DROPPED.tag, "unk"), SILENCE),
        (phrase("corr", "unk", Terms(small=ALL_ROLES)), SILENCE),
        (phrase(LANE, "dup"), "was shown in this session already"),
        (phrase("xr", "dup", company=Company("kw", ADMITTED)), "lane kw brought the same note"),
        (phrase("xr", "dup", company=Company("kw", "cap")), "lane kw brought the same note (cap)"),
        (phrase(LANE, "dup", company=Company(LANE, ADMITTED)), "twice"),
        (phrase(LANE, "cap", company=Company(scoped=True)), "CHITTA_MAX_MEMORIES"),
        (phrase(BEYOND, "cap", company=Company(scoped=True)), "this project had its own"),
        (phrase(BEYOND, "cap"), "CHITTA_MAX_MEMORIES"),
        (phrase(LANE, "quar"), "of a realm that this lane may not see"),
        (phrase(BEYOND, "quar"), "the note is quarantined, or has nothing to show"),
        (phrase(LANE, "sup"), "valid_until"),
        (phrase("kw", "meta"), "knowledge kinds only"),
        (phrase("sem", "meta"), "a bookkeeping kind"),
        (phrase(LANE, ADMITTED), "conf 0.90, cosine 0.80, 2 shared words"),
        (phrase(LANE, ADMITTED, cos=-1.0, shared=1), "conf 0.90, 1 shared word"),
        (phrase(CERTAIN.tag, ADMITTED, conf=-1.0, cos=-1.0, shared=0), "the prompt repeats its trigger"),
        (phrase("temporal", SHADOW), "measured only"),
        (phrase("temporal", "conf"), policy.CAUSES["conf"]),
        (phrase(LANE, "cause-of-tomorrow"), "cause-of-tomorrow"),
    ],
)
def test_the_phrase_names_the_row_and_the_term(said: str, words: str) -> None:
    assert words in said


def test_a_note_of_another_project_is_never_one_of_few() -> None:
    for lane in policy.LANES:
        assert why.among_few(lane.tag, "project:other", ALL_ROLES) == (lane.role != policy.BEYOND)
        assert why.among_few(lane.tag, policy.SHARED_REALM, ALL_ROLES)
        assert not why.among_few(lane.tag, policy.SHARED_REALM, ALL_ROLES - {lane.role})
    assert not why.among_few("temporal", policy.SHARED_REALM, ALL_ROLES)


def test_the_terms_of_a_small_realm_ease_what_is_lone_or_silenced() -> None:
    lone, silent = Terms(True, frozenset(), ALL_ROLES), Terms(False, ALL_ROLES, ALL_ROLES)
    for lane in policy.LANES:
        realm = policy.SHARED_REALM
        assert not why.eased(lane.tag, realm, Terms(small=ALL_ROLES))
        assert not why.eased(lane.tag, realm, Terms(True, ALL_ROLES, frozenset()))
        assert why.eased(lane.tag, realm, lone) == (not lane.certain)
        assert why.eased(lane.tag, realm, silent) == (lane.role != policy.CORRECTION)


class Bands(NamedTuple):
    threshold: float = 0.5

    def percent(self, maxrel: float) -> int:
        return round(100 * maxrel)


@pytest.mark.parametrize("lane", policy.LANES, ids=lambda lane: lane.tag)
@pytest.mark.parametrize("tokens", [("postgres",), ("postgres", "index", "locks")], ids=["lone", "plain"])
@pytest.mark.parametrize("size", [3, 50_000], ids=["small", "large"])
@pytest.mark.parametrize("maxrel", [0.9, None], ids=["measured", "unmeasured"])
def test_the_floor_that_is_named_is_the_one_that_the_gate_applied(
    lane: policy.LanePolicy, tokens: tuple[str, ...], size: int, maxrel: float | None
) -> None:
    request = Request("p", "q", tokens=tokens, realm="project:h/o/n")
    small = ALL_ROLES if size == 3 else frozenset[str]()
    unmeasured = ALL_ROLES if maxrel is None else frozenset[str]()
    terms = Terms(len(tokens) < policy.LONE_TOKENS, frozenset(), small, unmeasured=unmeasured)
    for step, cos, realm in itertools.product(range(0, 101), (-1.0, 0.8), (request.realm, policy.SHARED_REALM)):
        row = Row("a", 1.0, "insight", realm, "t", "t", conf=step / 100, cos=cos, bm25=99.0, shared=("postgres",))
        headers = [
            LaneResult(n, "ok", 1.0, Header(n, maxrel=maxrel, size=size)) for n in policy.MEASURING_LANES.values()
        ]
        results = [one for one in headers if one.lane != lane.lane]
        results.append(LaneResult(lane.lane, "ok", 1.0, Header(lane.lane, maxrel=maxrel, size=size), (row,)))
        verdict = gate.admit(request, results, seen=(), settings=settings.load({}), calibration=Bands())
        evidence = Evidence(row.conf, row.cos, row.bm25, 1, row.realm)
        floor, _ = why.conf_floor(lane.tag, evidence, terms)
        assert (verdict.trace[0].outcome == "conf") == (row.conf < floor), (row, floor)
