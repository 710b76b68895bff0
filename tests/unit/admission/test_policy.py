"""The policy table, its page and ablation."""

from pathlib import Path

import pytest

from chitta import settings
from chitta.admission import policy

ROOT = Path(__file__).resolve().parents[3]


def test_lanes_and_tags_are_each_named_once() -> None:
    assert len(policy.BY_LANE) == len(policy.BY_TAG) == len(policy.LANES)
    assert not set(policy.BY_LANE) & set(policy.BY_TAG)


def test_fairness_order() -> None:
    assert list(policy.ORDER) == ["corrk", "corr", "kw", "sem", "ctx", "hyb", "xr"]


@pytest.mark.parametrize("lane", policy.LANES, ids=lambda lane: lane.tag)
def test_terms_are_sound(lane: policy.LanePolicy) -> None:
    assert lane.limit in settings.BY_NAME
    assert lane.lone_conf_floor >= lane.conf_floor
    assert lane.certain == (lane.conf_floor < 0) == (not lane.ablatable)
    assert lane.under_unknown in (policy.PASS, policy.TOKEN, policy.DROP)


def test_a_lone_keyword_needs_more_confidence() -> None:
    assert policy.BY_TAG["kw"].lone_conf_floor > policy.BY_TAG["kw"].conf_floor


@pytest.mark.parametrize(
    ("asked", "left_out"),
    [
        ("", ()),
        ("sem,hyb", ("semantic", "hybrid")),
        ("hyb, SEMANTIC ,sem", ("semantic", "hybrid")),
        ("corrk,correction-key,kw", ("keyword",)),
        ("xr,temporal,../x,a b", ("cross-realm", "temporal")),
    ],
)
def test_ablation_by_tag_or_file_name(asked: str, left_out: tuple[str, ...]) -> None:
    assert policy.ablated(settings.load({"CHITTA_ABLATE_LANES": asked})) == left_out


def test_the_page_holds_the_table() -> None:
    page = (ROOT / "docs" / "admission.md").read_text(encoding="utf-8")
    assert policy.document() in page, "python -m chitta.admission.policy prints the tables for docs/admission.md"
