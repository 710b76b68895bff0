"""Jobs for words and for vectors, and what they report together."""

from __future__ import annotations

from typing import Any

import pytest

from chitta.daemon.library import Library
from chitta.daemon.writing import Job, Writer, joined
from chitta.index.indexer import SyncReport


@pytest.fixture
def daemon(make_daemon: Any) -> Any:
    made = make_daemon()
    made.note("one", "The first note of all.")
    made.note("two", "And another.")
    return made


def test_vectors_that_another_job_made_are_reported_as_made(daemon: Any, embedder: Any) -> None:
    models: list[Any] = [None]
    writer = Writer(Library(daemon.log), lambda: models[-1], daemon.log)
    words = writer.words(Job(daemon.settings)).wait(60)
    assert words is not None and (words.added, words.embedded, words.pending) == (2, 0, 2)

    assert writer.vectors(daemon.settings).wait(60) is None, "without a model nothing is known of vectors"
    models.append(embedder)
    first = writer.vectors(daemon.settings).wait(60)
    second = writer.vectors(daemon.settings).wait(60)
    assert first is not None and (first.embedded, first.pending) == (2, 0)
    assert second is not None and (second.embedded, second.pending) == (0, 0)
    for vectors in (first, second):
        both = joined(words, vectors)
        assert (both.added, both.embedded, both.pending, both.problems) == (2, 2, 0, ())
        assert both.generation == first.generation


def test_reports_are_joined() -> None:
    words = SyncReport(added=3, embedded=1, pending=2, seconds=0.5, generation=4, problems=("a", "b"))
    assert joined(words, None) is words
    both = joined(words, SyncReport(embedded=1, pending=1, seconds=0.25, generation=5, problems=("b", "c")))
    assert both == SyncReport(added=3, embedded=2, pending=1, seconds=0.75, generation=5, problems=("a", "b", "c"))
    newer_notes = joined(words, SyncReport(embedded=2, pending=7, generation=6))
    assert (newer_notes.embedded, newer_notes.pending) == (3, 7)
