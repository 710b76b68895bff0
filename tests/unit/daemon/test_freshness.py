"""Notes that are edited by hand, indexes that are damaged, and stores that cannot be written."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.daemon import freshness
from chitta.daemon.freshness import Freshness
from chitta.daemon.library import Library
from chitta.daemon.logbook import Logbook
from chitta.daemon.writing import Job, Writer

Make = Callable[..., Any]


class Watched(Writer):
    """A writer that counts its looks and says how long they took."""

    def __init__(self, library: Library, log: Logbook) -> None:
        super().__init__(library, lambda: None, log)
        self.looks = 0
        self.seems: float | None = None

    def changed(self, settings: Any) -> bool:
        self.looks += 1
        changed = super().changed(settings)
        if self.seems is not None:
            self.scan_s = self.seems
        return changed


@pytest.fixture
def daemon(make_daemon: Make) -> Any:
    made = make_daemon()
    made.note("one", "The first note of all.")
    return made


@pytest.fixture
def watched(daemon: Any) -> Any:
    """A writer, and a freshness over it that has had its first look."""
    library = Library(daemon.log)
    writer = Watched(library, daemon.log)
    made = Freshness(library, writer)
    made.begin(daemon.settings)
    assert made._first_look is not None and made._first_look.done.wait(60)
    return library, writer, made


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def ids(library: Library) -> list[str]:
    with library.reading() as found:
        return [] if found is None else sorted(note.id for note in found.catalog.page(limit=100))


def rewrite(daemon: Any, name: str, text: str) -> None:
    """Change a note's file in place, as some editors do; its folder does not change."""
    path = Path(daemon.settings.notes_dir) / "global" / f"{name}.md"
    with open(path, "r+", encoding="utf-8") as file:
        content = file.read()
        file.seek(content.rindex("---\n") + 4)
        file.truncate()
        file.write(f"{text}\n")


def text_of(library: Library, name: str) -> str:
    with library.reading() as found:
        return "" if found is None else str(found.catalog.notes([name])[name].text).strip()


def test_first_look_indexes_what_is_there(watched: Any) -> None:
    library, writer, _ = watched
    assert ids(library) == ["one"]
    assert writer.looks == 1


