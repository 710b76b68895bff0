from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.ids import MAX_ID, valid_id
from chitta.notes.note import Note
from chitta.portable.merging import Merged, merge_notes

BASE = Note(
    id="pool-size",
    title="Pool size",
    text="First line.\n\nThe pool holds ten.\n\nLast line.",
    created="2026-01-05",
    tags=("postgres", "pool"),
    confidence=0.6,
    proof_count=3,
)
WORDS = st.sampled_from(["", "one", "two", "three"])
LISTS = st.lists(WORDS.filter(bool), unique=True, max_size=3).map(tuple)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8).map(lambda lines: "\n".join(lines).strip("\n"))
DATES = st.sampled_from(["", "2026-01-01", "2026-02-01"])
NOTES = st.builds(
    Note,
    id=st.just("same"),
    kind=st.sampled_from(["insight", "decision", "operational"]),
    title=WORDS,
    text=TEXTS,
    created=DATES,
    updated=DATES,
    tags=LISTS,
    supersedes=LISTS,
    superseded_by=WORDS,
    confidence=st.sampled_from([0.1, 0.6, 0.9]),
    proof_count=st.integers(0, 5),
    quarantine=st.booleans(),
    wrong=WORDS,
    extra=st.dictionaries(st.sampled_from(["session", "links"]), st.one_of(WORDS, LISTS.map(list))).map(
        lambda fields: tuple(fields.items())
    ),
)


def merged(base: Note | None, ours: Note | None, theirs: Note | None) -> Merged:
    found = merge_notes(base, ours, theirs, "laptop")
    assert found is not None
    return found


def test_edits_of_different_parts_become_one_note() -> None:
    ours = BASE._replace(text=BASE.text.replace("First", "1st"), tags=("postgres", "pool", "db"), updated="2026-02-01")
    theirs = BASE._replace(text=BASE.text.replace("Last", "Final"), confidence=0.3, updated="2026-03-01")
    note, beside, remarks = merged(BASE, ours, theirs)
    assert note.text == "1st line.\n\nThe pool holds ten.\n\nFinal line."
    assert (note.tags, note.confidence, note.updated) == (("postgres", "pool", "db"), 0.3, "2026-03-01")
    assert beside is None and remarks == ("changed on both sides",)


def test_the_same_line_changed_twice_gives_a_second_note_and_no_marks() -> None:
    ours, theirs = (BASE._replace(text=BASE.text.replace("ten", count)) for count in ("twelve", "forty"))
    note, beside, remarks = merged(BASE, ours, theirs)
    assert note == ours and beside is not None
    assert beside.id == "pool-size-from-laptop" and "forty" in beside.text
    assert dict(beside.extra)["conflicts_with"] == ["pool-size"]
    assert "<<<<" not in note.text + beside.text and "pool-size-from-laptop" in remarks[0]


def test_two_titles_are_both_kept() -> None:
    note, beside, _ = merged(BASE, BASE._replace(title="Ours"), BASE._replace(title="Theirs"))
    assert beside is not None and (note.title, beside.title) == ("Ours", "Theirs")


def test_a_tag_removed_on_one_side_is_gone_and_one_added_on_the_other_is_there() -> None:
    note, _, _ = merged(BASE, BASE._replace(tags=("pool",)), BASE._replace(tags=("postgres", "pool", "db")))
    assert note.tags == ("pool", "db")


def test_proofs_of_both_sides_count() -> None:
    note, _, _ = merged(BASE, BASE._replace(proof_count=5), BASE._replace(proof_count=4))
    assert note.proof_count == 3 + 2 + 1


def test_without_a_common_beginning_proofs_are_counted_by_session() -> None:
    def captured(*sessions: str) -> Note:
        return Note("fix", text="x", proof_count=len(sessions), extra=(("sessions", list(sessions)),))

    assert merged(None, captured("a", "b"), captured("b", "c")).note.proof_count == 3
    assert merged(None, Note("fix", text="x", tags=("t",)), Note("fix", text="x")).note.proof_count == 1


def test_both_lowered_or_raised_the_doubt_wins() -> None:
    assert merged(BASE, BASE._replace(confidence=0.9), BASE._replace(confidence=0.2)).note.confidence == 0.2


def test_a_replaced_note_stays_replaced_and_keeps_the_edit() -> None:
    ours = BASE._replace(superseded_by="pool-size-2")
    theirs = BASE._replace(text=BASE.text + "\n\nAdded there.")
    note, beside, remarks = merged(BASE, ours, theirs)
    assert note.superseded_by == "pool-size-2" and "Added there." in note.text and beside is None
    assert "edited on the other" in remarks[1]
    assert merged(BASE, theirs, ours).remarks == remarks


