"""Inputs of absurd size end in bounded time and memory, with a sentence or with nothing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

#: Address space and seconds of processor that a child gets; an idle interpreter with the product takes 0.3 GB.
MEMORY, SECONDS = 1 << 30, 60


def limited(code: str) -> str:
    """What ``code`` prints in a process of its own that may not grow; it must end by itself."""
    head = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
        resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
        from pathlib import Path
        from chitta import settings as table
        from chitta.notes.note import Note
        from chitta.notes.frontmatter import parse_note
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(code)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-800:]
    return done.stdout.decode()


@pytest.mark.parametrize("words", ["lorem ipsum ", "<private>", "token=", "a", "(((((", "<system-reminder>"])
def test_a_prompt_of_ten_megabytes(words: str) -> None:
    said = limited(f"""
        import json
        from chitta.turn import prepare
        raw = json.dumps({{"session_id": "s", "prompt": ({words!r} * 10_000_000)[:10_000_000]}}).encode()
        turn = prepare(raw, settings=table.load())
        print(0 if turn.request is None else len(turn.request.prompt) + len(turn.request.query))
    """)
    assert int(said) < 300_000


def test_a_note_of_fifty_megabytes_is_refused_with_a_sentence() -> None:
    said = limited("""
        from chitta.index.indexer import sync
        chosen = table.load()
        folder = Path(chosen.notes_dir, "global"); folder.mkdir(parents=True)
        (folder / "big.md").write_bytes(b"words of a note " * 3_200_000)
        (folder / "small.md").write_text("a small note")
        report = sync(chosen, None)
        print(report.added, report.problems)
    """)
    assert said.startswith("1 ") and "larger than 4 MiB" in said


def test_a_thousand_tags_and_triggers_that_look_like_patterns() -> None:
    said = limited("""
        import time
        from chitta.index.indexer import sync
        from chitta.notes.correction import match_triggers
        from chitta.notes.store import NoteStore
        chosen = table.load()
        tags = tuple(f"tag{number}" for number in range(1_000))
        bombs = tuple("(a+)+$" * (number % 9 + 1) + str(number) for number in range(1_000))
        NoteStore(chosen.notes_dir).write(Note("n", "correction", text="text", tags=tags, triggers=bombs))
        print(sync(chosen, None).added, match_triggers("a" * 40_000 + "!", bombs))
        print(match_triggers("run (a+)+$ now", ("(a+)+$",)), match_triggers("run aaa now", ("(a+)+$",)))
    """)
    assert said.split("\n")[0] == "1 None" and said.split("\n")[1].endswith(" None"), "triggers are words, no patterns"


@pytest.mark.parametrize(
    "front",
    [
        "a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]",
        "a: !!python/object/apply:os.system ['touch /tmp/chitta-was-here']",
        "a: !!binary " + "A" * 60_000,
        "a: " + "[" * 30_000,
        "a: " + "{a: " * 10_000,
        "? " * 20_000,
        "a: " + "9" * 60_000,
        "- " * 30_000,
    ],
)
def test_front_matter_made_to_hurt_is_text(front: str) -> None:
    said = limited(f"""
        note = parse_note("---\\n" + {front!r} + "\\n---\\nbody", fallback_id="n", fallback_realm="global")
        print(note.id, len(note.text) < 200_000)
    """)
    assert said == "n True\n" and not Path("/tmp/chitta-was-here").exists()


def test_json_that_is_nested_too_deeply_is_no_payload() -> None:
    said = limited("""
        from chitta.turn import prepare
        for raw in (b'{"prompt":' * 200_000, b'[' * 5_000_000, b'{"prompt": "words to ask", "x": ' + b'[' * 100_000):
            print(prepare(raw, settings=table.load()).request)
    """)
    assert said == "None\n" * 3


def test_the_limits_are_limits() -> None:
    started = time.monotonic()
    with pytest.raises(AssertionError, match="MemoryError"):
        limited("x = bytearray(2 << 30)")
    assert time.monotonic() - started < SECONDS
