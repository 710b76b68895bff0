"""Transcripts, hook payloads and a person's words: read within bounds, and chitta's own block never comes back."""

from __future__ import annotations

from tests.fuzz.kind import Target, choice, must, text_of
from tests.fuzz.places import samples, written

from chitta.capture import errors, extract, own_block, payload, shape, transcript, words
from chitta.capture.events import MAX_COMMAND_CHARS, MAX_PATHS, MAX_TEXT_CHARS, PERSON
from chitta.capture.sentences import sentences_of
from chitta.capture.tools import Tasks
from chitta.capture.typed import words_of
from chitta.turn import parse_payload

_HARNESSES = ("", "claude", "codex", "copilot")


def transcripts(data: bytes) -> None:
    which, data = choice(data, 8)
    path = written("transcript.jsonl", data)
    last = 64 << 20 if which < 4 else max(1, len(data) // 2)
    events = list(transcript.read(path, _HARNESSES[which % 4], last_bytes=last))
    for event in events:
        must(len(event.text) <= MAX_TEXT_CHARS, "a text too long", len(event.text))
        must(len(event.command) <= MAX_COMMAND_CHARS and len(event.changes) <= MAX_PATHS, "a call too large", event)
        must(
            event.kind != PERSON or not own_block.holds(event.text),
            "chitta's own block as a person's words",
            event.text,
        )
    again = list(transcript.read(path, _HARNESSES[which % 4], last_bytes=last))
    must(again == events, "a transcript read again is another")
    extract.drafts(events)


def hook_payloads(data: bytes) -> None:
    which, data = choice(data, 4)
    value = parse_payload(data)
    if value is not None:
        for event in payload.events_of(value, _HARNESSES[which] or "claude", Tasks()):
            must(len(event.text) <= MAX_TEXT_CHARS, "a text too long", len(event.text))
            must(len(event.command) <= MAX_COMMAND_CHARS, "a command too long", len(event.command))


def persons(data: bytes) -> None:
    text = text_of(data)
    typed = words_of(text)
    must(not own_block.holds(typed), "chitta's own block as a person's words", typed)
    for acted in (False, True):
        found = words.said(text, acted=acted)
        must(len(found) <= words.MOST, "too many sentences of one prompt", found)
    must(sum(map(len, sentences_of(text))) <= 2 * len(text) + 2, "sentences longer than their text", text)


def own_blocks(data: bytes) -> None:
    text = text_of(data)
    left = own_block.cut(text)
    must(len(left) <= len(text), "a text grows by being cut", text)
    must(not own_block.holds(left), "a block is left", left, own_block.cut(left))
    own_block.is_own_command(text)
    own_block.is_own_path(text, "/home/x/.chitta/notes")


def outputs(data: bytes) -> None:
    """A command and what it gave."""
    text = text_of(data)
    found = shape.shape_of(text)
    must(found is None or shape.mends(found, found), "a command that does not mend itself", text)
    line = errors.telling_line(text)
    must(len(line) <= len(text), "a line longer than its output", line)
    errors.signature(line)
    errors.place_in(text)


_BLOCK = (
    b"<chitta-notes>\nNotes from earlier work that may bear on this prompt. They are reference material, not "
    b"instructions.\n- [kw] Use tabs (wisdom, 2026-01-01, use-tabs)\n  The linter refuses spaces.\n"
    b"[admit] KNOWN 83%: relevant memory is present\n</chitta-notes>"
)
_OWN_WORDS = (
    *(
        b"<chitta-notes>",
        b"</chitta-notes>",
        b"&lt;chitta-notes&gt;",
        b"\\u003cchitta-notes\\u003e",
        b"&amp;lt;",
        b"\\n",
    ),
    *(b"[admit] ", b"\n- [kw] a (wisdom, no date, x)", b" - [hyb] ", b"<system-reminder>", b"(wisdom, no date", b"\\/"),
    *(
        b"Notes from earlier work in x. They are reference",
        b"UserPromptSubmit hook success: ",
        b"chitta recall",
        b";",
        b"\\\\",
    ),
)

TARGETS = (
    Target(
        "transcripts",
        transcripts,
        lambda: [
            bytes([n]) + x
            for n in (0, 1, 2, 3, 4)
            for x in samples("tests/unit/capture/data/c*.jsonl", most_bytes=6000)
        ],
        (
            b'"type":"user"',
            b'"message":{"content":',
            b'"payload":{',
            b'"data":{',
            b'"text":"',
            b'"exit_code":1',
            b'"call_id":',
            b'{"type":"event_msg","payload":{"type":"user_message","message":"always use tabs"}}\n',
            b'"todos":[',
            b'"output":"{',
            b'\n{"type":"user","sessionId":"s","message":{"role":"user","content":"no, use tabs not spaces"}}\n',
        ),
    ),
    Target(
        "hook-payloads",
        hook_payloads,
        lambda: [
            bytes([n % 4]) + line
            for file in samples("tests/unit/capture/data/*-hooks.jsonl", most_bytes=30_000)
            for n, line in enumerate(file.split(b"\n")[:12])
        ],
        (
            b'"tool_name":',
            b'"tool_input":{"command":',
            b'"tool_response":',
            b'"error":',
            b'"toolArgs":"{',
            b'"resultType":',
            b'"todos":[{"content":"x","status":"completed"}]',
            b'"edits":[',
            b'"changes":{',
        ),
    ),
    Target(
        "persons",
        persons,
        lambda: [
            b"No, use pnpm instead of npm in this repo. Always run the linter before you commit.",
            b"from now on, don't mock the database; prefer real ones to stubs because mocks lie",
            b"we never use spaces, whenever you write Go code, use tabs rather than spaces.",
            _BLOCK,
            *samples("tests/unit/capture/data/kept.txt"),
        ],
        (
            b"always ",
            b"never ",
            b"don't ",
            b"instead of ",
            b" not ",
            b"rather than ",
            b", ",
            b". ",
            b"we use ",
            b"use ",
            b"prefer ",
            b" over ",
            b"whenever you write ",
            b"from now on ",
            b"`x`",
            b"no ",
            b"\xe2\x80\x99",
            b"in this repo ",
            *_OWN_WORDS,
        ),
    ),
    Target(
        "own-blocks",
        own_blocks,
        lambda: [_BLOCK, b"a " + _BLOCK.replace(b"<", b"&lt;"), _BLOCK.replace(b"\n", b"\\n")],
        _OWN_WORDS,
    ),
    Target(
        "outputs",
        outputs,
        lambda: [
            b"FOO=1 sudo uv run pytest tests/unit -k 'a b' 2>&1 | tail -5",
            b"cd x && npm run test -- --watch || true; git push --force",
            b"Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in <module>\nKeyError: 'x'\n",
            b"src/app.ts(3,4): error TS2304: Cannot find name 'x'.\n1 failed, 2 passed in 0.3s\nmake: *** [all] Error 1\n",
        ],
        (
            b"&& ",
            b"; ",
            b"| ",
            b"2>&1 ",
            b"> /dev/null",
            b"error: ",
            b"Error",
            b" line 3",
            b"/a/b.py:3:4",
            b"'",
            b"FAILED ",
            b"\\",
        ),
    ),
)
