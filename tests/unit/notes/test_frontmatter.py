"""The file format: what is read, what is written, and that one follows from the other."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.notes.frontmatter import (
    MAX_FRONT_MATTER,
    UNREAD_KEY,
    decode,
    format_note,
    heading,
    note_from_fields,
    parse_note,
    parts_of,
    unclosed,
)
from chitta.notes.note import KNOWLEDGE_KINDS, Note


def read(text: str) -> Note:
    return parse_note(text, fallback_id="fallback", fallback_realm="project:here")


FULL = """\
---
id: never-kill-tmux
kind: wisdom
realm: project:github.com/acme/app
title: Never kill the tmux server
created: 2026-03-01
updated: 2026-03-02T10:20:30+02:00
tags: [tmux, safety]
confidence: high
proof_count: 3
triggers: [tmux kill-server]
supersedes: [old-note]
superseded_by: newer
valid_from: 2026-01-01
valid_until: 2027-01-01
source: acme/app docs/tmux.md
visibility: shared
quarantine: yes
authority: binding
key_insight: Kill sessions by name.
weights: {a: 1, b: [2, 3.5]}
---

It ends every session.
"""


def test_every_key_is_read() -> None:
    assert read(FULL) == Note(
        id="never-kill-tmux",
        kind="wisdom",
        realm="project:github.com/acme/app",
        title="Never kill the tmux server",
        text="It ends every session.",
        created="2026-03-01",
        updated="2026-03-02T10:20:30+02:00",
        tags=("tmux", "safety"),
        confidence=0.9,
        proof_count=3,
        triggers=("tmux kill-server",),
        supersedes=("old-note",),
        superseded_by="newer",
        valid_from="2026-01-01",
        valid_until="2027-01-01",
        source="acme/app docs/tmux.md",
        visibility="shared",
        quarantine=True,
        authority="binding",
        extra=(("key_insight", "Kill sessions by name."), ("weights", {"a": 1, "b": [2, 3.5]})),
    )


def test_a_plain_file_is_all_text() -> None:
    note = read("# A *title* #\n\nWords.\n")
    assert note == Note(id="fallback", realm="project:here", title="A *title*", text="# A *title* #\n\nWords.")


@pytest.mark.parametrize(
    "block",
    [
        "title: [unclosed\nquarantine: false",
        "# a comment\n\ntitle: [unclosed",
        "words\n[broken: \nquarantined: true",
        "Any: [",
        "x: !!python/object/apply:os.system ['true']",
        "x: !!int ''",
        "x: !!bool maybe",
        "x: !!timestamp soon",
        "x: &a [1]\ny: *a",
        "x: &a {<<: *a}",
        "x: " + "[" * 5000,
        "x: " + "[" * 5000 + "]" * 5000,
        "title: a\x01b",
    ],
)
def test_front_matter_that_cannot_be_read_holds_its_note_in_quarantine(block: str) -> None:
    note = read(f"---\n{block}\n---\n\nFirst line.\nMore.\n")
    assert note == Note(
        id="fallback",
        realm="project:here",
        title="First line.",
        text="First line.\nMore.",
        quarantine=True,
        extra=((UNREAD_KEY, f"{block}\n"),),
    )
    assert read(format_note(note)) == note


def test_a_note_that_is_held_for_its_front_matter_is_called_by_its_heading() -> None:
    assert read("---\ntitle: [\n---\nwords\n\n# Heading\n").title == "Heading"
    assert read("---\ntitle: [\n---\n").title == ""
    assert parts_of("---\ntitle: [\n---\n").unread == "title: [\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: never closed\nbody\n",
        "---\njust words\n---\nbody\n",
        "---\n\nTwo rulers. About tags: none: here.\n\nNote: words\n\n---\nbody\n",
        "---\n- a\n- list\n---\nbody\n",
        "---\n[a, b]: complex key\n---\nbody\n",
        "---\nx: " + "y" * MAX_FRONT_MATTER + "\n---\nbody\n",
    ],
)
def test_what_is_no_front_matter_is_text(text: str) -> None:
    note = read(text)
    assert note == Note(id="fallback", realm="project:here", text=text.rstrip())
    again = read(format_note(note))
    assert again == note


def test_a_bomb_of_anchors_is_not_unfolded() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    note = read("---\n" + "\n".join(lines) + "\n---\nbody")
    assert note.quarantine and dict(note.extra) == {UNREAD_KEY: "\n".join(lines) + "\n"}


def test_front_matter_that_is_not_closed_says_so() -> None:
    assert "closing" in unclosed("---\ntitle: never closed\nbody\n")
    assert unclosed("---\nwords\n") == unclosed("---\ntitle: t\n---\n") == ""


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_endings_and_a_byte_order_mark_change_nothing(ending: str) -> None:
    assert read("\ufeff" + FULL.replace("\n", ending)) == read(FULL)


def test_the_closing_line_may_be_three_dots_and_have_spaces_after_it() -> None:
    assert read("--- \ntitle: t\n... \nbody").title == "t"
    assert read("--- \ntitle: t\n... \nbody").text == "body"


def test_a_second_front_matter_is_text() -> None:
    note = read("---\ntitle: a\n---\n---\ntitle: b\nrealm: global\n---\nbody")
    assert (note.title, note.realm) == ("a", "project:here")
    assert note.text == "---\ntitle: b\nrealm: global\n---\nbody"
    assert read(format_note(note)) == note


@pytest.mark.parametrize("word", ["No", "1.10", "0123", "1_000", "12:30", "2026-13-45", "~/bin", "1e3", "=", "Off"])
def test_a_title_is_what_is_written_not_what_yaml_makes_of_it(word: str) -> None:
    assert read(f"---\ntitle: {word}\ntags: [{word}]\n---\n").title == word
    assert read(f"---\ntitle: {word}\ntags: [{word}]\n---\n").tags == (word,)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-03-01", "2026-03-01"),
        ("2026-03-01 10:00:00Z", "2026-03-01T10:00:00+00:00"),
        ("'2026-03-01'", "2026-03-01"),
    ],
)
def test_bare_dates_become_iso_dates(written: str, expected: str) -> None:
    assert read(f"---\ncreated: {written}\n---\n").created == expected


def test_a_date_that_is_no_date_is_kept_as_written() -> None:
    assert read("---\ncreated: 2026-13-45\ntitle: t\n---\n").created == "2026-13-45"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("0.8", 0.8),
        ("80%", 0.8),
        ("low", 0.3),
        ("7", 1.0),
        ("-1", 0.0),
        (".nan", 0.6),
        ("soon", 0.6),
        ("[0.5]", 0.5),
        ("", 0.6),
    ],
)
def test_confidence_is_a_share(written: str, expected: float) -> None:
    assert read(f"---\nconfidence: {written}\n---\n").confidence == pytest.approx(expected)


@pytest.mark.parametrize(
    ("written", "expected"), [("yes", True), ("maybe", True), ("no", False), ("", False), ("0", False)]
)
def test_a_doubtful_quarantine_holds(written: str, expected: bool) -> None:
    assert read(f"---\nquarantine: {written}\n---\n").quarantine is expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("quarantined: true", True),
        ("Quarantined: false", False),
        ("quarantine: true\nquarantined: false", True),
        ("quarantine: false\nquarantined: true", True),
        ("quarantined: true\nquarantine: false", True),
    ],
)
def test_quarantined_is_quarantine_and_a_doubt_stays(written: str, expected: bool) -> None:
    note = read(f"---\n{written}\n---\n")
    assert (note.quarantine, note.extra) == (expected, ())
    fields = dict(line.split(": ") for line in written.split("\n"))
    assert note_from_fields(fields, "", fallback_id="i", fallback_realm="r").quarantine is expected


def test_odd_types_give_defaults() -> None:
    note = read("---\nid: {a: b}\nkind: []\nrealm: ../..\nproof_count: many\ntags: {a: b}\nsource: [one, two]\n---\n")
    assert note == Note(id="fallback", realm="project:here", source="one")


def test_one_text_stands_for_a_list() -> None:
    note = read("---\ntags: a, b, a\ntriggers: npm install, then pray\n---\n")
    assert note.tags == ("a", "b")
    assert note.triggers == ("npm install, then pray",)


def test_keys_are_known_in_any_case_and_with_dashes() -> None:
    assert read("---\nTitle: t\nproof-count: 2\n---\n")[:4] == ("fallback", "insight", "project:here", "t")
    assert read("---\nproof-count: 2\n---\n").proof_count == 2


def test_unknown_keys_survive_a_rewrite() -> None:
    text = "---\nzeta: 12:30\nAlpha: [1, two, {x: null}]\nday: 2026-03-01\nblob: !!binary aGk=\n---\nbody"
    note = read(text)
    assert note.extra == (("zeta", "12:30"), ("Alpha", [1, "two", {"x": None}]), ("day", "2026-03-01"), ("blob", "hi"))
    assert read(format_note(note)) == note


def test_a_heading_inside_a_fence_is_a_comment() -> None:
    assert heading("```bash\n# install\n```\n\n# Real  title ##\n") == "Real title"
    assert heading("## second level\n#no space\n") == ""


def test_defaults_are_left_out_and_order_is_fixed() -> None:
    note = Note(id="b", title="T", text="words", confidence=0.9, extra=(("x", 1),), tags=("t",))
    expected = "---\nid: b\nkind: insight\nrealm: global\ntitle: T\ntags: [t]\nconfidence: 0.9\nx: 1\n---\n\nwords\n"
    assert format_note(note) == expected


def test_front_matter_too_long_to_be_read_again_is_refused() -> None:
    with pytest.raises(ValueError, match="front matter"):
        format_note(Note(id="a", extra=(("x", "y" * MAX_FRONT_MATTER),)))


def test_json_values_are_taken_too() -> None:
    note = note_from_fields(
        {"tags": ["a"], "confidence": 0.7, "quarantine": False, "proof_count": 2},
        "t",
        fallback_id="i",
        fallback_realm="r",
    )
    assert note == Note(id="i", realm="r", text="t", tags=("a",), confidence=0.7, proof_count=2)


def test_decode_reads_what_editors_write() -> None:
    assert decode("é".encode()) == "é"
    assert decode("é".encode("utf-8-sig")) == "é"
    assert decode("é".encode("utf-16")) == "é"
    assert decode("é".encode("cp1252")) == "é"


TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)
LINES = st.text(
    alphabet=st.sampled_from("-#:'\" \n\r\t[]{}&*!|>%@`,?abc012\ud800\x00\x85\u2028é日😀\ufeff"), max_size=80
)
TRIMMED = (TEXT | LINES).map(lambda text: text.encode("utf-8", "replace").decode().strip())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | TRIMMED,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRIMMED, inner, max_size=3),
    max_leaves=6,
)
NOTES = st.builds(
    lambda **fields: Note(**fields),  # Note itself would have every field filled, with values no file has
    id=st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True),
    kind=st.sampled_from(KNOWLEDGE_KINDS),
    realm=st.just("project:github.com/Acme/app"),
    title=TRIMMED.map(lambda text: " ".join(text.split())),
    text=LINES | TEXT,
    created=TRIMMED,
    tags=st.lists(TRIMMED.filter(bool), unique=True, max_size=3).map(tuple),
    triggers=st.lists(TRIMMED.filter(bool), unique=True, max_size=3).map(tuple),
    confidence=st.floats(0, 1),
    quarantine=st.booleans(),
    wrong=TRIMMED,
    right=TRIMMED,
    extra=st.dictionaries(st.from_regex(r"[a-z]{9,12}", fullmatch=True), VALUES, max_size=3).map(
        lambda d: tuple(d.items())
    ),
)


@settings(deadline=None)
@given(NOTES)
def test_what_is_written_is_read_back(note: Note) -> None:
    again = read(format_note(note))
    assert again._replace(text="") == note._replace(text="")
    assert read(format_note(again)) == again


@settings(deadline=None)
@given(LINES | TEXT | st.builds("---\n{}\n---\n{}".format, LINES, LINES))
def test_any_text_is_a_note_that_settles_after_one_pass(text: str) -> None:
    once = format_note(read(text))
    assert format_note(read(once)) == once
    once.encode()


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_note(data: bytes) -> None:
    read(decode(data))


def test_a_known_key_is_known_however_it_is_written() -> None:
    fields: dict[str, object] = {"Tags": ["a"], "Valid-Until": "2026-01-31", "tags": ["b"], "Odd-Key": 1}
    note = note_from_fields(fields, "text", fallback_id="x", fallback_realm="global")
    assert (note.tags, note.valid_until, dict(note.extra)) == (("b",), "2026-01-31", {"Odd-Key": 1})
    assert parse_note(format_note(note), fallback_id="y", fallback_realm="other") == note


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 3600, "9" * 5000, "0b" + "1" * 20_000, "0" + "7" * 5000, "1" + "0" * 30]
)
def test_a_number_beyond_every_reader_is_kept_as_text(number: str) -> None:
    note = parse_note(
        f"---\nid: x\nsession: {number}\nmore: [{number}, {{a: {number}}}]\n---\ntext",
        fallback_id="f",
        fallback_realm="global",
    )
    assert dict(note.extra) == {"session": number, "more": [number, {"a": number}]}
    assert note.id == "x" and parse_note(format_note(note), fallback_id="f", fallback_realm="global") == note


def test_numbers_that_json_holds_stay_numbers() -> None:
    note = parse_note(f"---\na: {2**63}\nb: -5\nc: 0xff\nd: 1_000\n---\n", fallback_id="f", fallback_realm="global")
    assert dict(note.extra) == {"a": 2**63, "b": -5, "c": 255, "d": 1000}


def test_a_huge_number_from_json_is_text_too() -> None:
    note = note_from_fields(
        {"session": 1 << 20_000, "title": 1 << 20_000}, "text", fallback_id="f", fallback_realm="global"
    )
    assert dict(note.extra)["session"] == hex(1 << 20_000) and note.title.startswith("0x1")
