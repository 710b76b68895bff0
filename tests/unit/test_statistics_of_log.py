"""What the lines of a recall log add up to."""

from datetime import date
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chitta.feedback import DOWN, UP, Judgement
from chitta.statistics_of_log import Lane, Realm, Shown, Span, Statistics, lanes_of, summarise

FIRST, LAST = date(2026, 11, 3), date(2026, 11, 16)
TAGS = {"correction-key": "corrk", "hybrid": "hyb"}


def line(day: str, *shown: str, realm: str = "global", state: str = "ok", **more: Any) -> dict[str, Any]:
    return {
        "time": f"{day}T10:00:00Z",
        "block": f"b{day}",
        "realm": realm,
        "admitted": [{"id": name, "tag": "hyb", "conf": 0.9} for name in shown],
        "lanes": {"hybrid": {"state": state}},
        "degraded": [] if state == "ok" else [f"hybrid {state}"],
        "total_ms": 100.0,
        **more,
    }


def said(verdict: str, name: str, block: str) -> Judgement:
    return Judgement("2026-11-10T10:00:00Z", block, "s", name, verdict, 0.9, 0.8, "hyb")


def count(*lines: dict[str, Any], judgements: tuple[Judgement, ...] = (), realm: str = "", step: int = 7) -> Statistics:
    return summarise(lines, judgements, first=FIRST, last=LAST, step=step, realm=realm, tags=TAGS)


def test_prompts_are_answered_silent_or_degraded() -> None:
    found = count(line("2026-11-04", "a", "b"), line("2026-11-12"), line("2026-11-13", state="late"))
    assert (found.prompts, found.answered, found.silent, found.degraded, found.notes) == (3, 1, 2, 1, 2)


def test_the_start_of_a_session_is_no_prompt() -> None:
    found = count(line("2026-11-04", "a"), line("2026-11-04", "b", "c", event="SessionStart"))
    assert (found.prompts, found.notes, found.starts, found.start_notes) == (1, 1, 1, 2)
    assert [one.notes for one in found.lanes] == [1] and [one.id for one in found.shown] == ["a"]


def test_a_trial_is_no_prompt_and_a_start_has_its_own_tokens() -> None:
    start = line("2026-11-04", "b", event="SessionStart", chars=41)
    found = count(line("2026-11-04", "a", session="try-1"), line("2026-11-05", session="s", chars=8), start)
    assert (found.prompts, found.notes, found.tokens, found.start_tokens) == (1, 0, 2, 11)


def test_only_the_days_asked_for_count_and_spans_end_with_the_last() -> None:
    found = count(line("2026-11-02", "a"), line("2026-11-03", "a"), line("2026-11-16"), line("2026-11-17", "a"))
    assert found.spans == (Span("2026-11-03", 1, 1, 1), Span("2026-11-10", 1, 0, 0))


def test_a_span_of_one_day_has_each_day_once() -> None:
    begins = [span.begins for span in count(step=1).spans]
    assert begins[0] == "2026-11-03" and begins[-1] == "2026-11-16" and len(set(begins)) == len(begins) == 14


def test_realms_by_what_they_were_shown() -> None:
    lines = (line("2026-11-04", realm="x"), line("2026-11-04", realm="x"), line("2026-11-04", "a", realm="y"))
    assert count(*lines).realms == (Realm("y", 1, 1, 1), Realm("x", 2, 0, 0))
    assert count(*lines, realm="x").prompts == 2


def test_lanes_by_tag_with_what_they_missed() -> None:
    key: dict[str, Any] = {
        "lanes": {"correction-key": {"state": "ok"}, "hybrid": {"state": "ablated"}, "own": {"state": "crash"}}
    }
    lines = [line("2026-11-04", "a"), line("2026-11-04", state="late"), line("2026-11-04", **key)]
    assert lanes_of(lines, TAGS) == (Lane("corrk", 1, 0, 0, 0), Lane("hyb", 2, 1, 0, 1), Lane("own", 1, 0, 1, 0))


def test_notes_by_how_often_and_what_was_said_of_them_in_these_prompts() -> None:
    lines = (line("2026-11-04", "a", "b"), line("2026-11-05", "b"))
    words = (said(UP, "b", "b2026-11-04"), said(DOWN, "b", "b2026-11-05"), said(UP, "b", "long ago"))
    found = count(*lines, judgements=words)
    assert found.shown == (Shown("b", 2, 1, 1), Shown("a", 1, 0, 0))
    assert (found.up, found.down) == (1, 1)


def test_times_and_tokens() -> None:
    found = count(*(line("2026-11-04", "a", total_ms=float(n), chars=5) for n in range(100)), line("2026-11-05", "a"))
    assert found.p50_ms == 50.0 and found.p95_ms == 95.0
    assert (found.tokens, found.measured) == (200, 100)  # 5 characters are 2 tokens
    assert count().p50_ms is None


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from("time block realm admitted lanes degraded total_ms chars".split()),
            st.one_of(
                st.none(),
                st.text(max_size=5),
                st.integers(),
                st.just("2026-11-05T10:00:00Z"),
                st.lists(st.one_of(st.none(), st.dictionaries(st.sampled_from(["id", "tag"]), st.text(max_size=3)))),
                st.dictionaries(st.text(max_size=3), st.one_of(st.none(), st.dictionaries(st.text(), st.text()))),
            ),
        ),
        max_size=5,
    )
)
def test_a_log_of_anything_is_counted(lines: list[dict[str, Any]]) -> None:
    found = count(*lines)
    assert 0 <= found.answered <= found.prompts == sum(span.prompts for span in found.spans)
