"""An import that is killed at random, ten times, and begun again each time ends as one that was never disturbed.

    .venv/bin/python tests/faults/store_import.py [--notes N] [--kills K] [--seed S]

300 notes, or 10,000 where that is asked for. Words alone: without a model the import embeds nothing.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))

from chitta import settings as table
from chitta.index.indexer import needs_sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.store import NoteStore

ROOT = Path(__file__).resolve().parents[2]
NOTES, KILLS = 300, 10
#: Seconds after the last note in which a kill may fall: words are being indexed then.
INDEXING_S = 0.5
PATIENCE_S = 300.0


def environment(home: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("CHITTA_")},
        "HOME": home,
        "CHITTA_HOME": f"{home}/h",
        "CHITTA_NO_DAEMON": "1",
        "CHITTA_EMBED_MODEL": "/no/such/model",
        "PYTHONPATH": str(ROOT / "lib"),
    }


def started(home: str, source: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "chitta.cli", "import", source, "--global"]
    null = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment(home), stdin=null, stdout=null, stderr=null, cwd=home)


def outcome(home: str) -> dict[str, bytes]:
    """Every note's bytes by id, once it is sure that the index says the same. Raises ``AssertionError``."""
    settings = table.load(environment(home))
    store = NoteStore(settings.notes_dir)
    found = {store.read(fact.path).id: fact.path.read_bytes() for fact in store.scan()}
    assert not needs_sync(settings), "the index is not level"
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None and snapshot.problems == [], "the index is damaged"
    assert snapshot.catalog.count() == len(found), "the index holds another number of notes"
    assert snapshot.catalog.notes(list(found)).keys() == found.keys(), "the index holds other notes"
    snapshot.close()
    return found


def killed_at(home: str, source: str, point: int, after_s: float) -> None:
    """Begin the import and kill it once so many notes are there, and so many seconds have passed.

    Raises ``AssertionError`` where it was not running any more: then nothing was killed.
    """
    folder = Path(table.load(environment(home)).notes_dir, "global")
    process = started(home, source)
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        if folder.is_dir() and sum(name.endswith(".md") for name in os.listdir(folder)) >= point:
            break
        time.sleep(0.002)
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, f"the import had ended before it could be killed at {point}"


def run(notes: int, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    top = tempfile.mkdtemp(prefix="chitta-import.")
    try:
        source = os.path.join(top, "notes.jsonl")
        with open(source, "w", encoding="utf-8") as file:
            for number in range(notes):
                words = " ".join(chance.choices(("redis", "docker", "rails", "git", "vim", "ssh", "kafka"), k=12))
                file.write(f'{{"id": "n{number}", "title": "about {number}", "text": "{words}"}}\n')
        homes = [os.path.join(top, name) for name in ("calm", "killed")]
        for home in homes:
            os.mkdir(home)
        began = time.monotonic()
        assert started(homes[0], source).wait() == 0, "the import fails undisturbed"
        took = time.monotonic() - began
        points = sorted(chance.sample(range(1, notes), kills - kills // 5)) + [notes] * (kills // 5)
        for point in points:
            killed_at(homes[1], source, point, chance.uniform(0.0, INDEXING_S) if point == notes else 0.0)
        assert started(homes[1], source).wait() == 0, "the import fails after kills"
        calm, disturbed = outcome(homes[0]), outcome(homes[1])
        assert len(calm) == notes, f"{len(calm)} notes instead of {notes}"
        assert calm == disturbed, f"other notes: {sorted(calm.keys() ^ disturbed.keys())[:5]}"
        print(
            f"ok   import of {notes:,} notes ({took:.1f} s), killed {kills} times, at {points}, seed {seed}: the same"
        )
    finally:
        shutil.rmtree(top, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill an import again and again; it ends the same.")
    parser.add_argument("--notes", type=int, default=NOTES)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=9)
    asked = parser.parse_args()
    try:
        run(asked.notes, asked.kills, asked.seed)
    except AssertionError as problem:
        print(f"FAIL import: {problem}\n0 passed, 1 failed")
        return 1
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
