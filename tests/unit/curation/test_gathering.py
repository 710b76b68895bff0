from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.curation.gathering import blocks, gathered, joined, proofs
from chitta.notes.imprint import imprint_of, imprinted, is_edited
from chitta.notes.note import Note

DAY = "2025-06-01"


def test_the_first_keeps_its_id_and_nothing_that_was_said_is_lost() -> None:
    one = Note("a", title="A", text="First.\n\nBoth.", created="2025-02-01", tags=("x",), confidence=0.4, source="s1")
    two = Note(
        "b", title="B", text="both.\n\nSecond.", created="2025-01-01", tags=("y", "x"), proof_count=3, source="s2"
    )
    whole, (gone,) = gathered([one, two], DAY)
    assert (whole.id, whole.title, whole.text) == ("a", "A", "First.\n\nBoth.\n\nSecond.")
    assert (whole.created, whole.updated, whole.tags, whole.source) == ("2025-01-01", DAY, ("x", "y"), "s1; s2")
    assert (whole.confidence, whole.proof_count, whole.supersedes) == (0.6, 4, ("b",))
    assert (gone.id, gone.superseded_by, gone.valid_until, gone.text) == ("b", "a", DAY, two.text)


def test_what_a_person_wrote_makes_the_whole_a_persons() -> None:
    captured = Note("a", kind="operational", authority="captured", extra=(("captured", "fix"), ("session", "s1")))
    own = Note("b", kind="bug-fix", wrong="w", right="r", extra=(("sessions", ["s2"]), ("pinned", True)))
    whole, _ = gathered([captured, own], DAY)
    assert (whole.kind, whole.authority, whole.wrong, whole.right) == ("bug-fix", "advisory", "w", "r")
    keys = dict(whole.extra)
    assert "captured" not in keys and keys["sessions"] == ["s1", "s2"] and keys["pinned"] is True


LONG = "Run the migrations with alembic before the workers start, then restart every queue and web service"


@pytest.mark.parametrize(
    ("first", "second", "kept"), [("2025-01-01", "2025-02-01", 1), ("2025-02-01", "2025-01-01", 0)]
)
def test_of_two_sentences_that_are_alike_the_newer_stays(first: str, second: str, kept: int) -> None:
    texts = (f"{LONG}.", f"{LONG} again.")
    whole, _ = gathered([Note("a", text=texts[0], created=first), Note("b", text=texts[1], created=second)], DAY)
    assert whole.text == texts[kept]


def test_a_sentence_within_another_stands_once() -> None:
    assert joined([f"{LONG}.", f"Always remember this and much more about it:\n{LONG}, but never on Fridays."]) == (
        f"Always remember this and much more about it:\n{LONG}, but never on Fridays."
    )
    assert joined([f"{LONG}; and ten other things stand here that nobody else says.", LONG]).count("alembic") == 1


def test_quarantine_is_not_left_by_a_merge() -> None:
    assert gathered([Note("a"), Note("b", quarantine=True)], DAY)[0].quarantine


def test_one_note_is_no_merge() -> None:
    with pytest.raises(ValueError, match="two"):
        gathered([Note("a"), Note("a")], DAY)


def test_a_fenced_block_is_one_paragraph() -> None:
    text = "Run:\n\n```sh\na\n\nb\n```\n\nEnd."
    assert blocks(text) == ["Run:", "```sh\na\n\nb\n```", "End."]
    assert joined([text, "```sh\na\n\nc\n```"]) == text + "\n\n```sh\na\n\nc\n```"


@given(st.lists(st.text(max_size=80), max_size=4))
def test_joining_again_adds_nothing(texts: list[str]) -> None:
    once = joined(texts)
    assert blocks(joined([once, *texts])) == blocks(once)


def test_a_session_is_counted_once_however_many_notes_name_it() -> None:
    one = Note("a", proof_count=3, extra=(("sessions", ["s1", "s2", "s3"]),))
    other = Note("b", proof_count=4, extra=(("sessions", ["s2", "s3", "s4"]),))
    assert proofs([one, other]) == 5  # four sessions, and one that the other no longer names
    assert proofs([one, other._replace(proof_count=3)]) == 4
    assert proofs([one, Note("c")]) == 4
    assert proofs([one._replace(supersedes=("b",), proof_count=5), other]) == 5
    assert proofs([one._replace(supersedes=("b",)), other._replace(supersedes=("a",))]) == 4


def test_an_imported_note_stays_one_and_counts_as_edited() -> None:
    first = imprinted(Note("a", text="First.", created="2025-01-01"), "0123456789abcdef")
    other = imprinted(Note("b", text="Second.", created="2025-01-01"), "fedcba9876543210")
    whole, _ = gathered([first, other], DAY)
    imprint = imprint_of(whole)
    assert imprint is not None and imprint.source == "0123456789abcdef" and is_edited(whole)
    assert imprint_of(gathered([Note("c", text="Third."), other], DAY)[0]) is None, "no other note's import is its own"


def test_what_tells_of_one_note_alone_is_not_handed_on() -> None:
    put_away = Note("b", text="Second.", extra=(("status", "archived"), ("archived", DAY), ("version_of", "x")))
    assert gathered([Note("a", text="First."), put_away], DAY)[0].extra == ()


@pytest.mark.parametrize(("named", "left"), [(["b"], None), (["b", "c"], ["c"])])
def test_notes_that_contradicted_each_other_do_so_no_more(named: list[str], left: list[str] | None) -> None:
    one, other = Note("a", text="First.", extra=(("conflicts_with", named),)), Note("b", text="Second.")
    assert dict(gathered([one, other], DAY)[0].extra).get("conflicts_with") == left
    assert "conflicts_with" not in dict(gathered([other, one], DAY)[0].extra)
