"""Spread, doubles and contradictions."""

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.diversify import (
    Contradiction,
    Similarity,
    contradictions,
    maximal_marginal_relevance,
    near_duplicates,
    says_replaced,
    settle,
)
from chitta.recall.fuse import ordered

rankings = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.floats(-2, 5), max_size=9).map(ordered)


def alike(*pairs: str) -> Similarity:
    """A similarity of 1 for the pairs given as two letters, else 0."""
    return lambda one, other: float(one + other in pairs or other + one in pairs)


def names(ranking: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in ranking]


# Maximal marginal relevance


def test_a_double_makes_room_for_another() -> None:
    ranking = [("a", 1.0), ("b", 0.9), ("c", 0.5)]
    # b: 0.7 · 0.9 − 0.3 · 1 = 0.33; c: 0.7 · 0.5 − 0.3 · 0 = 0.35
    assert names(maximal_marginal_relevance(ranking, alike("ab"), 2)) == ["a", "c"]
    assert names(maximal_marginal_relevance(ranking, alike(), 2)) == ["a", "b"]


def test_relevance_is_over_the_best_of_the_window() -> None:
    # b: 0.7 · 0.2 / 0.2 − 0.3 = 0.4; c: 0.7 · 0.15 / 0.2 = 0.525: the same as with all scores times five
    ranking = [("a", 0.2), ("b", 0.2), ("c", 0.15)]
    assert names(maximal_marginal_relevance(ranking, alike("ab"), 3)) == ["a", "c", "b"]


@pytest.mark.parametrize("pair", ["ac", "bc"])
def test_the_likeness_that_counts_is_to_any_taken_one(pair: str) -> None:
    ranking = [("a", 1.0), ("b", 0.9), ("c", 0.85), ("d", 0.5)]
    assert names(maximal_marginal_relevance(ranking, alike(pair), 4)) == ["a", "b", "d", "c"]


@given(rankings, st.integers(0, 10), st.integers(0, 9))
def test_it_keeps_the_first_and_is_complete(ranking: list[tuple[str, float]], limit: int, seed: int) -> None:
    def similarity(one: str, other: str) -> float:
        return random.Random(f"{seed}{sorted((one, other))}").uniform(-1, 1)

    spread = maximal_marginal_relevance(ranking, similarity, limit, window=4)
    assert spread[:1] == ranking[: min(1, limit)]
    assert len(spread) == len(set(spread)) == min(limit, len(ranking))
    assert set(spread) <= set(ranking)
    assert set(spread[:4]) <= set(ranking[:4]), "past the window only fills"
    assert maximal_marginal_relevance(ranking, similarity, limit, lam=1.0) == ranking[:limit]
    assert maximal_marginal_relevance(ranking, None, limit) == ranking[:limit]


# Doubles

PRUNE = "Run git worktree prune after a folder was deleted by hand, before the branch is used again somewhere else"


def test_the_same_content_is_shown_once_also_without_vectors() -> None:
    held = {"a": Note("a", text="x y"), "b": Note("b", text="other"), "c": Note("c", text="x  y\n")}
    kept, doubles = near_duplicates([("a", 3.0), ("b", 2.0), ("c", 1.0)], held, None)
    assert kept == [("a", 3.0), ("b", 2.0)] and doubles == {"c": "a"}


def test_near_vectors_and_near_words_are_a_double() -> None:
    held = {"a": Note("a", text=PRUNE), "b": Note("b", text=PRUNE + "!")}
    assert near_duplicates([("b", 2.0), ("a", 1.0)], held, alike("ab")) == ([("b", 2.0)], {"a": "b"})
    assert near_duplicates([("b", 2.0), ("a", 1.0)], held, alike())[1] == {}
    held["b"] = Note("b", text="Branches are taken while a stale folder of theirs is still registered")
    assert near_duplicates([("b", 2.0), ("a", 1.0)], held, alike("ab"))[1] == {}


@pytest.mark.parametrize(
    "one, other",
    [
        (f"{PRUNE}: -d", f"{PRUNE}: -D"),
        (f"{PRUNE} after 30 s", f"{PRUNE} after 300 s"),
        (PRUNE, f"Never {PRUNE}"),
    ],
)
def test_another_number_option_or_negation_is_another_note(one: str, other: str) -> None:
    held = {"a": Note("a", text=one), "b": Note("b", text=other)}
    assert near_duplicates([("a", 2.0), ("b", 1.0)], held, alike("ab"))[1] == {}


