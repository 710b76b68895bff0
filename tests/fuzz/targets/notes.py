"""A note's file: what is read and written once does not change when it is read and written again."""

from __future__ import annotations

from tests.fuzz.kind import Target, must, split, text_of
from tests.fuzz.places import samples

from chitta.notes.correction import match_triggers, only_mentioned
from chitta.notes.frontmatter import MAX_FRONT_MATTER, MAX_TITLE, decode, format_note, parse_note, parts_of
from chitta.notes.ids import valid_id
from chitta.notes.links import entities_of, query_entities, slug, tag_candidates, triplets_of
from chitta.notes.realms import valid_realm


def files(data: bytes) -> None:
    text = decode(data)
    text.encode("utf-8", "strict")
    parts_of(text)
    note = parse_note(text, fallback_id="fallback", fallback_realm="global")
    must(valid_id(note.id) and valid_realm(note.realm), "an id or realm that is none", note.id, note.realm)
    must(0 <= note.confidence <= 1 and len(note.title) <= MAX_TITLE, "a value out of bounds", note.confidence)
    try:
        written = format_note(note)
    except ValueError as problem:
        must("longer than" in str(problem), "a note that was read cannot be written", problem)
        return
    again = parse_note(written, fallback_id="other", fallback_realm="other")
    must(repr(again) == repr(note), "a note read again is another", note, again)
    must(format_note(again) == written, "a note written again is another", written)
    must(len(written.encode()) <= 8 * len(data) + MAX_FRONT_MATTER, "a file grows by being written", len(written))


def corrections(data: bytes) -> None:
    prompt, listed, right = map(text_of, split(data, 3))
    triggers = tuple(line for line in listed.split("\n") if line)[:50]
    fired = match_triggers(prompt, triggers, right)
    must(fired is None or fired in triggers, "a trigger that is none", fired)
    only_mentioned(prompt, triggers, right)


def links(data: bytes) -> None:
    text = text_of(data)
    note = parse_note(text, fallback_id="fallback", fallback_realm="global")
    for found in (entities_of(note), query_entities(text), tag_candidates(text)):
        must(len(found) == len(set(found)) and all(found), "a name twice, or none", found)
    must(triplets_of(note) == triplets_of(note), "other relations of one note", text)
    slug(text)


_FULL = b"""---
id: use-tabs
kind: correction
realm: project:x-1a2b3c4d
title: "Use tabs: never spaces"
created: 2026-01-31
updated: 2026-01-31T10:11:12Z
tags: [a, 'b c', "d"]
confidence: high
proof_count: 3
triggers: [git push --force]
wrong: git push --force
right: git push --force-with-lease
supersedes: [old]
quarantine: no
aliases: {a: [1, 2.5, null, true], b: 0x1F}
when: 12:30
---

# Heading

Text [[other-note]] and more.
"""

TARGETS = (
    Target(
        "note-files",
        files,
        lambda: [
            _FULL,
            b"# Just a heading\n\ntext",
            b"---\ntitle: x\n---\n",
            *samples("lib/chitta/samples/notes/**/*.md"),
        ],
        (
            b"---\n",
            b"\nkey: ",
            b"\ntags: [",
            b"\ntitle: ",
            b": |\n  ",
            b"!!binary ",
            b"!!set {a, b}",
            b"!!timestamp ",
            b"? ",
            b"<<: ",
            b"0o17",
            b"1_000",
            b".nan",
            b".inf",
            b"-.inf",
            b"2001-12-14t21:59:43.10-05:00",
            b"~",
            b"'",
            b'"\\x85"',
            b"\xc2\x85",
            b"\xe2\x80\xa9",
            b"\xef\xbf\xbe",
            b"quarantine: ",
            b"id: ",
            b"confidence: ",
            b"proof_count: ",
            b"%",
        ),
    ),
    Target(
        "corrections",
        corrections,
        lambda: [
            b"git push --force to main please\x1e\x1fgit push --force\nsettings.py\x1e\x1fgit push --force-with-lease",
            "不要 use `npm install`. why?\x1e\x1fnpm install\nnpm ci".encode(),
            b"edit src/gen/a.py, use print or print(x).\x1e\x1fprint\nedit files in src/gen/\nsrc/gen/**\nrun old/",
        ],
        (b"don't ", b"instead of ", b"`", b"`git push --force`", b"? ", b". ", b"was ", b"replace ", b"\xe2\x80\x9c"),
    ),
    Target(
        "links",
        links,
        lambda: [b"see [[a-note|name]] and [x](y.md) #tag `code [[no]]` (a) -[uses]-> (b)", _FULL],
        (b"[[", b"]]", b"](", b"[", b"|", b"#", b"-[", b"]->", b"`"),
    ),
)
