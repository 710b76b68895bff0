"""A whole sync: what it reports, what it keeps, and what it repairs."""

from __future__ import annotations

import importlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.index import IndexBusy, IndexDamaged, IndexFault, generation
from chitta.index.indexer import SyncReport, lacks_vectors, needs_sync, quick_sync_paths, sync
from chitta.index.keyword import KeywordIndex, KeywordWriter
from chitta.index.lock import held
from chitta.index.snapshot import Snapshot, open_snapshot
from chitta.index.terms import analyse
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Opened = Callable[[], Snapshot]


@pytest.fixture
def filled(settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any) -> SyncReport:
    for note in some_notes:
        store.write(note)
    return sync(settings, embedder)


def current(settings: Settings) -> generation.Generation:
    found = generation.current(settings.index_dir)
    assert found is not None
    return found


def check_whole(snapshot: Snapshot, embedder: Any, notes: list[Note]) -> None:
    """Every note is found by its words and by its meaning, and nothing is amiss."""
    assert snapshot.problems == []
    assert snapshot.catalog.count() == len(notes)
    assert snapshot.vectors is not None and snapshot.vectors.count == len(notes)
    for note in notes:
        assert note.id in [hit.id for hit in snapshot.keyword.search(analyse(note.title), limit=50)]
        best = snapshot.vectors.search(embedder.embed_query(f"{note.title}\n{note.text}"), limit=1)[0]
        assert best.id == note.id and best.score == pytest.approx(1, abs=1e-2)


def test_a_first_sync(
    filled: SyncReport, settings: Settings, embedder: Any, opened: Opened, some_notes: list[Note]
) -> None:
    assert filled[:6] == (12, 0, 0, 0, 12, 0)
    assert filled.problems == ()
    check_whole(opened(), embedder, some_notes)
    assert opened().model == embedder.name
    assert not needs_sync(settings)


def test_nothing_changed(filled: SyncReport, settings: Settings, embedder: Any) -> None:
    embedder.asked.clear()
    assert sync(settings, embedder)[:6] == (0, 0, 0, 12, 0, 0)
    assert embedder.asked == []


def test_changes_are_made_in_place(
    filled: SyncReport, settings: Settings, store: NoteStore, embedder: Any, opened: Opened, some_notes: list[Note]
) -> None:
    embedder.asked.clear()
    changed = some_notes[1]._replace(title="podman pods", text="How pods work")
    new = Note(id="new", title="kafka topics", text="How kafka works")
    paths = [store.write(changed), store.write(new)]
    gone = store.find(some_notes[0].id)
    assert gone is not None
    gone.unlink()
    report = quick_sync_paths(settings, [*paths, gone], embedder)
    assert report[:6] == (1, 1, 1, 10, 2, 0)
    assert report.generation == filled.generation
    assert sorted(embedder.asked) == ["kafka topics\nHow kafka works", "podman pods\nHow pods work"]
    check_whole(opened(), embedder, [changed, *some_notes[2:], new])


def test_a_full_sync_keeps_vectors_that_still_hold(
    filled: SyncReport, settings: Settings, store: NoteStore, embedder: Any, opened: Opened, some_notes: list[Note]
) -> None:
    store.write(some_notes[0]._replace(text="another text"))
    store.write(some_notes[1]._replace(confidence=0.1))
    embedder.asked.clear()
    report = sync(settings, embedder, full=True)
    assert report[:6] == (0, 2, 0, 10, 1, 0)
    assert report.generation == filled.generation + 1
    assert embedder.asked == ["redis cache\nanother text"]
    sync(settings, None, full=True)
    snapshot = opened()
    assert (snapshot.model, snapshot.catalog.pending()) == (embedder.name, 0)


def test_without_an_embedder_words_are_found_and_vectors_wait(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any, opened: Opened
) -> None:
    for note in some_notes:
        store.write(note)
    assert sync(settings, None)[4:6] == (0, 12)
    snapshot = opened()
    assert (snapshot.vectors, snapshot.model, snapshot.problems) == (None, "", [])
    assert [hit.id for hit in snapshot.keyword.search(analyse("redis"), realm="global")] == ["note-00"]
    assert sync(settings, embedder)[4:6] == (12, 0)
    check_whole(opened(), embedder, some_notes)


