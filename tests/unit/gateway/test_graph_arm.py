"""The arm that follows links, over a real index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chitta.gateway.graph_arm import linked, prompt_entities, shares, transferred
from chitta.index import generation
from chitta.index.indexer import sync
from chitta.index.snapshot import Snapshot, open_snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.fuse import Ranking
from chitta.settings import Settings, load

NOTES = (
    Note("webhook", title="Webhook signature", text="`construct_event` reads the raw body. See [[Body parser]]."),
    Note("parser", title="Body parser", text="It runs first.", tags=("express",)),
    Note("express", title="Order of middleware", text="Whichever is used first.", tags=("express",)),
    Note("far", title="Far", text="in another realm: `construct_event`", realm="project:h/o/n"),
    Note("apart", title="Colours", text="Blue is calm."),
    Note("shop", title="Shop", text="- stores_in [[Postgres]]"),
    Note("telemetry", title="Telemetry", text="- stores_in [[ClickHouse]]"),
)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home")})


@pytest.fixture
def opened(settings: Settings, request: pytest.FixtureRequest) -> Callable[..., Snapshot]:
    def with_notes(*notes: Note) -> Snapshot:
        for note in notes:
            NoteStore(settings.notes_dir).write(note)
        sync(settings, None)
        snapshot = open_snapshot(settings.index_dir)
        assert snapshot is not None
        request.addfinalizer(snapshot.close)
        return snapshot

    return with_notes


def names(ranking: Ranking) -> list[str]:
    return [name for name, _ in ranking]


def test_two_hops_from_a_named_entity_and_no_further(opened: Callable[..., Snapshot]) -> None:
    snapshot = opened(*NOTES)
    found = linked(snapshot, "why does construct_event fail?", "global", 10)
    assert set(names(found)) == {"webhook", "parser", "express"}
    assert names(found)[-1] == "express"
    assert names(linked(snapshot, "why does construct_event fail?", "global", 1)) == names(found)[:1]
    assert "far" in names(linked(snapshot, "construct_event", None, 10))


def test_nothing_comes_of_a_prompt_that_names_nothing(opened: Callable[..., Snapshot]) -> None:
    assert linked(opened(*NOTES), "which colours are calm?", "global", 10) == []


def test_a_word_of_the_prompt_may_be_a_tag(opened: Callable[..., Snapshot]) -> None:
    assert {"parser", "express"} <= set(names(linked(opened(*NOTES), "how does Express work?", "global", 10)))
    assert "tag:express" in prompt_entities("how does Express work?")


def test_a_seed_leads_on_but_is_not_found_by_itself(opened: Callable[..., Snapshot]) -> None:
    snapshot = opened(*NOTES)
    assert "parser" in names(linked(snapshot, "nothing named", "global", 10, {"webhook": 1.0}))
    assert linked(snapshot, "nothing named", "global", 10, {"apart": 1.0}) == []


def test_a_common_tag_picks_only_notes_that_are_known_or_hold_more(opened: Callable[..., Snapshot]) -> None:
    crowd = [Note(f"v{number:03d}", tags=("vim",), text="`macro`" if number == 7 else "") for number in range(40)]
    others = [Note(f"w{number:03d}", text=f"Other {number}") for number in range(400)]
    snapshot = opened(*crowd, *others)
    assert linked(snapshot, "a vim question", "global", 10) == []
    assert names(linked(snapshot, "a vim question", "global", 10, {"v003": 0.9})) == ["v003"]
    assert names(linked(snapshot, "a vim question about `macro`", "global", 10)) == ["v007"]


def test_shares_for_the_boost(opened: Callable[..., Snapshot]) -> None:
    found = shares(opened(*NOTES), "why does construct_event fail?", "global")
    assert found["webhook"] == 1.0
    assert found["webhook"] > found["parser"] > found["express"] > 0.0
    assert "apart" not in found


def test_an_analogy_is_answered_from_the_notes(opened: Callable[..., Snapshot]) -> None:
    snapshot = opened(*NOTES)
    (solution,) = transferred(snapshot, "shop : postgres :: telemetry : ?", "global").solutions
    assert (solution.target, [edge.note for edge in (*solution.given, *solution.found)]) == (
        "ClickHouse",
        ["shop", "telemetry"],
    )
    assert transferred(snapshot, "shop : postgres :: telemetry : ?", "project:h/o/n").reason
    with pytest.raises(ValueError, match="analogy"):
        transferred(snapshot, "no analogy", None)


def test_an_analogy_takes_ids_for_titles(opened: Callable[..., Snapshot]) -> None:
    snapshot = opened(*NOTES, Note("the-db", title="Search", text="- stores_in [[Solr]]"))
    (solution,) = transferred(snapshot, "shop : Postgres :: the-db : ?", "global").solutions
    assert solution.target == "Solr"
    assert transferred(snapshot, "the-db : Solr :: Shop : ?", None).solutions[0].target == "Postgres"
    assert transferred(snapshot, "the-db : Solr :: the-db-2 : ?", None).reason
    assert "the-db" in transferred(snapshot, "the-db : Postgres :: Shop : ?", None).reason


def test_a_damaged_catalog_gives_nothing_and_is_reported(settings: Settings, opened: Callable[..., Snapshot]) -> None:
    opened(*NOTES)
    found = generation.current(settings.index_dir)
    assert found is not None
    Path(found.catalog).write_bytes(b"no database")
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    assert linked(snapshot, "construct_event", "global", 10, {"parser": 1.0}) == []
    assert shares(snapshot, "construct_event", "global") == {}
    assert "damaged" in transferred(snapshot, "a:b::c:?", None).reason
    assert "catalog" in snapshot.damaged
    snapshot.close()
