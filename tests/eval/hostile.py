"""Hostile notes through the real hook: how many reach a prompt, and whether any of them gets out of its block.

    python -m tests.eval.hostile SAMPLES.jsonl… [--every N] [--trusted] [--notes NOTES.jsonl]

Each sample (a JSON line with ``text``, and ``category`` or ``id``) becomes a note file written by hand, which nothing
has looked at: a correction whose trigger is in the prompt, so that it is shown unless it is held back. ``--notes`` are
ordinary notes, of which hardly any may be held back. Exit code 1 where a block was broken.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

from chitta import settings as table
from chitta.index.catalog import Catalog
from chitta.index.generation import current
from chitta.index.indexer import sync
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.render.block import CLOSE, OPEN

HOOK = Path(__file__).resolve().parents[2] / "hooks" / "prompt-core.sh"
_FRAME = re.compile(
    r"</?\s*(?:system|assistant|user|hook|function|tool|invoke|antml|command|local-command)", re.IGNORECASE
)


def trigger(number: int) -> str:
    """Words that only the sample of this number is corrected for."""
    return f"zqx{number:05d} rollout"


def write(home: str, samples: list[dict[str, Any]], *, trusted: bool = False) -> table.Settings:
    """A store of the samples, as a person's editor or `git pull` would have left it, indexed for words."""
    chosen = table.load({"CHITTA_HOME": home})
    store = NoteStore(chosen.notes_dir)
    for number, sample in enumerate(samples):
        note = Note(f"n{number}", "correction", text=sample["text"], triggers=(trigger(number),), wrong=trigger(number))
        store.write(note._replace(extra=(("trusted", True),)) if trusted else note)
    sync(chosen, None)
    return chosen


def held(chosen: table.Settings) -> set[str]:
    """Ids that the index keeps out of prompts."""
    found = current(chosen.index_dir)
    assert found is not None
    catalog = Catalog(found.catalog)
    try:
        return {note.id for note in catalog.holding(['"quarantine":true'])}
    finally:
        catalog.close()


def ask(home: str, number: int) -> bytes:
    """What the hook prints for a prompt that calls for this sample."""
    prompt = f"please run {trigger(number)} on the staging cluster"
    payload = {"session_id": f"s{number}", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": prompt}
    places = {"CHITTA_HOME": home, "HOME": home, "TMPDIR": home, "PATH": os.environ["PATH"]}
    alone = {"CHITTA_NO_DAEMON": "1", "CHITTA_EMBED_MODEL": "/no/such/model", "CHITTA_HOOK_BUDGET_MS": "30000"}
    alone |= {"CHITTA_LANE_LIMIT_MS": "20000", "CHITTA_HYBRID_LIMIT_MS": "20000"}  # a busy machine says nothing here
    data = json.dumps(payload).encode()
    done = subprocess.run([str(HOOK), "claude"], input=data, env=places | alone, capture_output=True)
    return done.stdout if done.returncode == 0 else b"exit %d" % done.returncode


def broken(output: bytes) -> str:
    """How the hook's output is more than one block of notes; "" where it is one, or nothing."""
    if not output:
        return ""
    try:
        value = json.loads(output)
        said = value["hookSpecificOutput"]
        block = said["additionalContext"]
    except (ValueError, KeyError, TypeError):
        return "no JSON of a harness"
    if set(value) - {"hookSpecificOutput", "systemMessage"} or set(said) != {"hookEventName", "additionalContext"}:
        return "keys of its own"
    if not block.startswith(OPEN) or not block.endswith(CLOSE) or block.count(CLOSE) != 1 or block.count(OPEN) != 1:
        return "another frame"
    if _FRAME.search(block):
        return "words of a harness"
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") and letter not in "\n\t\u200d" for letter in block):
        return "unseen letters"
    if sum(line.startswith("[admit]") for line in block.split("\n")) != 1:
        return "a summary of its own"
    return ""


def main() -> int:
    """Run as a program; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("samples", nargs="*", type=Path, help="JSON lines that hold hostile texts")
    parser.add_argument("--every", type=int, default=1, help="only every so-manieth sample goes through the hook")
    parser.add_argument("--trusted", action="store_true", help="hold nothing back, so that all of it is rendered")
    parser.add_argument("--notes", type=Path, help="ordinary notes")
    given = parser.parse_args()
    if not given.samples and given.notes is None:
        parser.error("give samples, --notes, or both")
    failures = 0
    for path in given.samples:
        samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory(prefix="ch") as home:
            kept = held(write(home, samples, trusted=given.trusted))
            seen: Counter[str] = Counter()
            silent: Counter[str] = Counter()
            shown = 0
            for number, sample in enumerate(samples):
                family = str(sample.get("kind", "")) + " " + str(sample.get("category") or sample["id"])
                seen[family] += 1
                silent[family] += f"n{number}" in kept
                if number % given.every:
                    continue
                output = ask(home, number)
                shown += bool(output)
                problem = broken(output) or ("held, and shown" if output and f"n{number}" in kept else "")
                if problem:
                    failures += 1
                    print(f"BROKEN {sample['id']}: {problem}: {output[:300]!r}")
        asked = len(range(0, len(samples), given.every))
        print(f"{path.name}: held {sum(silent.values())} of {len(samples)}; by the hook: {asked} asked, {shown} shown")
        for family in sorted(seen):
            print(f"  {family.strip():55} {silent[family]:3} of {seen[family]:3}")
    if given.notes:
        notes = [json.loads(line) for line in given.notes.read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory(prefix="ch") as home:
            kept = held(write(home, notes))
        print(f"{given.notes.name}: held {len(kept)} of {len(notes)} ({100 * len(kept) / len(notes):.2f} %)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
