"""Vectors in steps: what a failure, a kill or another process costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chitta.index import embedding, generation
from chitta.index.catalog import Catalog
from chitta.index.indexer import sync
from chitta.index.snapshot import Snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Opened = Callable[[], Snapshot]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, store: NoteStore) -> None:
    monkeypatch.setattr(embedding, "STEP", 3)
    for number in range(8):
        store.write(Note(id=f"n{number}", title=f"title{number}", created=f"2024-01-{number + 1:02d}"))


def held_vectors(settings: Settings) -> set[str]:
    current = generation.current(settings.index_dir)
    assert current is not None
    catalog = Catalog(current.catalog)
    try:
        return {row.id for row in catalog.vector_rows()}
    finally:
        catalog.close()


def test_the_newest_come_first_and_progress_is_told(settings: Settings, embedder: Any) -> None:
    seen: list[tuple[str, int, int]] = []
    assert sync(settings, embedder, progress=lambda *at: seen.append(at)).embedded == 8
    assert [text.strip() for text in embedder.asked] == [f"title{number}" for number in reversed(range(8))]
    steps = [at for at in seen if at[0] == "vectors"]
    assert steps == sorted(steps) and steps[-1] == ("vectors", 8, 8)
    assert {total for _, _, total in steps} == {8}


def test_a_model_that_fails_loses_only_its_step(settings: Settings, make_embedder: Any, opened: Opened) -> None:
    class Failing(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            if len(self.asked) >= 3:
                raise RuntimeError("out of memory")
            return super().embed_notes(texts, progress)

    report = sync(settings, Failing())
    assert (report.added, report.embedded, report.pending) == (8, 3, 5)
    assert any("out of memory" in problem and "5 notes wait" in problem for problem in report.problems)
    assert held_vectors(settings) == {"n7", "n6", "n5"}
    assert opened().problems == []
    again = make_embedder()
    assert sync(settings, again).embedded == 5
    assert len(again.asked) == 5


def test_an_interrupt_keeps_what_is_done(settings: Settings, make_embedder: Any) -> None:
    class Interrupted(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            if self.asked:
                raise KeyboardInterrupt
            return super().embed_notes(texts, progress)

    with pytest.raises(KeyboardInterrupt):
        sync(settings, Interrupted())
    assert len(held_vectors(settings)) == 3
    assert sync(settings, make_embedder()).embedded == 5


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_vector_that_is_none_is_left_out(settings: Settings, make_embedder: Any, bad: float) -> None:
    class Odd(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            matrix = super().embed_notes(texts, progress)
            matrix[[text.startswith("title4") for text in texts]] = bad
            return matrix

    report = sync(settings, Odd())
    assert (report.embedded, report.pending) == (7, 1)
    assert any("no vector for 1" in problem for problem in report.problems)


def test_a_matrix_of_another_shape_is_refused(settings: Settings, make_embedder: Any) -> None:
    class Short(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            return super().embed_notes(texts, progress)[:-1]

    report = sync(settings, Short())
    assert report.embedded == 0
    assert any("shape (2, 32)" in problem for problem in report.problems)


def test_vectors_are_stored_with_unit_length(settings: Settings, make_embedder: Any, opened: Opened) -> None:
    class Long(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            return super().embed_notes(texts, progress) * 7

    embedder = Long()
    sync(settings, embedder)
    vectors = opened().vectors
    assert vectors is not None
    assert vectors.search(embedder.embed_query("title4\n"), limit=1)[0].score == pytest.approx(1, abs=1e-3)


def test_a_note_changed_while_it_was_embedded_waits_again(
    settings: Settings, store: NoteStore, make_embedder: Any, opened: Opened
) -> None:
    class Meanwhile(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            if not self.asked:
                store.write(Note(id="n7", title="changed", created="2024-01-08"))
                sync(settings, None)
            return super().embed_notes(texts, progress)

    sync(settings, Meanwhile())
    assert "n7" not in held_vectors(settings)
    second = make_embedder()
    assert sync(settings, second).embedded == 1
    assert second.asked == ["changed\n"]


def test_a_rebuild_meanwhile_gets_the_vectors(settings: Settings, make_embedder: Any, opened: Opened) -> None:
    class Meanwhile(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            if len(self.asked) == 3:
                sync(settings, None, full=True)
            return super().embed_notes(texts, progress)

    assert sync(settings, Meanwhile()).embedded == 8
    assert len(held_vectors(settings)) == 8
    assert opened().problems == []


def test_another_model_meanwhile_is_not_mixed_in(settings: Settings, make_embedder: Any) -> None:
    class Meanwhile(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            sync(settings, None, full=True)
            embedding._adopt(settings.index_dir, make_embedder("other"), 1.0, replace=True, problems=[])
            return super().embed_notes(texts, progress)

    report = sync(settings, Meanwhile())
    assert report.embedded == 0
    assert any("another process changed" in problem for problem in report.problems)
