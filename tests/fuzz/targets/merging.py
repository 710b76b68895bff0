"""A note that was changed on two machines: nothing that either side wrote is gone."""

from __future__ import annotations

from tests.fuzz.kind import Target, choice, must, split, text_of
from tests.fuzz.places import samples

from chitta.notes.frontmatter import format_note
from chitta.portable.lines import merge_lines
from chitta.portable.note_files import MergedFile, merge_files, note_of


def merged_lines(data: bytes) -> None:
    base, ours, theirs = map(text_of, split(data, 3))
    merged = merge_lines(base, ours, theirs)
    before, lines = set(base.split("\n")), set(merged.text.split("\n"))
    must(set(ours.split("\n")) - before <= lines, "a line of ours is lost", base, ours, theirs, merged.text)
    other = set(theirs.split("\n")) - before
    must(merged.conflict or other <= lines, "a line of theirs is lost", base, ours, theirs, merged.text)
    must(merge_lines(base, ours, ours).text == ours, "one edit on both sides is another", ours)
    swapped = merge_lines(base, theirs, ours)
    must(swapped.conflict == merged.conflict, "a conflict on one side only", base, ours, theirs)


def merged_files(data: bytes) -> None:
    which, data = choice(data, 4)
    base, ours, theirs = split(data, 3)
    old = base if which % 2 else None
    merged = merge_files(old, ours, theirs, "global/a-note.md", "laptop", lambda place: None)
    assert merged is not None
    again = merge_files(old, ours, theirs, "global/a-note.md", "laptop", lambda place: None)
    must(again == merged, "merged again it is another", ours, theirs)
    _keeps(merged, old, ours)
    _keeps(merged, old, theirs)
    if merged.content not in (ours, theirs):
        note = note_of(merged.content, "global/a-note.md")
        must(format_note(note).encode() == merged.content, "a merged note that is written otherwise", merged.content)


def _keeps(merged: MergedFile, base: bytes | None, side: bytes) -> None:
    """What a side's text has that was not there before stands in one of the two files."""
    if base is not None and side == base:
        return
    before = set(note_of(base, "global/a-note.md").text.split("\n")) if base is not None else set()
    kept = "\n".join(
        note_of(content, "global/a-note.md").text for content in (merged.content, (merged.beside or ("", b""))[1])
    ).split("\n")
    new = {line for line in note_of(side, "global/a-note.md").text.split("\n") if line.strip()} - before
    must({line.strip() for line in new} <= {line.strip() for line in kept}, "a line is lost", new, kept)


def _seeds() -> list[bytes]:
    base = b"---\nid: a-note\nkind: wisdom\ntitle: T\ntags: [a, b]\nproof_count: 2\nsessions: [s1]\n---\n\none\ntwo\nthree\n"
    ours = base.replace(b"two", b"TWO").replace(b"[a, b]", b"[a, c]")
    theirs = base.replace(b"three", b"three\nfour").replace(b"[s1]", b"[s1, s2]").replace(b"wisdom", b"pattern")
    clash = base.replace(b"two", b"zwei").replace(b"title: T", b"title: Other")
    notes = samples("lib/chitta/samples/notes/**/*.md")[:2]
    return [
        bytes([n]) + b"\x1e\x1f".join(three)
        for n in (0, 1)
        for three in ([base, ours, theirs], [base, ours, clash], [b"", ours, theirs], [notes[0], base, notes[-1]])
    ]


TARGETS = (
    Target(
        "merged-files",
        merged_files,
        _seeds,
        (b"\n", b"\ntags: [", b"\nx: {a: 1}", b"\nx: [1, 2]", b"---\n", b"\nid: b", b"\x1e\x1f", b"\nfour"),
    ),
    Target(
        "merged-lines",
        merged_lines,
        lambda: [
            b"a\nb\nc\x1e\x1fa\nB\nc\x1e\x1fa\nb\nc\nd",
            b"\x1e\x1fa\nb\x1e\x1fa\nc",
            b"a\x1e\x1f\x1e\x1fb",
            b"a\na\na\x1e\x1fa\na\x1e\x1fa\nb\na",
        ],
        (b"a\n", b"b\n", b"\n", b"\x1e\x1f", b"c"),
    ),
)
