"""A person's question, from the arms to the rows and the reasons."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from chitta.admission import calibration
from chitta.gateway.answer import WINDOW, as_json
from chitta.gateway.engine import Engine, Unavailable
from chitta.gateway.question import CONTEXT, Question
from chitta.notes.note import Note

from .conftest import Judge, Opened, WordEmbedder
from .questions import NOTES, asked, ids


def pool(name: str, text: str = "", **fields: Any) -> Note:
    return Note(name, title=f"Pool {name}", text=text or f"The pool is of size {name}.", **fields)


# Filters


@pytest.mark.parametrize(
    ("fields", "changes", "cause"),
    [
        ({"kind": "episode"}, {"kinds": ("insight",)}, "kind"),
        ({"confidence": 0.3}, {"min_confidence": 0.5}, "confidence"),
        ({"created": "2026-01-01"}, {"since": datetime(2026, 2, 1)}, "before"),
        ({"created": "2026-04-01"}, {"until": datetime(2026, 4, 1)}, "after"),
        ({"created": ""}, {"since": datetime(2026, 2, 1)}, "undated"),
        ({"created": "2026-04-01"}, {"known_as_of": datetime(2026, 3, 15)}, "unknown then"),
        ({"valid_from": "2026-05-01"}, {"valid_at": datetime(2026, 4, 1)}, "not valid then"),
        ({"valid_until": "2026-05-01"}, {}, "expired"),
        ({"quarantine": True}, {}, "quarantined"),
        ({"superseded_by": "kept"}, {}, "superseded"),
        ({"kind": "session"}, {}, "bookkeeping"),
    ],
)
@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword"])
def test_each_filter_drops_and_counts(
    opened: Opened, fields: dict[str, Any], changes: dict[str, Any], cause: str, strategy: str
) -> None:
    engine = opened(pool("kept", created="2026-03-01"), pool("gone", **{"created": "2026-03-01", **fields}))
    found = asked(engine, strategy=strategy, **changes)
    assert ids(found) == ["kept"]
    assert found.dropped == {cause: 1}
    assert "gone" not in found.reasons


def test_what_was_dropped_can_be_asked_for(opened: Opened) -> None:
    notes = pool("kept"), pool("unsafe", quarantine=True), pool("old", superseded_by="kept")
    assert set(ids(asked(opened(*notes), include_quarantined=True))) == {"kept", "unsafe"}
    found = asked(opened(*notes), include_superseded=True)
    assert {row.id: row.superseded_by for row in found.rows} == {"kept": "", "old": "kept"}
    assert set(ids(asked(opened(*notes, INCLUDE_SUPERSEDED=1)))) == {"kept", "old"}


def test_what_held_at_a_moment(opened: Opened) -> None:
    engine = opened(
        pool("five", created="2026-01-01"),
        pool("ten", created="2026-03-01", supersedes=("five",)),
        pool("nine", created="2026-05-01", supersedes=("five",)),
        pool("two", created="2026-01-01", superseded_by="three"),
        pool("three", created="2026-03-01"),
    )
    assert asked(engine).dropped == {"superseded": 2}
    assert {"five", "two"} <= set(ids(asked(engine, as_of=datetime(2026, 2, 1))))
    assert not {"five", "two"} & set(ids(asked(engine, as_of=datetime(2026, 4, 1))))  # the first successor counts


@pytest.mark.parametrize("fate", [{"quarantine": True}, {"valid_until": "2026-02-10"}])
def test_a_quarantined_or_expired_note_replaces_nothing(opened: Opened, fate: dict[str, Any]) -> None:
    engine = opened(pool("five", created="2026-01-01"), pool("ten", created="2026-02-01", supersedes=("five",), **fate))
    assert ids(asked(engine)) == ["five"]
    assert ids(asked(engine, as_of=datetime(2026, 3, 1))) == ["five"]
    held = ids(asked(engine, as_of=datetime(2026, 2, 5)))
    assert held == (["five"] if "quarantine" in fate else ["ten"])  # that one held then


def test_what_a_status_retires_names_no_successor(opened: Opened) -> None:
    engine = opened(pool("kept"), pool("old", extra=(("status", "archived"),)))
    assert ids(asked(engine)) == ["kept"]
    assert {row.superseded_by for row in asked(engine, include_superseded=True).rows} == {""}


def test_a_filter_looks_deeper_than_a_page(opened: Opened) -> None:
    many = [pool(f"n{at:03d}", "pool size pool size", kind="wisdom") for at in range(120)]
    engine = opened(*many, Note("rare", kind="preference", title="Rare", text="a size among many other words"))
    assert ids(asked(engine, kinds=("preference",))) == ["rare"]


def test_a_realm_or_all(opened: Opened) -> None:
    engine = opened(pool("here"), pool("there", realm="project:h/o/n"))
    assert ids(asked(engine, realm="global")) == ["here"]
    assert set(ids(asked(engine))) == {"here", "there"}
    assert len(asked(engine, limit=1).rows) == 1


# Questions about one's own doings


def test_captured_prompts_are_last_and_first_when_asked_for(opened: Opened) -> None:
    prompts = [Note(f"p{at:02d}", kind="prompt", title="pool size", text=f"pool size {at}") for at in range(WINDOW + 5)]
    engine = opened(*prompts, Note("saved", title="Size", text="a pool among many other words of the text"))
    assert ids(asked(engine))[0] == "saved"
    kinds = [row.kind for row in asked(engine, limit=WINDOW + 6).rows]
    assert kinds == ["insight", *["prompt"] * (WINDOW + 5)]
    kinds = [row.kind for row in asked(engine, "what did I ask about pool size", limit=WINDOW + 6).rows]
    assert kinds == [*["prompt"] * (WINDOW + 5), "insight"]


def test_what_one_is_working_on_is_the_newest(opened: Opened) -> None:
    prompts = [Note(f"p{at:03d}", kind="prompt", title="prompt", created="2026-05-30") for at in range(150)]
    engine = opened(
        *prompts,
        pool("older", created="2026-01-01"),
        pool("newer", created="2026-03-01"),
        pool("undated"),
        pool("unsafe", created="2026-05-01", quarantine=True),
        pool("replaced", created="2026-04-01"),
        pool("heir", created="2026-02-01", supersedes=("replaced",)),
        Note("log", kind="session", title="session", created="2026-05-02"),
    )
    found = asked(engine, "What am I working on?")
    assert ids(found) == ["newer", "heir", "older", "undated"]
    assert found.header.note and {row.why for row in found.rows} == {"one of the newest"}
    scores = [row.score for row in found.rows]
    assert scores == sorted(scores, reverse=True)
    assert ids(asked(engine, "What am I working on?", limit=1)) == ["newer"]
    assert ids(asked(engine, "What am I working on?", kinds=("wisdom",))) == []


HABIT = (("persona", "testing_style"),)


def test_a_habit_answers_in_one_line(opened: Opened) -> None:
    engine = opened(pool("other"), Note("style", title="pytest with plain asserts", proof_count=12, extra=HABIT))
    found = asked(engine, "what testing style do we use?")
    assert found.persona is not None and found.persona.id == "style"
    assert found.rows == () and found.header.note
    reply = as_json(engine, found, Question("what testing style do we use?"))
    assert reply["persona"]["value"] == "pytest with plain asserts"
    assert asked(engine, "what testing style do we use?", kinds=("insight",)).persona is None
    assert asked(engine, "testing style").persona is None


@pytest.mark.parametrize("end", [{"valid_until": "2026-01-01"}, {"quarantine": True}, {}])
def test_a_habit_that_no_longer_holds_does_not_answer(opened: Opened, end: dict[str, Any]) -> None:
    heir = pool("heir", supersedes=() if end else ("style",))
    habit = Note("style", title="pytest with plain asserts", proof_count=12, extra=HABIT, **end)
    assert asked(opened(heir, habit), "what testing style do we use?").persona is None


# The gate, and diversity


def test_the_gate_empties_what_is_out_of_domain(opened: Opened) -> None:
    engine = opened(pool("kept"), Note("apart", title="Colours", text="Blue is calm."))
    query = "tomatoes with yellow leaves blue"
    assert ids(asked(engine, query)) != []
    found = asked(engine, query, min_overlap=0.5)
    assert found.rows == () and found.dropped["out of domain"] == 2
    assert ids(asked(engine, min_overlap=0.5))[0] == "kept"
    strict = opened(MIN_OVERLAP=0.5)
    assert asked(strict, query).rows == ()
    assert ids(asked(strict, query, min_overlap=0.0)) != []


ALIKE = (
    Note("a1", title="Pool size", text="pool size pool size ten"),
    Note("a2", title="Pool size", text="pool size pool size five"),
    Note("b", title="Pool", text="the pool of another place has its own rules for size and age"),
)


def test_diversity_prefers_what_is_unlike(opened: Opened) -> None:
    assert set(ids(asked(opened(*ALIKE), limit=2))) == {"a1", "a2"}
    assert ids(asked(opened(*ALIKE, MMR_LAMBDA=0.1), limit=2))[1] == "b"


def test_no_more_than_so_many_of_one_source(opened: Opened) -> None:
    notes = [pool(name, source="notes.md") for name in ("one", "two", "three")]
    assert len(asked(opened(*notes)).rows) == 3
    assert len(asked(opened(*notes, REPLICATION_MAX=2)).rows) == 2


def test_doubles_are_counted_and_named(opened: Opened) -> None:
    one, two = (Note(name, title="Pool size", text="Ten connections.") for name in ("one", "two"))
    found = asked(opened(one, two))
    assert ids(found) == ["one"] and found.dropped == {"duplicate": 1}
    assert found.reasons["one"]["doubles"] == ["two"]


# Reasons, models


def test_reasons_hold_ranks_scores_and_factors(opened: Opened) -> None:
    engine = opened(*NOTES, reranker=Judge("worker"))
    found = asked(engine, "connection pool size?")
    assert set(found.reasons) == set(ids(found))
    first = found.reasons[ids(found)[0]]
    assert ids(found)[0] == "queue" and first["logit"] == 5.0
    why = found.reasons["pool"]
    assert why["arms"]["keyword"]["rank"] == 1 and set(why["arms"]) == {"semantic", "keyword"}
    assert why["fused"]["rank"] == 1 and why["logit"] == -5.0
    assert set(why["factors"]) == {"recency"}
    assert set(found.reasons["both"]["factors"]) == {"confidence"}
    assert found.health["graph"] == "off" and found.health["semantic"] == "ok"


def test_what_is_replaced_says_by_what(opened: Opened) -> None:
    notes = (
        Note("always", title="Deploy the shop on Fridays", text="deploy", tags=("ops",), created="2025-01-01"),
        Note("never", title="Never deploy the shop on Fridays", text="ever", tags=("ops",), created="2026-01-01"),
    )
    found = asked(opened(*notes), "deploy the shop")
    assert ids(found) == ["never", "always"]
    assert found.reasons["always"]["replaced"]["winner"] == "never"


def test_a_semantic_question_needs_a_model(opened: Opened) -> None:
    with pytest.raises(Unavailable, match="still loading"):
        asked(opened(*NOTES, embedder=None, warming=True), strategy="semantic")
    found = asked(opened(*NOTES, embedder=None), "connection pool")
    assert ids(found)[0] == "pool" and found.header.note == "no model is loaded" and found.header.maxrel is None


def test_a_model_that_fails_leaves_the_answer_to_words(opened: Opened) -> None:
    class Broken(WordEmbedder):
        def embed_query(self, text: str) -> Any:
            raise RuntimeError("a private path")

    engine = opened(*NOTES)
    broken = Engine(engine.settings, engine.snapshot, Broken(), None, calibration.shipped())
    found = asked(broken, "connection pool")
    assert ids(found)[0] == "pool" and found.header.maxrel is None
    assert found.health["semantic"] == found.header.note == "the model failed: RuntimeError"
    with pytest.raises(Unavailable, match="the model failed"):
        asked(broken, "connection pool", strategy="semantic")


def test_a_question_by_words_never_uses_a_model(opened: Opened) -> None:
    class Forbidden(WordEmbedder):
        def embed_query(self, text: str) -> Any:
            pytest.fail("the model was asked")

    engine = opened(*NOTES)
    forbidden = Engine(engine.settings, engine.snapshot, Forbidden(), Judge("pool"), calibration.shipped())
    found = asked(forbidden, "connection pool", strategy="keyword")
    assert ids(found)[0] == "pool" and found.header.maxrel is None
    assert all(row.cos == -1.0 for row in found.rows)


def test_a_damaged_word_index_does_not_read_as_nothing_known(opened: Opened) -> None:
    engine = opened(*NOTES)
    assert engine.snapshot is not None
    engine.snapshot.damaged.add("keyword")
    found = asked(engine, "connection pool", strategy="keyword")
    assert found.rows == () and "damaged" in found.header.note and found.health["keyword"] == found.header.note
    assert ids(asked(engine, "connection pool"))[0] == "pool"


def test_an_empty_store_says_so(opened: Opened) -> None:
    settings = opened(*NOTES).settings
    found = asked(Engine(settings, None, WordEmbedder(), None, calibration.shipped()))
    assert found.rows == () and found.header.exhausted and found.header.note == "the store is empty"


@pytest.mark.parametrize("query", ["", " ", "?", "the", "\ud800", "pool " * 3000])
@pytest.mark.parametrize("strategy", ["hybrid", "keyword"])
def test_any_text_is_answered(opened: Opened, query: str, strategy: str) -> None:
    engine = opened(*NOTES)
    assert ids(asked(engine, query, strategy=strategy)) == ids(asked(engine, query, strategy=strategy))


def test_as_json_has_what_is_around_each_note_when_asked_for(opened: Opened) -> None:
    engine = opened(pool("new", supersedes=("old",)), pool("old"))
    found = asked(engine)
    assert "around" not in as_json(engine, found, Question("pool size"))
    reply = as_json(engine, found, Question("pool size", depth=CONTEXT))
    assert reply["around"]["new"]["replaces"][0]["id"] == "old"
    assert [row["id"] for row in reply["rows"]] == ids(found)


def test_of_a_circle_of_notes_that_replace_each_other_the_newest_stays(opened: Opened) -> None:
    engine = opened(
        pool("five", created="2026-01-01", superseded_by="ten", valid_until="2026-01-02"),
        pool("ten", created="2026-03-01", superseded_by="two", valid_until="2026-01-02"),
        pool("two", created="2026-02-01", superseded_by="five", valid_until="2026-01-02"),
    )
    assert ids(asked(engine)) == ["ten"]
