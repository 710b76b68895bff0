"""What was asked and not known: which prompts count, what is kept of them, when they surface."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import gaps, merge, settings
from chitta.admission.tokens import distinctive
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

PROMPT = "how does the billing export reach Snowflake"
ASKED = Request(
    prompt=PROMPT, query=PROMPT, tokens=distinctive(PROMPT), session="s1", realm="project:h/o/n", cwd="/", turn=1
)
HYBRID = LaneResult("hybrid", "ok", 20.0, Header("hybrid", k=10, maxrel=0.1, size=40))
KEYWORD = LaneResult("keyword", "ok", 5.0, Header("keyword", k=10))
ROW = Row("a", 1.0, "insight", ASKED.realm, "Export", "Billing export.", conf=0.9, cos=0.9)


class Bands(NamedTuple):
    threshold: float = 0.5

    def percent(self, maxrel: float) -> int:
        return round(100 * maxrel)


def finish(home: Path, *results: LaneResult, request: Request = ASKED, **environ: str) -> None:
    told = settings.load({"CHITTA_HOME": str(home), **environ})
    merge.finish(request, results, settings=told, total_ms=8.0, calibration=Bands(), now=1_800_000_000.0)


def kept(home: Path) -> list[dict[str, Any]]:
    return gaps.read(str(home / "state"))


def line(terms: str, session: str = "s1", realm: str = "global", ts: str = "2026-11-01T10:00:00Z") -> dict[str, Any]:
    return {"ts": ts, "realm": realm, "terms": terms.split(), "session": session}


# Which prompts count


def test_a_prompt_that_found_nothing_is_kept_by_its_terms_alone(tmp_path: Path) -> None:
    finish(tmp_path, HYBRID, KEYWORD)
    (found,) = kept(tmp_path)
    assert found == {
        "ts": "2027-01-15T08:00:00Z",
        "realm": ASKED.realm,
        "terms": ["billing", "export", "reach", "snowflake"],
        "session": "s1",
    }
    assert PROMPT not in (tmp_path / "state" / gaps.NAME).read_text()


def test_the_prompt_itself_only_where_prompts_are_logged(tmp_path: Path) -> None:
    finish(tmp_path, HYBRID, CHITTA_LOG_PROMPTS="1")
    assert kept(tmp_path)[0]["prompt"] == PROMPT


def test_nothing_is_kept_where_the_person_wants_none(tmp_path: Path) -> None:
    finish(tmp_path, HYBRID, CHITTA_GAP_LOG="0")
    assert not (tmp_path / "state" / gaps.NAME).exists()


@pytest.mark.parametrize(
    "results",
    [
        (HYBRID, LaneResult("semantic", "late")),
        (HYBRID, LaneResult("semantic", "crash")),
        (LaneResult("hybrid", "unavailable"), KEYWORD),
        (HYBRID, KEYWORD._replace(header=Header("keyword", warming=True))),
        (HYBRID._replace(header=Header("hybrid", k=10, exhausted=True, note="the store is empty")),),
        (HYBRID._replace(header=Header("hybrid", maxrel=0.1)),),
        (LaneResult("correction-key", "ok", 3.0, Header("correction-key")),),
        (LaneResult("hybrid", "ablated"), KEYWORD),
        (),
    ],
    ids=["late", "crash", "unavailable", "warming", "no index", "no notes", "skipped", "left out", "no lanes"],
)
def test_trouble_and_what_was_not_asked_are_no_gap(tmp_path: Path, results: tuple[LaneResult, ...]) -> None:
    finish(tmp_path, *results)
    assert kept(tmp_path) == []


def test_what_was_shown_or_would_be_shown_again_is_no_gap(tmp_path: Path) -> None:
    known = LaneResult("semantic", "ok", 3.0, Header("semantic"), (ROW,))
    for _ in range(2):
        finish(tmp_path, HYBRID._replace(header=Header("hybrid", maxrel=0.9, size=40)), known)
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "continue to the next task please",
        "yes merge it",
        "Fully Verify Once More All Over",
        "thanks, snowflake!",
        "👍👍",
    ],
)
def test_chatter_is_no_gap(tmp_path: Path, prompt: str) -> None:
    finish(tmp_path, HYBRID, request=ASKED._replace(prompt=prompt, tokens=distinctive(prompt)))
    assert kept(tmp_path) == []


def test_a_merge_that_is_done_again_keeps_one_line(tmp_path: Path) -> None:
    for _ in range(2):
        finish(tmp_path, HYBRID, request=ASKED._replace(run="r1"))
    assert len(kept(tmp_path)) == 1


def test_a_prompt_without_a_session_counts_by_its_day(tmp_path: Path) -> None:
    finish(tmp_path, HYBRID, request=ASKED._replace(session=""))
    assert kept(tmp_path)[0]["session"] == "unknown-2027-01-15"


def test_a_store_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file in the way")
    finish(tmp_path, HYBRID)


# Terms


def test_secrets_and_hashes_are_no_terms() -> None:
    text = "rotate sk-live-4f9a8b7c6d5e4f3a2b1c and ghp_AbCdEfGhIjKlMnOpQrStUvWxYz012345 for the billing exporter"
    assert gaps.terms_of(distinctive(text)) == ("billing", "exporter", "rotate")


@given(st.text(max_size=2_000))
def test_terms_are_sorted_distinct_and_few(text: str) -> None:
    terms = gaps.terms_of(distinctive(text))
    assert list(terms) == sorted(set(terms)) and len(terms) <= gaps.MOST_TERMS
    assert all(len(term) <= gaps.MOST_TERM_CHARS for term in terms)


# Surfacing


def test_two_sessions_that_ask_mostly_the_same_are_one_gap() -> None:
    lines = [
        line("billing export snowflake", "s1"),
        line("billing export schedule snowflake", "s2", ts="2026-11-03T10:00:00Z"),
        line("kafka retention", "s3"),
    ]
    (gap,) = gaps.surfaced(lines)
    assert gap == gaps.Gap(
        ("billing", "export", "snowflake"), "global", 2, 2, "2026-11-01T10:00:00Z", "2026-11-03T10:00:00Z"
    )
    assert len(gaps.surfaced(lines, 1)) == 2


def test_one_session_asking_often_does_not_surface() -> None:
    assert gaps.surfaced([line("billing export")] * 9) == []


def test_realms_are_apart_and_half_in_common_is_enough() -> None:
    assert gaps.surfaced([line("a b", "s1", "one"), line("a b", "s2", "two")]) == []
    assert gaps.jaccard("abc", "abcd") >= gaps.SAME_FROM > gaps.jaccard("abc", "cde")
    assert gaps.jaccard("", "") == 0.0


def test_the_most_asked_come_first_then_the_latest() -> None:
    lines = [line("a b", s) for s in ("1", "2")]
    lines += [line("c d", s, ts="2026-11-05T00:00:00Z") for s in ("1", "2")]
    lines += [line("e f", s) for s in ("1", "2", "3")]
    assert [gap.terms[0] for gap in gaps.surfaced(lines)] == ["e", "c", "a"]


def test_forgetting_one_gap_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / gaps.NAME
    lines = [line("a b", "1"), line("a b", "2"), line("c d", "1")]
    path.write_text("".join(json.dumps(one) + "\n" for one in [*lines, {"ts": 3}]))
    assert gaps.forget(str(tmp_path), gaps.matching(gaps.surfaced(lines), ["A"])) == 2
    assert [one["terms"] for one in gaps.read(str(tmp_path))] == [["c", "d"]]
    assert gaps.forget(str(tmp_path)) == 1 and not path.exists()


def test_a_full_log_of_different_questions_is_grouped_in_a_moment() -> None:
    lines = [
        {"ts": "2026-01-01T00:00:00Z", "realm": "r", "session": str(n), "terms": ["stripe", f"b{n}", f"c{n}"]}
        for n in range(6_000)
    ]
    began = time.monotonic()
    assert gaps.surfaced(lines) == []
    assert time.monotonic() - began < 5.0


def test_a_question_whose_answer_the_session_was_shown_is_no_gap() -> None:
    from types import SimpleNamespace

    answer = ROW._replace(shared=("billing", "export"))
    verdict = SimpleNamespace(admitted=(), dropped=(("a", "conf"),), trace=(("hybrid", answer, "conf"),))
    asked = (ASKED, (HYBRID, KEYWORD), verdict)
    assert gaps.of_prompt(*asked, seen=("a",)) == () and gaps.of_prompt(*asked, seen=("b",)) != ()  # type: ignore[arg-type]