def test_keywords_are_committed_before_the_model_is_asked(
    settings: Settings, store: NoteStore, some_notes: list[Note], make_embedder: Any, opened: Opened
) -> None:
    for note in some_notes:
        store.write(note)
    seen = []

    class Watching(make_embedder):  # type: ignore[misc]
        def embed_notes(self, texts: Any, progress: Any = None) -> Any:
            seen.append(opened().keyword.search(analyse("redis"), limit=50))
            return super().embed_notes(texts, progress)

    sync(settings, Watching())
    assert len(seen[0]) == 2


def test_which_notes_lack_vectors(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any, make_embedder: Any
) -> None:
    assert lacks_vectors(settings, embedder), "where there is no index, that cannot be told"
    store.write(some_notes[0])
    sync(settings, embedder)
    assert not lacks_vectors(settings, embedder)
    assert lacks_vectors(settings, make_embedder("other"))
    store.write(some_notes[1])
    sync(settings, None)
    assert lacks_vectors(settings, embedder)
    os.truncate(current(settings).catalog, 100)
    assert lacks_vectors(settings, embedder)


def test_an_empty_store(settings: Settings, embedder: Any, opened: Opened) -> None:
    assert not needs_sync(settings)
    assert open_snapshot(settings.index_dir) is None
    assert sync(settings, embedder)[:6] == (0, 0, 0, 0, 0, 0)
    snapshot = opened()
    assert (snapshot.catalog.count(), snapshot.problems, snapshot.keyword.search(analyse("redis"))) == (0, [], [])


def test_needs_sync(settings: Settings, store: NoteStore) -> None:
    path = store.write(Note(id="a"))
    assert needs_sync(settings)
    sync(settings, None)
    assert not needs_sync(settings)
    path.unlink()
    assert needs_sync(settings)
    sync(settings, None)
    os.truncate(current(settings).catalog, 100)
    assert needs_sync(settings)


def remove_words(settings: Settings) -> None:
    shutil.rmtree(current(settings).keyword)


def truncate_catalog(settings: Settings) -> None:
    os.truncate(current(settings).catalog, 4096)


def remove_catalog(settings: Settings) -> None:
    os.unlink(current(settings).catalog)


def remove_vectors(settings: Settings) -> None:
    shutil.rmtree(current(settings).vectors)


