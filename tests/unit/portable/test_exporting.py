from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.frontmatter import note_from_fields
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.portable.exporting import LIST_NAME, Wanted, json_line, not_exported, stored, write_folder, write_jsonl

PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip)
DEEP = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.floats(-1, 1), PLAIN),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(PLAIN, inner, max_size=3)),
    max_leaves=5,
)
LISTS = st.lists(PLAIN.filter(bool), unique=True, max_size=3).map(tuple)
NOTES = st.builds(
    Note,
    id=st.just("one"),
    kind=st.sampled_from(["insight", "correction", "bug-fix"]),
    realm=st.sampled_from(["global", "project:x.org/a/b"]),
    title=PLAIN.map(lambda text: " ".join(text.split())),
    text=st.lists(PLAIN, max_size=4).map(lambda lines: "\n".join(lines).strip("\n").rstrip()),
    created=st.sampled_from(["", "2026-01-01", "2026-01-01T10:00:00+02:00"]),
    updated=st.just(""),
    tags=LISTS,
    confidence=st.floats(0, 1),
    proof_count=st.integers(0, 9),
    triggers=LISTS,
    supersedes=LISTS,
    superseded_by=st.sampled_from(["", "other"]),
    valid_from=st.just(""),
    valid_until=st.just(""),
    source=st.sampled_from(["", "a book"]),
    visibility=st.just("private"),
    quarantine=st.booleans(),
    authority=st.sampled_from(["advisory", "captured"]),
    extra=st.dictionaries(st.sampled_from(["files", "status", "session", "Odd Key"]), DEEP, max_size=3).map(
        lambda fields: tuple(fields.items())
    ),
    wrong=st.sampled_from(["", "npm"]),
    right=st.sampled_from(["", "pnpm"]),
)


@given(note=NOTES)
def test_a_line_holds_the_whole_note(note: Note) -> None:
    line = json_line(note)
    assert "\n" not in line
    fields = json.loads(line)
    text = fields.pop("text")
    assert note_from_fields(fields, text, fallback_id="", fallback_realm="") == note


def test_a_key_called_text_does_not_hide_the_text() -> None:
    fields = json.loads(json_line(Note("one", text="real", extra=(("text", "odd"),))))
    assert (fields["text"], fields["text_"]) == ("real", "odd")


def test_what_is_wanted() -> None:
    note = Note("one", realm="project:x.org/a", kind="operational", authority="captured")
    assert Wanted().takes(note) and Wanted("project:x.org/a", ("operational",)).takes(note)
    assert not Wanted("global").takes(note) and not Wanted(kinds=("insight",)).takes(note)
    assert not Wanted(captured=False).takes(note)


def test_what_cannot_be_read_comes_with_the_reason(tmp_path: Path) -> None:
    store = NoteStore(tmp_path)
    store.write(Note("one", text="text"))
    (tmp_path / "global" / "huge.md").write_bytes(b"x" * (4 << 20) + b"x")
    found = list(stored(tmp_path))
    assert [(item.below, item.note is None) for item in found] == [("global/huge.md", True), ("global/one.md", False)]
    assert "larger than" in found[0].problem


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "new" / "notes.jsonl", [Note("one", text="text")])
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "new" / "notes.jsonl").stat().st_mode & 0o777 == 0o600


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    notes = [("global/a.md", Note("a", text="a")), ("global/b.md", Note("b", text="b"))]
    first = write_folder(tmp_path / "out", notes, forbidden=tmp_path / "home")
    assert first.written == ("global/a.md", "global/b.md")
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    assert write_folder(tmp_path / "out", notes, forbidden=tmp_path / "home").unchanged == first.written
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    changed = [notes[0], ("global/b.md", Note("b", text="B"))]
    assert write_folder(tmp_path / "out", changed, forbidden=tmp_path / "home").written == ("global/b.md",)


def test_stale_files_are_named_until_pruning_is_asked_for(tmp_path: Path) -> None:
    notes = [("global/a.md", Note("a", text="a")), ("global/b.md", Note("b", text="b"))]
    write_folder(tmp_path / "out", notes, forbidden=tmp_path / "home")
    for _ in range(2):
        assert write_folder(tmp_path / "out", notes[:1], forbidden=tmp_path / "home").stale == ("global/b.md",)
        assert (tmp_path / "out/global/b.md").exists()
    assert write_folder(tmp_path / "out", notes[:1], forbidden=tmp_path / "home", prune=True).pruned == ("global/b.md",)
    assert not (tmp_path / "out/global/b.md").exists()


def test_files_of_others_are_neither_overwritten_nor_pruned(tmp_path: Path) -> None:
    (tmp_path / "out/global").mkdir(parents=True)
    (tmp_path / "out/global/a.md").write_text("mine")
    (tmp_path / "out/README.md").write_text("mine")
    notes = [("global/a.md", Note("a", text="a"))]
    assert write_folder(tmp_path / "out", notes, forbidden=tmp_path / "home", prune=True).kept == ("global/a.md",)
    assert {path.read_text() for path in (tmp_path / "out").rglob("*.md")} == {"mine"}


def test_a_list_that_was_tampered_with_removes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "precious.md").write_text("mine")
    (tmp_path / "out" / LIST_NAME).write_text(f"../precious.md\n{tmp_path}/precious.md\n")
    write_folder(tmp_path / "out", [], forbidden=tmp_path / "home", prune=True)
    assert (tmp_path / "precious.md").exists()


def test_a_link_into_the_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home/notes/global").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/global").symlink_to(tmp_path / "home/notes/global")
    with pytest.raises(ValueError, match="into the store"):
        write_folder(tmp_path / "out", [("global/a.md", Note("a", text="a"))], forbidden=tmp_path / "home")


def test_an_export_that_was_killed_knows_what_it_wrote(tmp_path: Path) -> None:
    def dies() -> Iterator[tuple[str, Note]]:
        yield "global/one.md", Note("one", text="One.")
        yield "global/two.md", Note("two", text="Two.")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_folder(tmp_path / "out", dies(), forbidden=tmp_path / "store")
    assert not_exported(tmp_path / "out") == ""
    with open(tmp_path / "out" / LIST_NAME, "a") as listing:
        listing.write("global/thr")  # as a kill may leave it
    notes = [("global/one.md", Note("one", text="Other.")), ("global/three.md", Note("three", text="Three."))]
    done = write_folder(tmp_path / "out", notes, forbidden=tmp_path / "store")
    assert done.written == ("global/one.md", "global/three.md") and done.stale == ("global/two.md",)
    listed = (tmp_path / "out" / LIST_NAME).read_text().splitlines()
    assert listed == ["global/one.md", "global/three.md", "global/two.md"]
