"""The steps of ranking, one by one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from chitta.admission.tokens import distinctive
from chitta.gateway.arms import POOL, Search
from chitta.gateway.engine import Engine
from chitta.gateway.ranking import PAGE, Page
from chitta.gateway.reading import ROW_TEXT_CHARS, read_prompt
from chitta.gateway.scoring import FILE_NAME
from chitta.notes.note import Note
from chitta.recall.fuse import Ranking
from chitta.recall.score import Asked
from chitta.wire.request import Request
from chitta.wire.rows import Row

from .conftest import Instructed, Judge, Opened

NOW = datetime(2026, 3, 12, 15)
NOTES = (
    Note("lexer", title="Lexer", text="The lexer reads the body first."),
    Note("parser", title="Parser", text="The parser parser parser runs second."),
    Note("colours", title="Colours", text="Blue is calm."),
)
OFF = dict.fromkeys(
    (f"{name}_ALPHA" for name in "CONFIDENCE RECENCY TAG PROOF PROJECT DOMAIN AUTHORITY SPECULATIVE".split()), 0
)


def search_of(engine: Engine, text: str) -> Search:
    assert engine.snapshot is not None
    return Search(text, "global", read_prompt(engine.snapshot, text, distinctive(text)), POOL, NOW)


def page_of(engine: Engine, text: str) -> Page:
    return engine.ranker().page(search_of(engine, text))


def lane(engine: Engine, text: str, realm: str = "global", k: int = 10, name: str = "hybrid") -> list[Row]:
    request = Request(prompt=text, query=text, tokens=distinctive(text), realm=realm, k=k)
    return engine.rows(name, request, engine.settings)[1]


def ids(ranking: Ranking) -> list[str]:
    return [name for name, _ in ranking]


def test_an_instruction_orders_the_page_and_leaves_relevance_alone(opened: Opened) -> None:
    with_it, without = (opened(*NOTES, embedder=Instructed, QUERY_INSTRUCTION=flag) for flag in (1, 0))
    text = "lexer body"
    on, off = page_of(with_it, text), page_of(without, text)
    assert ids(on.found.rankings["semantic"])[0] == "parser" and ids(off.found.rankings["semantic"])[0] == "lexer"
    assert on.plain == off.plain
    assert on.evidence == off.evidence
    relevance = [engine.ranker().relevance(page_of(engine, text), search_of(engine, text).reading)
                 for engine in (with_it, without)]  # fmt: skip
    assert relevance[0] == relevance[1] and relevance[0] is not None


def test_relevance_does_not_read_the_floors(opened: Opened) -> None:
    plain, floored = (page_of(opened(*NOTES, ARM_FLOORS=floors), "lexer parser runs") for floors in ("", "keyword=0.9"))
    assert floored.found.rankings["keyword"] != plain.found.rankings["keyword"]
    assert floored.plain == plain.plain and floored.evidence == plain.evidence


def test_a_page_without_a_model_says_why_and_has_no_relevance(opened: Opened) -> None:
    engine = opened(*NOTES, embedder=None, warming=True)
    page = page_of(engine, "lexer body")
    assert page.note == "the model is still loading" and ids(page.ranking) == ["lexer"]
    assert engine.ranker().relevance(page, search_of(engine, "lexer body").reading) is None


TWINS = {
    "CONFIDENCE": (Note("b", confidence=0.9), Note("a", confidence=0.3)),
    "RECENCY": (Note("b", created="2026-03-11"), Note("a", created="2025-01-01")),
    "PROOF": (Note("b", proof_count=9), Note("a")),
    "AUTHORITY": (Note("b", authority="law"), Note("a", authority="archived")),
    "SPECULATIVE": (Note("b"), Note("a", tags=("speculative",))),
    "TAG": (Note("b", tags=("web",)), Note("a", tags=("cli",))),
    "DOMAIN": (Note("b", extra=(("domain", "web"),)), Note("a")),
    "PROJECT": (Note("b", realm="project:h/o/mine"), Note("a", realm="project:h/o/other")),
}


@pytest.mark.parametrize("name", TWINS)
def test_each_boost_orders_twins_and_its_setting_turns_it_off(opened: Opened, name: str) -> None:
    twins = [note._replace(title=f"Twin {note.id}", text="Equal words.") for note in TWINS[name]]
    asked = Asked(NOW.date(), ("web",), "project:h/o/mine", "web")
    ranking = [("a", 0.5), ("b", 0.5)]
    for alpha, wanted in ((0, ["a", "b"]), (0.2, ["b", "a"])):
        engine = opened(*twins, **OFF | {f"{name}_ALPHA": alpha})
        reading = search_of(engine, "equal words").reading
        assert ids(engine.ranker().boosted(ranking, reading, asked)) == wanted


def test_a_boost_reaches_the_lane(opened: Opened) -> None:
    twins = [Note(name, title="Twin", text=f"Equal words {name}.", confidence=sure) for name, sure in
             (("first", 0.3), ("second", 0.9))]  # fmt: skip
    assert [row.id for row in lane(opened(*twins, **OFF), "equal words")] == ["first", "second"]
    assert [row.id for row in lane(opened(*twins), "equal words")] == ["second", "first"]


def test_priors_of_scoring_json_move_a_reranked_page(opened: Opened) -> None:
    notes = (Note("fact", kind="insight", title="Parser", text="runs"), Note("told", kind="episode", title="Parser",
             text="runs too"))  # fmt: skip
    ranking, logits = [("told", 1.0), ("fact", 0.9)], [2.0, 2.0]
    for prior, first in ((None, "fact"), (2, "told")):
        engine = opened(*notes)
        if prior is not None:
            with open(f"{engine.settings.home}/{FILE_NAME}", "w") as file:
                file.write(f'{{"kind_priors": {{"episode": {prior}}}}}')
            engine = opened(*notes)
        reading = search_of(engine, "what runs?").reading
        assert ids(engine.ranker().reranked("what runs?", ranking, reading, logits))[0] == first
        assert engine.ranker().reranked("runs", ranking, reading, logits) == ranking  # one word is never reranked


def test_logits_are_of_the_best_passages_and_none_without_a_reranker(opened: Opened) -> None:
    engine = opened(*NOTES, reranker=Judge("second"))
    reading, ranking = search_of(engine, "what runs?").reading, [("lexer", 1.0), ("parser", 0.5)]
    assert engine.ranker().logits("what runs?", ranking, reading, None) == [-5.0, 5.0]
    assert engine.ranker().logits("what runs?", [("nobody", 1.0)], reading, None) == []
    assert opened(*NOTES).ranker().logits("what runs?", ranking, reading, None) == []


def test_a_note_superseded_by_anothers_word_says_so(opened: Opened) -> None:
    old, new = Note("old", title="Pool size five", text="five"), Note("new", title="Pool size", text="ten connections")
    rows = lane(opened(old, new._replace(supersedes=("old",))), "pool size")
    assert {row.id: row.superseded_by for row in rows} == {"old": "new", "new": ""}


def test_a_quarantined_note_replaces_nothing(opened: Opened) -> None:
    old, new = Note("old", title="Pool size five", text="five"), Note("new", title="Pool size", text="ten connections")
    rows = lane(opened(old, new._replace(supersedes=("old",), quarantine=True)), "pool size")
    assert {row.id: row.superseded_by for row in rows} == {"old": "", "new": ""}


@pytest.mark.parametrize("fate", [{"quarantine": True}, {"valid_until": "2026-02-10"}])
def test_what_admission_drops_does_not_take_its_double_along(opened: Opened, fate: dict[str, Any]) -> None:
    live = Note("z-live", title="Pool size", text="ten connections", created="2026-01-01")
    rows = lane(opened(live, live._replace(id="a-gone", created="2026-02-01", **fate)), "pool size")
    assert {row.id for row in rows} == {"z-live", "a-gone"}
    assert len(lane(opened(live, live._replace(id="a-gone")), "pool size")) == 1


def test_an_expired_note_replaces_nothing(opened: Opened) -> None:
    old, new = Note("old", title="Pool size five", text="five"), Note("new", title="Pool size", text="ten connections")
    rows = lane(opened(old, new._replace(supersedes=("old",), valid_until="2026-02-10")), "pool size")
    assert {row.id: row.superseded_by for row in rows} == {"old": "", "new": ""}


def test_a_lane_says_what_a_notes_status_retires_and_nobody_is_no_successor(opened: Opened) -> None:
    notes = (
        Note("archived", title="Pool one", text="a", extra=(("status", "archived"),)),
        Note("done", title="Pool two", text="b", extra=(("status", "done"),)),
        Note("nobody", title="Pool three", text="c", superseded_by="none"),
    )
    rows = lane(opened(*notes), "pool")
    assert {row.id: row.superseded_by for row in rows} == {"archived": "archived", "done": "", "nobody": ""}


def test_of_several_the_newest_is_named_and_of_two_that_replace_each_other_it_stays(opened: Opened) -> None:
    notes = (
        Note("old", title="Pool one", text="a", created="2026-01-01", supersedes=("z-new",)),
        Note("z-new", title="Pool two", text="b", created="2026-03-01", supersedes=("old",)),
        Note("b-mid", title="Pool three", text="c", created="2026-02-01", supersedes=("old",)),
    )
    rows = lane(opened(*notes), "pool")
    assert {row.id: row.superseded_by for row in rows} == {"old": "z-new", "z-new": "", "b-mid": ""}


CONTRADICTING = (
    Note("always", title="Deploy the shop service on Fridays", text="deploy", tags=("ops",), created="2025-01-01"),
    Note("never", title="Never deploy the shop service on Fridays", text="ever", tags=("ops",), created="2026-01-01"),
)


def test_what_is_replaced_is_below_what_replaces_it(opened: Opened) -> None:
    text = "deploy the shop service"
    assert [row.id for row in lane(opened(*CONTRADICTING, SETTLE_CONTRADICTIONS=0, **OFF), text)] == ["always", "never"]
    rows = lane(opened(*CONTRADICTING, **OFF), text)
    assert [row.id for row in rows] == ["never", "always"]
    assert rows[0].score >= rows[1].score


def test_doubles_are_shown_once(opened: Opened) -> None:
    notes = tuple(Note(name, title="Pool size", text="Ten  connections.\n") for name in ("one", "two"))
    assert [row.id for row in lane(opened(*notes), "pool size")] == ["one"]
    assert len(lane(opened(*notes, COLLAPSE_DUPLICATES=0), "pool size")) == 2


def test_long_notes_that_differ_at_their_end_are_no_doubles(opened: Opened) -> None:
    start = "pool size " * (ROW_TEXT_CHARS // 5)
    notes = tuple(Note(f"n{at}", title="Pool size", text=f"{start} {end}") for at, end in enumerate(("ten", "five")))
    engine = opened(*notes)
    assert len(lane(engine, "pool size")) == 2
    reading = search_of(engine, "pool size").reading
    assert {len(note.text) for note in engine.ranker().whole(reading, ["n0"]).values()} == {len(notes[0].text)}
    assert len(reading.notes(["n0"])["n0"].text) == ROW_TEXT_CHARS


def test_a_row_that_a_later_step_raised_has_its_evidence(opened: Opened) -> None:
    notes = [Note(f"n{at:02d}", title="Pool size", text=f"pool size {at}", confidence=0.3) for at in range(PAGE + 6)]
    notes.append(Note("sure", title="Size", text="the pool of another size, with many more words", confidence=0.9))
    engine = opened(*notes)
    page = page_of(engine, "pool size")
    for row in lane(engine, "pool size", k=PAGE + 7):
        assert row.cos != -1.0 and row.coverage > 0 and row.bm25 > 0, row.id
    assert len(page.evidence) < len(notes)


def test_links_and_agreement_raise_after_fusion(opened: Opened) -> None:
    notes = (
        Note("named", title="Gateway", text="`read_frame` rejects what is malformed", tags=("wire",)),
        Note("other", title="Gateway frame", text="gateway frame read gateway"),
    )
    text = "gateway read_frame"
    plain, raised = (dict(page_of(opened(*notes, ENTITY_BOOST=strength), text).ranking) for strength in (0, 1))
    assert raised["named"] > plain["named"] and raised["other"] == plain["other"]
    several = "how is the gateway related to read_frame"
    before, after = (dict(page_of(opened(*notes, CROSS_CHANNEL=flag), several).ranking) for flag in (0, 1))
    assert before != after
    assert page_of(opened(*notes, CROSS_CHANNEL=1), text).ranking == page_of(opened(*notes), text).ranking
