"""A disk without room, and two writers at once: clear words, whole notes, and all well again afterwards.

    .venv/bin/python tests/faults/store_room.py

The disk is a tmpfs of 3 MB, which needs the right to mount; without it that part is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))

from tests.faults.store_import import ROOT, environment, outcome

from chitta import settings as table
from chitta.notes.store import NoteStore

WRITERS, EACH = 2, 60
WRITER = """
import sys
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
store, own = NoteStore(sys.argv[1]), sys.argv[2]
for number in range(int(sys.argv[3])):
    store.write(Note(id=f"{own}-{number}", text=own))
    store.write(Note(id=f"shared-{number}", text="by " + own))
"""


def chitta(home: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chitta.cli", *words]
    return subprocess.run(command, env=environment(home), cwd=home, capture_output=True, text=True, check=False)


def whole_notes(home: str) -> int:
    store = NoteStore(table.load(environment(home)).notes_dir)
    count = 0
    for fact in store.scan():
        note = store.read(fact.path)
        assert note.text.strip() and fact.path.read_bytes().startswith(b"---\n"), f"{fact.path} is torn"
        count += 1
    return count


def disk_full(home: str) -> str:
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", home], capture_output=True, check=False)
    if made.returncode != 0:
        return "skip disk full: a tmpfs cannot be mounted here"
    try:
        assert chitta(home, "remember", "The first note, when there is room").returncode == 0
        source = os.path.join(os.path.dirname(home), "notes.jsonl")
        lines = [json.dumps({"id": f"n{n}", "title": f"t{n}", "text": "word " * 300}) for n in range(50)]
        Path(source).write_text("\n".join(lines) + "\n", encoding="utf-8")
        ballast = Path(home, "ballast")
        with open(ballast, "wb", buffering=0) as file:
            try:
                while file.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        for words in (("remember", "A note for which there is no room"), ("import", source, "--global"), ("reindex",)):
            done = chitta(home, *words)
            told = done.stderr.lower()
            assert "traceback" not in told and "should not have happened" not in told, f"{words[0]}: {done.stderr}"
            if words[0] != "reindex":
                assert done.returncode != 0 and "no space" in told, f"{words[0]}: {done.returncode} {done.stderr}"
            assert whole_notes(home) >= 1
        hook = [str(ROOT / "hooks" / "prompt-core.sh"), "claude"]
        payload = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "the first note when there is room"})
        done = subprocess.run(hook, input=payload, env=environment(home), capture_output=True, text=True, check=False)
        assert done.returncode == 0 and (not done.stdout or json.loads(done.stdout)), f"hook: {done}"
        drained = chitta(home, "drain")
        assert "traceback" not in drained.stderr.lower(), f"drain: {drained.stderr}"
        ballast.unlink()
        assert chitta(home, "import", source, "--global").returncode == 0, "it does not work when there is room again"
        assert len(outcome(home)) == 51
        return "ok   disk full: remember, import, reindex, hook, drain; the store works when there is room again"
    finally:
        subprocess.run(["umount", "-l", home], check=False)


def two_writers(home: str) -> str:
    settings = table.load(environment(home))
    command = [sys.executable, "-c", WRITER, settings.notes_dir]
    writers = [
        subprocess.Popen([*command, f"w{number}", str(EACH)], env=environment(home)) for number in range(WRITERS)
    ]
    synced = [chitta(home, "reindex") for _ in range(2)]
    assert all(writer.wait() == 0 for writer in writers), "a writer failed"
    assert all("traceback" not in done.stderr.lower() for done in synced), synced
    assert chitta(home, "reindex").returncode == 0
    assert whole_notes(home) == len(outcome(home)) == (WRITERS + 1) * EACH
    return f"ok   {WRITERS} writers at once, {EACH} notes of their own and {EACH} of both, a sync meanwhile"


def main() -> int:
    counts = {"ok": 0, "FAIL": 0, "skip": 0}
    for part in (disk_full, two_writers):
        top = tempfile.mkdtemp(prefix="chitta-room.")
        try:
            home = os.path.join(top, "home")
            os.mkdir(home, 0o700)
            words = part(home)
        except AssertionError as problem:
            words = f"FAIL {part.__name__}: {problem}"
        finally:
            shutil.rmtree(top, ignore_errors=True)
        print(words, flush=True)
        counts[words.split()[0]] += 1
    print(f"{counts['ok']} passed, {counts['FAIL']} failed, {counts['skip']} skipped")
    return 1 if counts["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