def test_doubles_of_a_double_name_the_one_that_is_kept() -> None:
    held = {"a": Note("a", text=PRUNE), "b": Note("b", text=PRUNE + "!"), "c": Note("c", text=PRUNE + "!")}
    kept, doubles = near_duplicates([("a", 3.0), ("b", 2.0), ("c", 1.0), ("x", 0.5)], held, alike("ab", "ac"))
    assert names(kept) == ["a", "x"] and doubles == {"b": "a", "c": "a"}


# Contradictions

SESSIONS = Note(
    "sessions",
    title="Auth convention: server-side sessions",
    text="This supersedes the JWT convention of last year.",
    tags=("auth", "sessions", "convention"),
    created="2026-05-15",
)
TOKENS = Note(
    "tokens",
    title="Auth convention: stateless JWT",
    text="Services mint JWTs.",
    tags=("auth", "jwt", "convention"),
    created="2025-08-10",
)


def pairs(*notes: Note) -> list[tuple[str, str]]:
    return [(one.winner, one.loser) for one in contradictions(notes)]


def test_of_two_rules_of_one_name_the_newer_holds() -> None:
    expected = [Contradiction("sessions", "tokens", "replaced by Auth convention: server-side sessions, 2026-05-15")]
    assert contradictions([TOKENS, SESSIONS]) == contradictions([SESSIONS, TOKENS]) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"created": "2025-08-10"},
        {"created": ""},
        {"tags": ("sessions",)},
        {"title": "Deploy convention: server-side sessions"},
        {"title": "Server-side sessions"},
    ],
)
def test_without_dates_tags_or_the_same_head_nothing_is_said(change: dict[str, Any]) -> None:
    assert pairs(SESSIONS._replace(**change), TOKENS) == []


def test_two_notes_on_one_tool_are_no_contradiction() -> None:
    one = Note("one", title="Git: squash commits", tags=("git", "commits"), created="2025-01-01")
    two = Note("two", title="Git: split commits", tags=("git", "commits"), created="2026-01-01")
    assert pairs(one, two) == []
    actions = [note._replace(title=note.title.replace("Git", "GitHub Actions")) for note in (one, two)]
    assert pairs(*actions) == []


def test_two_rules_of_one_name_on_different_things_are_no_contradiction() -> None:
    one = Note("one", title="Naming convention: plural", tags=("names", "tables", "sql"), created="2025-01-01")
    two = Note("two", title="Naming convention: kebab case", tags=("names", "branches", "git"), created="2026-01-01")
    assert pairs(one, two) == []
    assert pairs(one, two._replace(tags=("names", "tables"))) == [("two", "one")]


def test_a_head_of_no_rule_needs_the_newer_to_speak_of_replacing_the_older() -> None:
    one = Note("one", title="CI runner: Jenkins", tags=("ci",), created="2025-01-01")
    two = Note("two", title="CI runner: Buildkite", text="We moved off Jenkins.", tags=("ci",), created="2026-01-01")
    assert pairs(one, two) == [("two", "one")]
    assert pairs(one, two._replace(text="We moved off Travis.")) == []
    assert pairs(one, two._replace(created="2024-01-01")) == []


@pytest.mark.parametrize(
    "text",
    [
        "SUPERSEDED in practice by sessions (see the new convention).",
        "<!-- archived: 2025 -->\n\n## Learning\n\nDEPRECATED: use sessions",
        "Obsolete since the move to sessions",
        "**Deprecated** since May.",
        "> This note is superseded.\n\nServices mint JWTs.",
        "No longer in use.",
        "## Superseded by sessions\n\nServices mint JWTs.",
    ],
)
def test_a_note_may_say_that_it_is_replaced(text: str) -> None:
    old = Note("old", title="Minting JWTs", text=text, tags=("auth", "jwt", "convention"))
    assert says_replaced(old)
    assert pairs(old, SESSIONS) == [("sessions", "old")]


@pytest.mark.parametrize(
    "text",
    [
        "Deprecated packages show up in npm outdated.",
        "Replaced words are marked by the editor.",
        "Services mint JWTs.\n\nThe cookie API is deprecated: do not use it.",
        "Find what is obsolete with brew outdated.",
    ],
)
def test_a_note_may_speak_of_what_is_replaced(text: str) -> None:
    assert not says_replaced(Note("n", title="Old packages", text=text))


