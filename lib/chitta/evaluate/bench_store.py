"""Stores built to be measured: made once for the same notes and model, kept in the cache, copied for use.

They lie in ``$XDG_CACHE_HOME/chitta/evaluate`` (``~/.cache`` where that is not set), each named
after what it was built from; removing the folder costs only the time to build it again.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from chitta import daemon_client
from chitta import settings as table
from chitta.index import generation
from chitta.index.catalog import SCHEMA_VERSION
from chitta.index.indexer import Progress, sync
from chitta.index.ledger import text_key
from chitta.models.registry import embedder_name, load_embedder
from chitta.notes.frontmatter import format_note
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: What stays of a person's settings in a measurement: which interpreter and which models there are.
MODEL_VARIABLES = ("CHITTA_EMBED_MODEL", "CHITTA_RERANK_MODEL", "CHITTA_RERANK_ONNX_DIR")
KEPT_VARIABLES = ("CHITTA_ROOT", "CHITTA_PYTHON", *MODEL_VARIABLES)
#: The day on which a measurement is made, whenever that is: the day after the newest note of the golden sets.
TODAY = "2026-08-23"
#: Working copies are folders of this name, their process's number and some letters.
COPY_PREFIX = "chitta-evaluate-"


def environment(home: str | os.PathLike[str], changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a measurement: this one without a person's settings, with the store and ``changes``."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CHITTA_") or k in KEPT_VARIABLES}
    return {**kept, "CHITTA_HOME": os.fspath(home), "CHITTA_TODAY": TODAY, **(changes or {})}


def cache_folder() -> Path:
    """Where built stores are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "chitta", "evaluate")


def build_store(name: str, notes: Iterable[Note], progress: Progress | None = None) -> Settings:
    """The settings of a store that holds these notes with their vectors, built now or found in the cache.

    Raises ``ModelUnavailable`` where no embedder can be had, and what writing a store raises.
    """
    notes = list(notes)
    settings = table.load(environment(""))
    key = _key(notes, embedder_name(settings))
    home = cache_folder() / f"{name}-{key}"
    if not (home / "whole").exists():
        _build(home, notes, progress)
    return table.load(environment(home))


def with_changes(store: Settings, changes: Mapping[str, str]) -> Settings:
    """The store's settings for a measurement: the defaults, with some of them changed."""
    return table.load(environment(store.home, changes))


@contextmanager
def working_copy(store: Settings, changes: Mapping[str, str] | None = None) -> Iterator[Settings]:
    """A copy of the store's notes and index in a private folder, with no state of its own; gone after the block."""
    _sweep_copies()
    home = tempfile.mkdtemp(prefix=f"{COPY_PREFIX}{os.getpid()}-")
    try:
        for part in ("notes", "index"):
            shutil.copytree(os.path.join(store.home, part), os.path.join(home, part))
        own = os.path.join(store.home, "calibration.json")
        if os.path.exists(own):
            shutil.copy2(own, home)
        yield table.load(environment(home, changes))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _sweep_copies() -> None:
    """Remove what killed measurements left, with their daemons."""
    for left in Path(tempfile.gettempdir()).glob(f"{COPY_PREFIX}*"):
        number = left.name.removeprefix(COPY_PREFIX).partition("-")[0]
        try:
            if not number.isdigit() or left.stat().st_uid != os.getuid() or is_alive(int(number)):
                continue
            daemon_client.stop(table.load(environment(left)))
        except (OSError, daemon_client.DaemonAway):
            continue
        shutil.rmtree(left, ignore_errors=True)


def is_alive(number: int) -> bool:
    """Whether a process of this number runs."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _build(home: Path, notes: list[Note], progress: Progress | None) -> None:
    """Write and index the notes. What an interrupted build left is used: vectors of the same texts still hold."""
    settings = table.load(environment(home))
    embedder = load_embedder(settings)
    store = NoteStore(settings.notes_dir)
    for done, note in enumerate(notes, start=1):
        store.write(note)
        if progress:
            progress("writing notes", done, len(notes))
    report = sync(settings, embedder, progress=progress)
    if report.pending or generation.current(settings.index_dir) is None:
        raise OSError(f"{report.pending} of {len(notes)} notes have no vector: {'; '.join(report.problems)}")
    (home / "whole").touch()


def _key(notes: list[Note], model: str) -> str:
    digest = sha256(f"{model} {SCHEMA_VERSION}".encode())
    for note in notes:
        digest.update(format_note(note).encode())
        digest.update(text_key(note).encode())
    return digest.hexdigest()[:12]
