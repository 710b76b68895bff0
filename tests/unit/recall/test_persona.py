"""Questions about habits, and when a note's one line answers them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.persona import CERTAIN_AT, THRESHOLD, PersonaLine, asks_of_habits, confidence_of, persona_of

QUESTION = "what testing style do we use?"


def habit(name: str = "n1", field: object = "testing_style", proof: int = 10, **fields: object) -> Note:
    note = Note(id=name, title="pytest with plain asserts", proof_count=proof, extra=(("persona", field),))
    return note._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    [
        QUESTION,
        "How do we name branches",
        "what does the team use for tests",
        "which conventions hold here",
        "do you know what I prefer",
        "how are errors generally handled",
        "we usually do what?",
        "the persona",
        "code style",
        "and the TEAM STYLES?",
        "so what’s our convention",
    ],
)
def test_asks_of_habits(query: str) -> None:
    assert asks_of_habits(query)


@pytest.mark.parametrize(
    "query",
    ["fix the testing style", "what is the port", "do we ship on friday", "how does the lock work", "unusually", ""],
)
def test_asks_of_one_thing(query: str) -> None:
    assert not asks_of_habits(query)


def test_a_habit_answers_in_one_line() -> None:
    found = persona_of(QUESTION, [Note(id="other", title="a lock"), habit()])
    assert found == PersonaLine("testing_style", "pytest with plain asserts", 10 / CERTAIN_AT, "n1")
    assert found.line == "testing_style: pytest with plain asserts (persona, confidence 0.83)"


def test_confidence_is_observations_over_twelve_or_the_authors_own() -> None:
    assert confidence_of(habit(proof=3, confidence=0.0)) == 3 / 12
    assert confidence_of(habit(proof=40)) == 1.0
    assert confidence_of(habit(proof=1, confidence=0.9)) == 0.9
    assert confidence_of(habit(proof=11, confidence=0.9)) == 11 / 12
    assert confidence_of(habit(proof=1, confidence=float("nan"))) == 1 / 12
    assert confidence_of(habit(proof=1, confidence=7.0)) == 1.0


def test_below_the_threshold_a_search_answers() -> None:
    assert 9 / CERTAIN_AT < THRESHOLD < 10 / CERTAIN_AT
    assert persona_of(QUESTION, [habit(proof=9)]) is None
    assert persona_of(QUESTION, [habit(proof=1)]) is None  # with the confidence of a note that has none of its own
    assert persona_of(QUESTION, [habit(proof=1, confidence=THRESHOLD)]) is not None


def test_every_part_of_the_field_has_to_be_a_word_of_the_query() -> None:
    notes = [habit()]
    assert persona_of("what style do we use?", notes) is None
    assert persona_of("what retesting style do we use?", notes) is None
    assert persona_of("what testing_style do we use?", notes) is not None
    assert persona_of("which Testing Styles do we use?", notes) is not None
    assert persona_of("what class name do we prefer", [habit(field="class_names")]) is not None
    assert persona_of("what cla name do we prefer", [habit(field="class_names")]) is None
    assert persona_of("fix the testing style", notes) is None  # asks for nothing in general


def test_the_surest_answers_and_ties_go_by_id() -> None:
    assert persona_of(QUESTION, [habit("a", proof=10), habit("b", proof=11)]) == persona_of(
        QUESTION, [habit("b", proof=11)]
    )
    tied = persona_of(QUESTION, [habit("b", proof=20), habit("a", proof=30)])
    assert tied is not None and tied.id == "a"


@pytest.mark.parametrize(
    "note",
    [
        habit(superseded_by="n2"),
        habit(quarantine=True),
        habit(title="  "),
        habit(field=3),
        habit(field=["testing_style"]),
        habit(field="_"),
        habit(extra=()),
    ],
)
def test_notes_that_say_nothing_valid_do_not_answer(note: Note) -> None:
    assert persona_of(QUESTION, [note]) is None


def test_the_line_is_one_line() -> None:
    found = persona_of(QUESTION, [habit(title="pytest\n\n  first")])
    assert found is not None and found.line.startswith("testing_style: pytest first (")


@given(st.text(st.characters()), st.text(st.characters()), st.integers(-5, 50), st.floats())
def test_never_raises_and_never_answers_below_the_threshold(query, field, proof, confidence) -> None:  # type: ignore[no-untyped-def]
    note = habit(field=field, proof=proof, confidence=confidence)
    for asked in (query, f"what {field} do we prefer"):
        found = persona_of(asked, [note])
        assert found is None or THRESHOLD <= found.confidence <= 1.0


def test_nobody_is_no_successor_and_a_retired_habit_does_not_answer() -> None:
    assert persona_of(QUESTION, [habit(superseded_by="none")]) is not None
    assert persona_of(QUESTION, [habit(extra=(("persona", "testing_style"), ("status", "archived")))]) is None