def test_an_edit_wins_over_a_deletion_on_either_side() -> None:
    edit = BASE._replace(text="Edited.")
    assert merged(BASE, edit, None).note == merged(BASE, None, edit).note == edit
    assert merge_notes(BASE, None, None, "laptop") is None


def test_quarantine_and_its_release_are_changes_like_others() -> None:
    held = BASE._replace(quarantine=True)
    assert merged(BASE, held, BASE._replace(tags=())).note.quarantine
    assert not merged(held, BASE, held._replace(tags=())).note.quarantine
    assert merged(None, held, BASE._replace(tags=())).note.quarantine


def test_a_note_renamed_in_place_takes_the_other_side_s_edit() -> None:
    renamed, edit = BASE._replace(id="pool"), BASE._replace(text=BASE.text + "\nMore.")
    for one in (merged(BASE, renamed, edit), merged(BASE, edit, renamed)):
        assert (one.note.id, one.note.text, one.beside) == ("pool", edit.text, None)


def test_two_notes_under_one_file_name_are_both_kept() -> None:
    one, other = Note("one", text="1"), Note("other", text="2")
    assert merged(None, one, other)[:2] == (one, other)


def test_unknown_keys_are_merged_by_their_shape() -> None:
    base = BASE._replace(extra=(("files", ["a"]), ("facts", {"x": 1}), ("session", "s")))
    ours = BASE._replace(extra=(("files", ["a", "b"]), ("facts", {"x": 1, "y": 2}), ("session", "s")))
    theirs = BASE._replace(extra=(("files", ["c"]), ("facts", {"x": 3}), ("domain", "db")))
    found = dict(merged(base, ours, theirs).note.extra)
    assert found == {"files": ["b", "c"], "facts": {"x": 3, "y": 2}, "domain": "db"}


def test_the_second_note_has_an_id_that_a_note_may_have() -> None:
    long = BASE._replace(id="x" * MAX_ID)
    beside = merged(long, long._replace(title="a"), long._replace(title="b")).beside
    assert beside is not None and valid_id(beside.id) and beside.id.endswith("-from-laptop")


def added(before: Note | None, after: Note) -> set[str]:
    old = set(before.text.split("\n")) if before is not None else set()
    return {line for line in after.text.split("\n") if line.strip()} - old


@given(base=st.one_of(st.none(), NOTES), ours=NOTES, theirs=NOTES)
def test_every_line_that_either_side_added_is_kept(base: Note | None, ours: Note, theirs: Note) -> None:
    note, beside, _ = merged(base, ours, theirs)
    lines = set(note.text.split("\n")) | set(beside.text.split("\n") if beside is not None else ())
    assert added(base, ours) | added(base, theirs) <= lines
    assert {name for name in (ours.title, theirs.title) if base is None or name != base.title} - {""} <= {
        note.title,
        beside.title if beside is not None else "",
    }


@given(base=st.one_of(st.none(), NOTES), ours=NOTES, theirs=NOTES)
def test_exchanging_the_sides_keeps_the_same(base: Note | None, ours: Note, theirs: Note) -> None:
    one, other = merged(base, ours, theirs), merged(base, theirs, ours)
    assert (one.beside is None) == (other.beside is None)
    if one.beside is None:
        lists = ("text", "tags", "triggers", "supersedes", "extra")
        for name in (name for name in Note._fields if name not in lists):
            assert getattr(one.note, name) == getattr(other.note, name), name
        assert sorted(one.note.text.split("\n")) == sorted(other.note.text.split("\n"))
        assert set(one.note.tags) == set(other.note.tags) and set(one.note.supersedes) == set(other.note.supersedes)


@given(base=NOTES, edit=NOTES)
def test_one_side_s_change_is_taken_whole(base: Note, edit: Note) -> None:
    assert merged(base, edit, base).note == merged(base, base, edit).note == edit


@given(base=st.one_of(st.none(), NOTES), ours=NOTES, theirs=NOTES)
def test_the_result_can_be_written(base: Note | None, ours: Note, theirs: Note) -> None:
    note = merged(base, ours, theirs).note
    again = parse_note(format_note(note), fallback_id="", fallback_realm="global")
    assert again.text == note.text.strip("\n").rstrip()


def test_lists_of_thousands_are_united_in_their_order() -> None:
    count = 20_000
    old = Note("a", extra=(("k", list(range(count))),))
    ours, theirs = (old._replace(extra=(("k", [*range(start, count), start - 9]),)) for start in (1, 2))
    merged = merge_notes(old, ours, theirs, "laptop")
    assert merged is not None
    assert dict(merged.note.extra)["k"] == [*range(2, count), -8, -7]
