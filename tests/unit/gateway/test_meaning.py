"""Where meaning is to be had, and what the model reads of a text."""

from __future__ import annotations

from chitta.gateway.meaning import Meaning, as_search
from chitta.gateway.reading import read_prompt
from chitta.notes.note import Note

from .conftest import Instructed, Opened, WordEmbedder

NOTE = Note("parser", title="Body parser", text="runs first")


def test_the_instruction_is_for_searching_and_the_setting_can_turn_it_off(opened: Opened) -> None:
    model = Instructed()
    on, off = (opened(NOTE, embedder=model, QUERY_INSTRUCTION=flag).settings for flag in (1, 0))
    assert as_search("text", model, on) == model.instruction + "text"
    assert as_search("text", model, off) == "text"
    engine = opened(NOTE, embedder=model)
    assert engine.snapshot is not None
    reading = read_prompt(engine.snapshot, "body", ())
    near, search = engine.meaning.near("body", reading), engine.meaning.search("body", reading)
    assert near is not None and search is not None
    assert (near.query == model.embed_query("body")).all()
    assert (search.query == model.embed_query(model.instruction + "body")).all()


def test_why_there_is_none(opened: Opened) -> None:
    engine = opened(NOTE)
    settings, snapshot = engine.settings, engine.snapshot
    assert snapshot is not None
    other = WordEmbedder()
    other.name = "another"
    assert Meaning(settings, snapshot, None, True).why_not() == "the model is still loading"
    assert Meaning(settings, snapshot, None, False).why_not() == "no model is loaded"
    assert "made by words, not another" in Meaning(settings, snapshot, other, False).why_not()
    assert "no vectors yet" in Meaning(settings, None, WordEmbedder(), False).why_not()
    assert Meaning(settings, snapshot, other, False).near("body", read_prompt(snapshot, "body", ())) is None