def truncate_vectors(settings: Settings) -> None:
    for file in Path(current(settings).vectors).iterdir():
        os.truncate(file, file.stat().st_size // 2)


def forget_a_word_document(settings: Settings) -> None:
    writer = KeywordWriter(current(settings).keyword)
    writer.drop("note-05")
    writer.commit()
    writer.close()


def leave_a_ghost(settings: Settings) -> None:
    """As a process leaves it that died after the words' commit, over a note that is gone meanwhile."""
    writer = KeywordWriter(current(settings).keyword)
    writer.put(Note(id="ghost", title="redis"))
    writer.commit()
    writer.close()


@pytest.mark.parametrize(
    "harm",
    [
        remove_words,
        truncate_catalog,
        remove_catalog,
        remove_vectors,
        truncate_vectors,
        forget_a_word_document,
        leave_a_ghost,
    ],
)
def test_damage_is_noticed_and_repaired(
    filled: SyncReport, settings: Settings, embedder: Any, opened: Opened, some_notes: list[Note], harm: Any
) -> None:
    harm(settings)
    assert opened().problems
    report = sync(settings, embedder)
    assert report.problems
    assert report.pending == 0
    check_whole(opened(), embedder, some_notes)
    assert sync(settings, embedder).problems == ()


def test_rows_that_are_no_vectors_any_more_are_made_again(
    filled: SyncReport, settings: Settings, embedder: Any, opened: Opened, some_notes: list[Note]
) -> None:
    for file, damage in zip(sorted(Path(current(settings).vectors).iterdir()), (b"\0", b"\xff"), strict=False):
        with open(file, "r+b") as rows:
            rows.seek(embedder.dim * 2)
            rows.write(damage * embedder.dim * 2)
    report = sync(settings, embedder)
    assert report.embedded > 0 and any("damaged and are made again" in problem for problem in report.problems)
    check_whole(opened(), embedder, some_notes)
    assert sync(settings, embedder)[4:6] == (0, 0)


def as_of_the_first_version(settings: Settings) -> None:
    """The tables as they were before notes' terms were kept."""
    connection = sqlite3.connect(f"file:{current(settings).catalog}", uri=True)
    connection.execute("ALTER TABLE notes DROP COLUMN terms")
    connection.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    connection.commit()
    connection.close()


def test_an_index_of_another_version_is_rebuilt_and_its_vectors_are_kept(
    filled: SyncReport, settings: Settings, embedder: Any, opened: Opened, some_notes: list[Note]
) -> None:
    as_of_the_first_version(settings)
    assert needs_sync(settings)
    before = opened()
    assert "another version" in before.problems[0]
    assert before.keyword.search(analyse("redis"))
    embedder.asked.clear()
    report = sync(settings, embedder)
    assert report[:6] == (0, 0, 0, 12, 0, 0)
    assert "another version" in report.problems[0]
    assert embedder.asked == []
    check_whole(opened(), embedder, some_notes)
    assert not needs_sync(settings)
    assert sync(settings, embedder).problems == ()


class TestAnotherModel:
    @pytest.mark.parametrize(("name", "dim"), [("words-32b", 32), ("words-32", 48), ("words-48", 48)])
    def test_vectors_are_made_again(
        self,
        filled: SyncReport,
        settings: Settings,
        make_embedder: Any,
        opened: Opened,
        some_notes: list[Note],
        name: str,
        dim: int,
    ) -> None:
        other = make_embedder(name, dim)
        report = sync(settings, other)
        assert (report.embedded, report.pending) == (12, 0)
        check_whole(opened(), other, some_notes)
        assert opened().model == name
        assert sync(settings, other).embedded == 0

    def test_a_full_sync_carries_none_over(self, filled: SyncReport, settings: Settings, make_embedder: Any) -> None:
        assert sync(settings, make_embedder("other"), full=True).embedded == 12

    def test_one_note_is_no_reason_to_throw_all_vectors_away(
        self,
        filled: SyncReport,
        settings: Settings,
        store: NoteStore,
        make_embedder: Any,
        embedder: Any,
        opened: Opened,
    ) -> None:
        report = quick_sync_paths(settings, [store.write(Note(id="new"))], make_embedder("other"))
        assert (report.added, report.embedded, report.pending) == (1, 0, 1)
        assert any("words-32, not other" in problem for problem in report.problems)
        snapshot = opened()
        assert snapshot.model == embedder.name
        assert snapshot.vectors is not None and snapshot.vectors.count == 12


class TestTwoAtOnce:
    def test_one_waits_for_the_other(self, filled: SyncReport, settings: Settings, store: NoteStore) -> None:
        store.write(Note(id="new"))
        reports: list[SyncReport] = []
        threads = [threading.Thread(target=lambda: reports.append(sync(settings, None))) for _ in range(3)]
        with held(settings.index_dir):
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(report.added for report in reports) == [0, 0, 1]

    def test_a_wait_has_an_end(self, filled: SyncReport, settings: Settings) -> None:
        with held(settings.index_dir), pytest.raises(IndexBusy) as caught:
            sync(settings, None, wait=0.1)
        assert caught.value.hint

    def test_words_do_not_wait_for_another_process_that_embeds(
        self, filled: SyncReport, settings: Settings, store: NoteStore, embedder: Any
    ) -> None:
        path = store.write(Note(id="new"))
        with held(settings.index_dir, "embed"):
            assert quick_sync_paths(settings, [path], embedder, wait=0.1)[:6] == (1, 0, 0, 12, 1, 0)
            store.write(Note(id="newer"))
            report = sync(settings, embedder, wait=0.1)
        assert (report.added, report.pending) == (1, 1)
        assert any("vectors wait" in problem for problem in report.problems)


def test_a_home_that_cannot_be_written(settings: Settings) -> None:
    os.makedirs(settings.home)
    Path(settings.index_dir).write_text("a file where the folder should be")
    with pytest.raises(IndexFault) as caught:
        sync(settings, None)
    assert not isinstance(caught.value, IndexDamaged)
    assert caught.value.hint


def test_a_full_disk_is_no_damage(
    filled: SyncReport, settings: Settings, store: NoteStore, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: KeywordWriter) -> None:
        raise IndexFault("the disk is full", "make room")

    store.write(Note(id="new"))
    monkeypatch.setattr(KeywordWriter, "commit", full)
    with pytest.raises(IndexFault, match="disk is full"):
        sync(settings, None)
    monkeypatch.undo()
    assert opened().problems == []
    assert sync(settings, None).added == 1


def test_a_rebuild_cleans_only_what_is_not_as_it_was(
    settings: Settings, store: NoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from chitta.index import earlier, indexer, ledger, watch
    from chitta.safety import cleaning

    seen: list[str] = []
    clean = cleaning.clean

    def counted(note: Note) -> cleaning.Cleaned:
        seen.append(note.id)
        return clean(note)

    monkeypatch.setattr(cleaning, "clean", counted)
    for name in "abc":
        store.write(Note(id=name, text=f"first words of {name}"))
    sync(settings, None)
    assert sorted(seen) == ["a", "b", "c"]
    store.write(Note(id="b", text="other words"))
    store.remove("c", "global")
    seen.clear()
    sync(settings, None, full=True)
    assert seen == ["b"]
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    assert {note.id: note.text for note in snapshot.catalog.page()} == {"a": "first words of a", "b": "other words"}
    assert {hit.id for hit in snapshot.keyword.search(analyse("words"), limit=9)} == {"a", "b"}
    for module in (earlier, indexer, ledger, watch):
        monkeypatch.setattr(module, "rules_version", lambda: "other rules")
    seen.clear()
    assert needs_sync(settings), "other rules mean that every note goes through them"
    sync(settings, None)
    assert sorted(seen) == ["a", "b"] and not needs_sync(settings)


def poisoned(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """A note whose text says poison is one that this step stumbles over."""
    step = getattr(*_place(where))

    def stumbles(*given: Any, **more: Any) -> Any:
        if "poison" in repr(given):
            raise RuntimeError("stumbled over what is in the note")
        return step(*given, **more)

    monkeypatch.setattr(where, stumbles)


def _place(where: str) -> tuple[Any, str]:
    module, _, name = where.rpartition(".")
    return importlib.import_module(module), name


@pytest.mark.parametrize(
    "where",
    [
        "chitta.notes.store.parse_note",
        "chitta.safety.cleaning.clean",
        "chitta.index.changes.take_apart",
        "chitta.index.keyword.pack",
        "chitta.index.ledger.entities_of",
        "chitta.index.ledger.triplets_of",
        "chitta.index.ledger.pack_terms",
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_fault_56_a_note_that_stops_the_indexer_is_named_and_keeps_no_other_out(
    settings: Settings,
    store: NoteStore,
    some_notes: list[Note],
    monkeypatch: pytest.MonkeyPatch,
    opened: Opened,
    where: str,
    full: bool,
) -> None:
    bad = store.write(Note("bad", title="poison", text="poison"))
    sync(settings, None)
    for note in some_notes:
        store.write(note)
    bad.write_text(bad.read_text() + "\nmore poison\n")
    if where.endswith("pack_terms"):
        monkeypatch.setattr("chitta.index.ledger.terms_of", lambda title, text, apart: f"{title} {text}")
        monkeypatch.setattr("chitta.index.ledger.pack_terms", lambda said: said)
    poisoned(monkeypatch, where)
    report = sync(settings, None, full=full)
    assert [str(bad) in problem for problem in report.problems] == [True] and "RuntimeError" in report.problems[0]
    snapshot = opened()
    assert {note.id for note in snapshot.catalog.page(limit=99)} == {note.id for note in some_notes}
    assert KeywordIndex.open(current(settings).keyword).count == len(some_notes) and not needs_sync(settings)
    assert str(bad) in sync(settings, None).problems[0], "each sync names it"
    monkeypatch.undo()
    assert sync(settings, None).added == 1 and opened().catalog.count() == len(some_notes) + 1


def test_fault_56_another_file_of_the_id_takes_the_place_of_one_that_stops_the_indexer(
    settings: Settings, store: NoteStore, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    store.write(Note("twice", text="poison"), path=store.root / "global" / "a.md")
    store.write(Note("twice", text="sound"), path=store.root / "global" / "b.md")
    poisoned(monkeypatch, "chitta.index.changes.take_apart")
    sync(settings, None)
    assert [note.text for note in opened().catalog.page(limit=9)] == ["sound"]


def test_fault_56_a_number_of_thousands_of_digits_is_a_name_like_another(
    settings: Settings, store: NoteStore, opened: Opened
) -> None:
    store.write(Note("x", text="t"))
    (store.root / "global" / "poison.md").write_text(f"---\nid: poison\nsession: 0x{'f' * 3600}\n---\nharmless\n")
    assert sync(settings, None).problems == () and opened().catalog.count() == 2
