"""What may be in an answer, and questions about one's own doings."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.filters import (
    about_now,
    asks_for_prompts,
    content_hash,
    contradicted,
    drop_cause,
    is_expired,
    moment,
    newest_first,
    newest_of_circle,
    requests_last,
    without_copies,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=timezone.utc)


def cause(note: Note, **options: Any) -> str | None:
    return drop_cause(note, now=NOW, **options)


def test_a_plain_note_stays() -> None:
    assert cause(Note("n", title="t")) is None


def test_each_cause() -> None:
    assert cause(Note("n"), realms={"project:a"}) == "realm"
    assert cause(Note("n", superseded_by="m")) == "superseded"
    assert cause(Note("n", quarantine=True)) == "quarantined"
    assert cause(Note("n", valid_until="2026-05-31")) == "expired"
    assert cause(Note("n", confidence=0.0), min_confidence=0.1) == "confidence"
    assert cause(Note("n", kind="insight"), kinds={"decision"}) == "kind"
    assert cause(Note("n", kind="session")) == "bookkeeping"
    assert cause(Note("n", kind="insight", extra=(("bookkeeping", True),))) == "bookkeeping"


def test_what_was_asked_to_be_shown_is_shown() -> None:
    assert cause(Note("n", quarantine=True), include_quarantined=True) is None
    assert cause(Note("n", superseded_by="m"), include_superseded=True) is None
    assert cause(Note("n", kind="session"), kinds={"session"}) == "bookkeeping", "never an answer"


@pytest.mark.parametrize("kind", ["prompt", "operational", "episode"])
def test_records_of_what_happened_are_ranked_and_not_dropped(kind: str) -> None:
    assert cause(Note("n", kind=kind)) is None


@pytest.mark.parametrize("value", ["", "null", "None", " ~ ", "false", "[]"])
def test_superseded_by_nobody_retires_nothing(value: str) -> None:
    assert cause(Note("n", superseded_by=value)) is None


@pytest.mark.parametrize(
    "status, dropped", [("superseded", True), ("Archived", True), ("indexed", False), (None, False)]
)
def test_status_retires(status: object, dropped: bool) -> None:
    assert (cause(Note("n", extra=(("status", status),))) == "superseded") is dropped


def test_expiry_is_at_the_instant_to_the_microsecond() -> None:
    until = Note("n", valid_until="2026-06-01T12:00:00.000001Z")
    assert not is_expired(until, NOW)
    assert is_expired(until, NOW + timedelta(microseconds=1))
    assert is_expired(Note("n", valid_until="2026-06-01T14:00:00+02:00"), NOW)


def test_a_bare_date_lasts_to_the_end_of_its_day() -> None:
    until = Note("n", valid_until="2026-06-01")
    assert not is_expired(until, datetime(2026, 6, 1, 23, 59, 59))
    assert is_expired(until, datetime(2026, 6, 2))
    assert not is_expired(Note("n", valid_until="until we move"), NOW)
    assert not is_expired(Note("n", valid_until="9999-12-31"), NOW)


def test_a_copy_of_a_retired_note_goes_with_it_and_other_notes_stay() -> None:
    old = Note("old", title="Pool", text="The size is ten.", superseded_by="new")
    copy, new = Note("copy", title="Pool", text="The size  is ten."), Note("new", title="Pool", text="It is more.")
    ranking = [("copy", 0.9), ("old", 0.8), ("new", 0.7), ("unknown", 0.1)]
    notes = {note.id: note for note in (old, copy, new)}
    assert [name for name, _ in without_copies(ranking, notes)] == ["old", "new", "unknown"]
    assert without_copies(ranking, {"copy": copy, "new": new}) == ranking


def test_what_replaced_a_note_is_no_copy_of_it_whatever_it_says() -> None:
    old, back = Note("old", text="Ten.", superseded_by="back"), Note("back", text="Ten.")
    older, stated = (
        Note("older", text="Six.", extra=(("status", "superseded"),)),
        Note("x", text="Six.", supersedes=("older",)),
    )
    notes = {note.id: note for note in (old, back, older, stated)}
    ranking = [(name, 1.0) for name in notes]
    assert without_copies(ranking, notes) == ranking


def test_content_is_the_same_whatever_the_white_space_but_not_the_case() -> None:
    assert content_hash(Note("a", title="T", text="x  y\n")) == content_hash(Note("b", title="T", text="# T\n\nx y"))
    assert content_hash(Note("a", text="git branch -d")) != content_hash(Note("a", text="git branch -D"))
    assert content_hash(Note("a", text="x", right="y")) != content_hash(Note("a", text="x", right="z"))


KINDS = {"p": "prompt", "q": "prompt", "a": "insight", "b": "decision"}
RANKING = [("p", 0.9), ("a", 0.8), ("q", 0.7), ("b", 0.1)]


def test_captured_prompts_rank_below_every_saved_memory() -> None:
    assert requests_last(RANKING, KINDS) == [("a", 0.8), ("b", 0.1), ("p", 0.1), ("q", 0.1)]


def test_captured_prompts_come_first_when_asked_for() -> None:
    assert [name for name, _ in requests_last(RANKING, KINDS, first=True)] == ["p", "q", "a", "b"]


@given(st.dictionaries(st.sampled_from("pqabx"), st.floats(-5, 5)), st.booleans())
def test_requests_last_keeps_all_in_descending_order(scores: dict[str, float], first: bool) -> None:
    ranking = sorted(scores.items(), key=lambda item: -item[1])
    placed = requests_last(ranking, KINDS, first)
    assert {name for name, _ in placed} == set(scores)
    assert [score for _, score in placed] == sorted((score for _, score in placed), reverse=True)
    assert all(score <= scores[name] for name, score in placed)


@pytest.mark.parametrize(
    "query",
    [
        "what did I ask for yesterday?",
        "What have I asked you about redis",
        "which prompts did I type last week",
        "show my last prompt",
        "did I ask about the migration?",
        "what was my previous question?",
    ],
)
def test_questions_for_prompts(query: str) -> None:
    assert asks_for_prompts(query)


@pytest.mark.parametrize(
    "query", ["what does the prompt hook do?", "how do I ask git for the last commit", "ask for a review", "zsh prompt"]
)
def test_questions_that_only_speak_of_prompts(query: str) -> None:
    assert not asks_for_prompts(query)


@pytest.mark.parametrize(
    "query",
    [
        "what am I working on?",
        "What am I working on right now?",
        "what was I doing",
        "what are we working on right now",
        "ok so what were we doing before lunch?",
        "where did we leave off?",
        "what’s my current task?",
    ],
)
def test_questions_about_now(query: str) -> None:
    assert about_now(query)


@pytest.mark.parametrize(
    "query",
    [
        "latest authentication design",
        "what was I doing wrong with the mutex?",
        "what are we working on in the auth module?",
        "what is the status of the deploy?",
        "where are we storing tokens",
        "",
    ],
)
def test_a_question_with_a_subject_is_not_about_now(query: str) -> None:
    assert not about_now(query)


def test_newest_first_is_by_the_later_date_without_prompts_and_bookkeeping() -> None:
    store = [
        Note("undated"),
        Note("b", created="2026-01-02"),
        Note("a", created="2026-01-02"),
        Note("touched", created="2020-01-01", updated="2026-03-01T10:00:00+02:00"),
        Note("p", kind="prompt", created="2026-06-01"),
        Note("s", kind="session", created="2026-06-01"),
    ]
    assert [note.id for note in newest_first(store)] == ["touched", "a", "b", "undated"]


@given(st.text(max_size=60))
def test_any_text_is_read_without_failing(text: str) -> None:
    found = moment(text)
    assert found is None or found.utcoffset() == timedelta(0)
    note = Note("n", superseded_by=text, valid_until=text, created=text)
    assert cause(note) == cause(note)
    assert not (about_now(text) and not text.strip())


def test_of_notes_that_replace_each_other_in_a_circle_the_newest_is_current() -> None:
    def named_after(name: str, heir: str, day: str) -> Note:
        return Note(name, created=day, superseded_by=heir)

    circle = {
        "a": named_after("a", "b", "2026-01-03"),
        "b": named_after("b", "c", "2026-01-01"),
        "c": named_after("c", "a", "2026-01-03"),
        "d": named_after("d", "a", "2026-02-01"),
        "e": named_after("e", "gone", "2026-02-01"),
        "f": Note("f"),
    }
    assert {newest_of_circle(name, circle) for name in "abc"} == {"c"}
    assert {newest_of_circle(name, circle) for name in "defx"} == {""}


@pytest.mark.parametrize(
    ("said", "ids"), [(["a", "b"], ("a", "b")), ([], ()), ("a", ()), (None, ()), ([None, "", 7], ("7",))]
)
def test_what_a_note_contradicts(said: object, ids: tuple[str, ...]) -> None:
    assert contradicted(Note("n", extra=(("conflicts_with", said),))) == ids
    assert contradicted(Note("n")) == ()