def test_large_store_has_its_first_look_a_little_later_and_nobody_waits_for_it(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, writer, _ = watched
    monkeypatch.setattr(freshness, "LARGE_STORE", 1)
    later: list[tuple[Job, float]] = []
    made = Freshness(library, writer)
    monkeypatch.setattr(made, "_look_later", lambda look, seconds: later.append((look, seconds)))
    made.begin(daemon.settings)
    assert made._first_look is not None and made._first_look.done.is_set()
    (look, seconds), *more = later
    assert (look.look, seconds, more) == (True, freshness.FIRST_LOOK_AFTER_S, [])
    assert writer.looks == 1
    daemon.note("two", "Written while no daemon was there.")
    writer.words(look)
    wait_until(lambda: ids(library) == ["one", "two"])


def test_first_look_that_takes_long_is_waited_for_as_it_begins_alone(watched: Any, daemon: Any) -> None:
    library, writer, _ = watched
    made = Freshness(library, writer)
    waits: list[float] = []

    class Long:
        def is_set(self) -> bool:
            return False

        def wait(self, timeout: float) -> None:
            waits.append(timeout)

    made._first_look = Job(daemon.settings)
    made._first_look.done = Long()  # type: ignore[assignment]
    made._first_look_until = time.monotonic() + 1000
    made.before_lane(daemon.settings)
    made._first_look_until = time.monotonic() - 1
    made.before_lane(daemon.settings)
    made.before_lane(daemon.settings, patient=False)
    assert waits == [pytest.approx(freshness.PROMPT_WAIT_S, abs=0.2), 0.0]


def test_small_store_is_looked_through_before_each_prompt(watched: Any, daemon: Any) -> None:
    library, writer, made = watched
    writer.scan_s = writer.seems = 0.001
    daemon.note("two", "Written just now.")
    made.before_prompt(daemon.settings)
    wait_until(lambda: not writer.busy())
    made.before_prompt(daemon.settings)
    assert ids(library) == ["one", "two"]
    assert writer.looks == 3


def test_large_store_is_looked_through_behind_the_prompts_back(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, writer, made = watched
    writer.scan_s = writer.seems = 1.0
    for _ in range(5):
        made.before_prompt(daemon.settings)
        made.before_lane(daemon.settings)
    assert writer.looks == 1
    rewrite(daemon, "one", "Written in place.")
    for name in ("LOOK_EVERY_S", "LOOK_AT_LEAST_EVERY_S", "LOOK_AFTER_S"):
        monkeypatch.setattr(freshness, name, 0.0)
    made.before_lane(daemon.settings)
    wait_until(lambda: text_of(library, "one") == "Written in place.")


@pytest.mark.parametrize(
    ("cost_s", "pause_s"), [(float("inf"), 30.0), (10.0, 30.0), (0.1, 5.0), (0.012, 1.0), (0.0, 1.0)]
)
def test_looks_in_the_background_take_a_small_share_of_the_time(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch, cost_s: float, pause_s: float
) -> None:
    _, writer, made = watched
    writer.scan_s = cost_s
    pauses: list[float] = []
    monkeypatch.setattr(made, "_is_time", lambda pause: pauses.append(pause))
    made.before_lane(daemon.settings)
    assert pauses == [pytest.approx(pause_s)]


def look_and_learn(daemon: Any, writer: Watched) -> None:
    """A look that finds nothing, after the one that indexed: from now on a glance tells something."""
    assert not writer.changed(daemon.settings)
    assert not writer.glance(daemon.settings)


def test_note_that_came_is_seen_by_a_glance_and_is_in_the_very_next_prompt(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, writer, made = watched
    monkeypatch.setattr(freshness, "LOOK_EVERY_S", 3600.0)  # none in the background, however long this takes
    writer.scan_s = writer.seems = freshness.GLANCED_LOOK_S / 2
    look_and_learn(daemon, writer)
    before = writer.looks
    made.before_prompt(daemon.settings)
    assert writer.looks == before
    daemon.note("two", "Written just now.")
    made.before_prompt(daemon.settings)
    wait_until(lambda: not writer.busy())
    made.before_prompt(daemon.settings)
    assert ids(library) == ["one", "two"]


def test_glance_at_a_very_large_store_starts_a_look_that_no_prompt_waits_for(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, writer, made = watched
    writer.scan_s = writer.seems = 1.0
    look_and_learn(daemon, writer)
    daemon.note("two", "Written just now.")
    monkeypatch.setattr(freshness, "LOOK_EVERY_S", 0.0)
    monkeypatch.setattr(made, "_look_now", None)
    made.before_prompt(daemon.settings)
    wait_until(lambda: ids(library) == ["one", "two"])


def test_cost_of_a_look_is_that_of_a_whole_one(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(Library(daemon.log), lambda: None, daemon.log)
    clock = iter([0.0, 0.5, 1.0, 1.25, 2.0, 2.75, 3.0, 3.0])
    answers = iter([True, False, False, True])
    costs = []
    with monkeypatch.context() as patch:
        patch.setattr("chitta.daemon.writing.time.monotonic", lambda: next(clock))
        patch.setattr("chitta.index.watch.Watch.changed", lambda watch: next(answers))
        for _ in range(4):
            writer.changed(daemon.settings)
            costs.append(writer.scan_s)
    assert costs == [0.5, 0.25, 0.25, 0.25]


def test_store_that_cannot_be_written_is_left_in_peace_for_a_while(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, writer, made = watched
    writer.scan_s = writer.seems = 0.001
    monkeypatch.setattr(freshness, "PROMPT_WAIT_S", 60.0)  # until the attempt has failed
    tries: list[int] = []

    def fail(*arguments: Any, **options: Any) -> Any:
        tries.append(1)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("chitta.index.indexer.sync", fail)
    daemon.note("two", "Written just now.")
    for _ in range(5):
        made.before_prompt(daemon.settings)
    assert tries == [1]
    assert ids(library) == ["one"]


def test_prompt_does_not_wait_for_a_writer_that_is_busy(
    watched: Any, daemon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, writer, made = watched
    writer.scan_s = writer.seems = 0.001
    monkeypatch.setattr(writer, "words_busy_s", lambda: 100.0)
    waits: list[float | None] = []

    class Waits:
        def wait(self, timeout: float | None = None) -> None:
            waits.append(timeout)

    def never_done(job: Any) -> Any:
        job.done = Waits()
        return job

    monkeypatch.setattr(writer, "words", never_done)
    daemon.note("two", "Written just now.")
    made.before_prompt(daemon.settings)
    assert waits == []


@pytest.mark.parametrize("lost", ["tantivy", "vectors", "catalog.sqlite"])
def test_damaged_index_is_mended_from_the_notes(daemon: Any, lost: str) -> None:
    daemon.start()
    daemon.call("sync")
    place = next(Path(daemon.settings.index_dir).glob(f"gen-*/{lost}"))
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink()
    with daemon.parts.library._lock:
        daemon.parts.library._held.retired = True
        daemon.parts.library._held = type(daemon.parts.library._held)(None)  # as after a start

    def whole() -> bool:
        daemon.call("recall", query="first note", strategy="keyword")
        status = daemon.call("status")
        return bool((status["notes"], status["vectors"]) == (1, 1) and not daemon.parts.library.damaged())

    wait_until(whole)
    assert daemon.call("recall", query="first note", strategy="hybrid")["rows"][0]["id"] == "one"


def test_many_notes_are_embedded_behind_the_prompts_back(daemon: Any) -> None:
    for number in range(30):
        daemon.note(f"many-{number}", f"Note number {number}.")
    daemon.start()
    wait_until(lambda: daemon.call("status")["vectors"] == 31)


def test_jobs_that_do_the_same_are_done_once(daemon: Any) -> None:
    writer = Writer(Library(daemon.log), lambda: None, daemon.log)
    look, sync, full = Job(daemon.settings, look=True), Job(daemon.settings), Job(daemon.settings, full=True)
    assert full.covers(sync) and sync.covers(look) and full.covers(look)
    assert not look.covers(sync) and not sync.covers(full)
    for job in (full, look, sync):
        writer.words(job)
    wait_until(lambda: not writer.busy())
    assert full.done.is_set()