def test_a_title_may_say_that_the_note_is_replaced() -> None:
    assert says_replaced(Note("n", title="[DEPRECATED] Minting JWTs"))
    assert says_replaced(Note("n", title="Minting JWTs (superseded)"))
    assert not says_replaced(Note("n", title="Find deprecated calls"))


def test_what_says_it_is_replaced_loses_to_its_subjects_newest_and_to_no_stranger() -> None:
    old = TOKENS._replace(text="SUPERSEDED by sessions")
    stranger = Note("stranger", title="Deploy convention: Fly", tags=("deploy", "convention"), created="2026-06-01")
    older = SESSIONS._replace(id="older", created="2024-01-01")
    also_gone = SESSIONS._replace(id="also", text="DEPRECATED: ask first")
    assert pairs(old, stranger, older, also_gone) == []
    assert pairs(stranger, old, SESSIONS) == [("sessions", "tokens")]


def test_a_title_and_its_negation_contradict_and_the_newer_holds() -> None:
    do = Note("do", title="Always squash commits before merging", created="2025-01-01")
    never = Note("never", title="Never squash commits before merging", created="2026-01-01")
    assert pairs(do, never) == [("never", "do")]
    assert pairs(do._replace(created="2027-01-01"), never) == [("do", "never")]
    assert pairs(do, never._replace(title="Never squash commits after a review")) == []
    assert pairs(do, never._replace(created="2025-01-01")) == [], "nobody can tell which"
    assert pairs(do, never._replace(created="2025-01-01", kind="correction")) == [("never", "do")]


def test_a_correction_holds_against_another_note_of_its_title() -> None:
    wrong = Note("wrong", title="Restart the web dyno with heroku restart", created="2026-01-01")
    right = Note("right", kind="correction", title="Restart the web dyno with fly restart", created="2025-01-01")
    assert pairs(wrong, right) == [("right", "wrong")]
    assert pairs(wrong, right._replace(kind="insight")) == []
    assert pairs(wrong, right._replace(title="Scale the worker with fly scale")) == []


@given(
    st.permutations([SESSIONS, TOKENS._replace(text="DEPRECATED: see sessions"), Note("x"), Note("y", title="Y: y")])
)
def test_verdicts_do_not_hang_on_the_order(notes: list[Note]) -> None:
    assert pairs(*notes) == [("sessions", "tokens")]


# Settling


def test_a_loser_is_placed_directly_below_its_winner() -> None:
    ranking = [("old", 0.9), ("x", 0.8), ("new", 0.7), ("y", 0.6)]
    found = [Contradiction("new", "old", "")]
    assert settle(ranking, found) == [("x", 0.8), ("new", 0.7), ("old", 0.7), ("y", 0.6)]


def test_hundreds_of_notes_written_anew_are_settled_in_no_time() -> None:
    text = "The service is deployed with make ship after the release manager has approved it in the tracker. " * 6
    days = [f"{2000 + at // 12}-{at % 12 + 1:02d}-01" for at in range(200)]
    notes = [Note(f"n{at}", title="Deploy with make ship", text=text, created=day) for at, day in enumerate(days)]
    started = time.process_time()
    settled = settle([(note.id, 1.0) for note in notes], contradictions(notes))
    assert time.process_time() - started < 3.0  # each text was once read anew for each pair: ten seconds
    assert names(settled)[0] == "n199"


def test_a_loser_further_down_stays_there() -> None:
    ranking = [("new", 0.9), ("x", 0.8), ("old", 0.1)]
    assert settle(ranking, [Contradiction("new", "old", "")]) == ranking
    assert settle(ranking, [Contradiction("not here", "new", "")]) == ranking


def test_a_loser_that_beats_another_takes_it_along() -> None:
    found = [Contradiction("b", "a", ""), Contradiction("c", "b", "")]
    assert names(settle([("a", 3.0), ("b", 2.0), ("c", 1.0)], found)) == ["c", "b", "a"]


@given(rankings, st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=6))
def test_settling_ends_and_leaves_nothing_out(ranking: list[tuple[str, float]], found: list[tuple[str, str]]) -> None:
    settled = settle(ranking, [Contradiction(winner, loser, "") for winner, loser in found if winner != loser])
    assert sorted(names(settled)) == sorted(names(ranking))
    if len(found) == 1 and found[0][0] != found[0][1] and {*found[0]} <= {*names(ranking)}:
        assert names(settled).index(found[0][0]) < names(settled).index(found[0][1])
