"""What stands around a note."""

from __future__ import annotations

import pytest

from chitta.gateway.engine import Engine
from chitta.gateway.surroundings import MOST, Surroundings, as_json, expanded, surroundings, transferred_json
from chitta.notes.note import Note

from .conftest import Opened

SESSION = (("session", "s-42"),)
NOTES = (
    Note("now", title="Pool of ten", text="`pool_size` is ten. See [[Pooler]].", created="2026-02-01", extra=SESSION,
         supersedes=("before",)),
    Note("before", title="Pool of five", text="`pool_size` is five.", created="2026-01-01"),
    Note("newer", title="Pool of twenty", text="It is twenty.", created="2026-03-01", supersedes=("now",)),
    Note("newest", title="Pool of thirty", text="It is thirty.", created="2026-04-01", supersedes=("now",)),
    Note("pooler", title="Pooler", text="It shares connections."),
    Note("same-session", title="Timeouts", text="Five seconds.", extra=SESSION),
    Note("hidden", title="Hidden", text="Injected.", extra=SESSION, quarantine=True),
    Note("a-log", kind="session", title="Session ended", text="Done.", extra=SESSION),
    Note("elsewhere", title="Elsewhere", text="Other.", extra=SESSION, realm="project:h/o/n"),
    Note("apart", title="Colours", text="Blue is calm."),
    Note("shop", title="Shop", text="- stores_in [[Postgres]]"),
    Note("telemetry", title="Telemetry", text="- stores_in [[ClickHouse]]"),
)  # fmt: skip


@pytest.fixture
def engine(opened: Opened) -> Engine:
    return opened(*NOTES)


def around(engine: Engine, name: str) -> Surroundings:
    assert engine.snapshot is not None
    return surroundings(engine.snapshot, engine.snapshot.catalog.notes([name])[name])


def ids(notes: tuple[Note, ...]) -> list[str]:
    return [note.id for note in notes]


def test_session_related_replaced_and_replacing(engine: Engine) -> None:
    found = around(engine, "now")
    assert ids(found.session) == ["same-session"]
    assert ids(found.related) == ["pooler"]
    assert found.replaced_by is not None and found.replaced_by.id == "newest"
    assert ids(found.replaces) == ["before"]
    replaced = around(engine, "before").replaced_by
    assert replaced is not None and replaced.id == "now"


def test_a_note_that_stands_alone_has_nothing_around_it(engine: Engine) -> None:
    assert around(engine, "apart") == Surroundings()
    assert as_json(Surroundings()) == {}


def test_there_is_no_more_than_a_few_of_each(opened: Opened) -> None:
    engine = opened(*(Note(f"n{at}", title=f"Title {at}", text=f"Text {at}.", extra=SESSION) for at in range(9)))
    assert len(around(engine, "n4").session) == MOST


def test_as_json(engine: Engine) -> None:
    found = as_json(around(engine, "before"))
    assert found["replaced_by"] == {"id": "now", "title": "Pool of ten", "kind": "insight", "created": "2026-02-01"}
    assert "replaces" not in found


def test_a_related_note_says_what_both_hold(opened: Opened) -> None:
    engine = opened(
        Note("a", title="A", text="`pool_size` and `max_wait`.", tags=("pool",)),
        Note("b", title="B", text="`pool_size` here.", tags=("pool",)),
        Note("c", title="C", text="Nothing else.", tags=("pool",)),
        *(Note(f"n{at}", title=f"N{at}", text=f"Text {at}.") for at in range(9)),
    )
    found = around(engine, "a")
    assert found.because["b"] == ("id:pool_size", "tag:pool")  # the rarer one first
    assert as_json(found)["related"][0]["because"] == ["id:pool_size", "tag:pool"]
    assert set(found.because) == set(ids(found.related))


def test_expanded_notes_are_whole_and_unknown_ids_left_out(opened: Opened) -> None:
    engine = opened(Note("long", title="Long", text="word " * 900), *NOTES)
    assert engine.snapshot is not None
    long, now = expanded(engine.snapshot, ["long", "nobody", "now"])
    assert long["text"].count("word") == 900
    assert (now["id"], now["extra"]) == ("now", {"session": "s-42"})
    assert now["around"] == as_json(around(engine, "now"))


def test_an_analogy_with_its_edges_or_the_reason(engine: Engine) -> None:
    answer = transferred_json(engine.snapshot, "Shop : Postgres :: Telemetry : ?", None)
    (solution,) = answer["solutions"]
    assert (solution["answer"], solution["relation"]) == ("ClickHouse", "stores_in")
    assert solution["because"][0]["note"] == "shop" and solution["and"][0]["note"] == "telemetry"
    none = transferred_json(engine.snapshot, "Shop : Postgres :: Nobody : ?", None)
    assert none["solutions"] == [] and none["reason"]
    assert transferred_json(None, "a : b :: c : ?", None)["reason"] == "the store is empty"
    with pytest.raises(ValueError, match="analogy"):
        transferred_json(engine.snapshot, "shop", None)
