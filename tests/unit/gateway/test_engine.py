"""Each lane's answer over a real store."""

from pathlib import Path
from typing import Any

import pytest

from chitta.admission import calibration
from chitta.admission.tokens import distinctive
from chitta.gateway.engine import LANES, MEASURED, Engine, Unavailable
from chitta.gateway.question import STRATEGIES
from chitta.index.snapshot import open_snapshot
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.recall.context import bag
from chitta.recall.evidence import NO_COSINE, Evidence
from chitta.settings import Settings
from chitta.wire.request import Request

from .conftest import SHOP, Opened, WordEmbedder


def ask(prompt: str, **changes: object) -> Request:
    request = Request(prompt=prompt, query=prompt, tokens=distinctive(prompt), realm=SHOP)
    return request._replace(**changes)  # type: ignore[arg-type]


def ids(engine: Engine, lane: str, request: Request) -> list[str]:
    return [row.id for row in engine.rows(lane, request, engine.settings)[1]]


def test_keyword_finds_exact_words_of_this_realm_and_knowledge_only(engine: Engine) -> None:
    header, rows = engine.rows("keyword", ask("webhook signature fails"), engine.settings)
    assert [row.id for row in rows] == ["webhook-raw-body"]
    assert rows[0].kind in KNOWLEDGE_KINDS
    assert rows[0].bm25 > 0
    assert rows[0].shared == ("webhook", "signature")
    assert header.exhausted
    assert header.maxrel is None


def test_semantic_finds_other_words_for_the_same(engine: Engine) -> None:
    request = ask("customers charged twice")
    assert ids(engine, "keyword", request) == []
    assert ids(engine, "semantic", request)[0] == "double-payment"


def test_lanes_of_this_realm_stay_in_it(engine: Engine) -> None:
    request = ask("consumer lag after rebalance quote shell variables")
    for lane in ("semantic", "hybrid", "keyword"):
        realms = {row.realm for row in engine.rows(lane, request, engine.settings)[1]}
        assert realms <= {SHOP}, lane
    assert "kafka-lag" in ids(engine, "cross-realm", request)


def test_hybrid_measures_relevance(engine: Engine) -> None:
    near, _ = engine.rows("hybrid", ask("webhook signature needs the raw body"), engine.settings)
    far, _ = engine.rows("hybrid", ask("tomatoes with yellow leaves"), engine.settings)
    assert near.maxrel is not None
    assert far.maxrel is not None
    assert far.maxrel < near.maxrel


def test_hybrid_and_cross_realm_say_how_many_notes_they_looked_among(engine: Engine) -> None:
    request = ask("webhook signature")
    assert engine.rows("hybrid", request, engine.settings)[0].size == 3
    assert (
        engine.rows("cross-realm", request, engine.settings)[0].size == 5
    )  # a session's row is none that may enter a prompt


def test_context_is_silent_on_the_first_turn_and_recalls_the_bag_later(engine: Engine) -> None:
    assert ids(engine, "context", ask("do the same")) == []
    assert ids(engine, "context", ask("do the same", context_query="buyers billed double"))[0] == "double-payment"


def test_context_is_near_the_latest_turn_more_than_the_one_before(engine: Engine) -> None:
    turns = ("buyers billed double", "webhook signature")
    there = ids(engine, "context", ask("and now", context_query=bag(turns), context_turns=turns))
    back = ids(engine, "context", ask("and now", context_query=bag(turns[::-1]), context_turns=turns[::-1]))
    assert there[0] == "double-payment" != back[0]


def test_correction_key_fires_on_its_trigger_alone(engine: Engine) -> None:
    _, fired = engine.rows("correction-key", ask("npm install date-fns"), engine.settings)
    assert [row.kind for row in fired] == ["correction"]
    assert fired[0].why == "npm install"
    assert fired[0].conf == 1.0
    assert ids(engine, "correction-key", ask("install the certificate")) == []


@pytest.mark.parametrize(
    ("prompt", "mentioned"),
    [
        ("why did somebody run npm install here?", True),
        ("npm install date-fns", False),
        ("which npm command do I use", False),
    ],
    ids=["spoken of", "ordered", "not said"],
)
def test_a_correction_whose_wrong_form_is_only_spoken_of_is_marked(
    engine: Engine, prompt: str, mentioned: bool
) -> None:
    for lane in ("correction", "keyword", "hybrid", "cross-realm", "semantic"):
        rows = engine.rows(lane, ask(prompt), engine.settings)[1]
        (correction,) = (row for row in rows if row.kind == "correction")
        assert correction.only_mentioned is mentioned, lane
        assert not any(row.only_mentioned for row in rows if row.kind != "correction")


def test_what_is_spoken_of_is_judged_by_the_prompt_and_not_by_the_turn_before(engine: Engine) -> None:
    leaning = ask("npm the same", query="why did somebody run npm install here?\nnpm the same")
    (correction,) = engine.rows("correction", leaning, engine.settings)[1]
    assert not correction.only_mentioned


def test_correction_sees_this_realm_and_global_only(engine: Engine) -> None:
    found = engine.rows("correction", ask("which npm command do I use"), engine.settings)[1]
    assert {row.kind for row in found} == {"correction"}
    other = ask("npm install", realm="project:example.com/acme/telemetry")
    assert ids(engine, "correction", other) == []


def test_without_a_model_words_answer_and_meaning_is_unavailable(engine: Engine) -> None:
    words = Engine(engine.settings, engine.snapshot, None, None, calibration.shipped(), warming=True)
    request = ask("webhook signature")
    header, rows = words.rows("hybrid", request, engine.settings)
    assert header.warming
    assert header.maxrel is None
    assert rows[0].id in {"webhook-raw-body", "session-row"}
    assert rows[0].cos == -1.0
    for lane in ("semantic",):
        with pytest.raises(Unavailable, match="loading"):
            words.rows(lane, request, engine.settings)


def test_vectors_of_another_model_are_never_used(engine: Engine) -> None:
    other = WordEmbedder()
    other.name = "another"
    stranger = Engine(engine.settings, engine.snapshot, other, None, calibration.shipped())
    with pytest.raises(Unavailable, match="chitta reindex"):
        stranger.rows("semantic", ask("customers charged twice"), engine.settings)
    header, rows = stranger.rows("hybrid", ask("webhook signature"), engine.settings)
    assert "another" in header.note
    assert all(row.cos == -1.0 for row in rows)


@pytest.mark.parametrize("lane", LANES)
def test_an_empty_store_is_an_honest_empty_answer(lane: str, settings: Settings) -> None:
    engine = Engine(settings, None, WordEmbedder(), None, calibration.shipped())
    header, rows = engine.rows(lane, ask("anything at all"), settings)
    assert rows == []
    assert header.exhausted


def test_a_dozen_older_versions_do_not_push_the_current_note_out(opened: Opened) -> None:
    def version(number: int, **said: Any) -> Note:
        return Note(
            f"v{number}", realm=SHOP, title="Kafka rebalance", text=f"Consumer lag after rebalance {number}", **said
        )

    old = [version(number, superseded_by="v99") for number in range(14)]
    held = [version(number, quarantine=True) for number in range(20, 34)]
    engine = opened(*old, *held, version(99, kind="insight"), Note("far", realm=SHOP, title="Quotes", text="Always."))
    request = ask("kafka consumer lag after rebalance", context_query="kafka consumer lag after rebalance")
    for lane in ("semantic", "context", "hybrid", "cross-realm"):
        found = ids(engine, lane, request)
        assert "v99" in found and len(found) == request.k, lane
    assert ids(engine, "keyword", request)[0] == "v99"


def test_a_note_removed_by_hand_is_in_no_lane_though_the_index_still_holds_it(engine: Engine) -> None:
    request = ask("npm install: webhook signature, customers charged twice", context_query="webhook signature")
    before = {lane: set(ids(engine, lane, request)) for lane in LANES}
    assert all(before.values()), before
    folder = Path(engine.settings.notes_dir)
    for path in folder.rglob("*.md"):
        if "double-payment" not in path.name:
            path.unlink()
    for lane in LANES:
        assert set(ids(engine, lane, request)) == before[lane] & {"double-payment"}, lane


def test_a_note_among_few_is_likelier_than_the_same_among_many(opened: Opened) -> None:
    gentle = calibration.shipped()._replace(note=calibration.Logistic(0.0, {"cos": 1.0}))

    def confs(engine: Engine, name: str = calibration.SHIPPED) -> dict[str, float]:
        fit = gentle._replace(name=name)
        again = Engine(engine.settings, engine.snapshot, WordEmbedder(), None, fit)
        return {row.id: row.conf for row in again.rows("semantic", ask("kafka lag", k=100), engine.settings)[1]}

    long = "Consumer lag after rebalance: raise the interval for slow batches of the telemetry job. " * 4
    told = Note("told", kind="correction", realm=SHOP, title="Kafka lag", text=long)
    alone = confs(opened(Note("long", realm=SHOP, title="Kafka lag", text=long), told))
    many = opened(*(Note(f"other{number}", realm=SHOP, title="Quotes", text=long) for number in range(60)))
    assert alone["long"] > confs(many)["long"] == confs(many, "own")["long"]
    assert alone["told"] == confs(many)["told"]


def test_only_the_shipped_calibration_knows_nothing_of_how_many_and_how_long(opened: Opened) -> None:
    engine = opened(Note("brief", realm=SHOP, title="Kafka lag", text="Raise the interval."))
    evidence, note = Evidence(cos=0.72, coverage=0.1, shared=1), Note("x", title="Kafka lag", text="Raise it.")
    among_few = engine._conf(note, evidence, 5)
    assert (
        among_few > engine._conf(note._replace(text="Raise it. " * 60), evidence, 5) > engine._conf(note, evidence, 0)
    )
    assert engine._conf(note._replace(kind="correction"), evidence, 5) == engine._conf(note, evidence, 0)
    by_words = evidence._replace(cos=NO_COSINE)
    assert engine._conf(note, by_words, 5) == engine._conf(note, by_words, 0)


def test_k_bounds_the_rows(engine: Engine) -> None:
    for lane in ("semantic", "hybrid", "cross-realm"):
        assert len(ids(engine, lane, ask("webhook buyers", k=1))) == 1


class Judge:
    """A reranker that prefers passages with a given word, and can be cut short."""

    name = "judge"

    def __init__(self, word: str, most: int = 99) -> None:
        self.word = word
        self.most = most

    def score(self, query, passages, *, deadline=None):  # type: ignore[no-untyped-def]
        return [9.0 if self.word in passage.lower() else -9.0 for passage in passages][: self.most]


def test_the_same_question_gives_the_same_answer(settings: Settings) -> None:
    answers = []
    for _ in range(2):
        snapshot = open_snapshot(settings.index_dir)
        assert snapshot is not None
        engine = Engine(settings, snapshot, WordEmbedder(), None, calibration.shipped())
        header, rows = engine.rows("hybrid", ask("webhook signature for buyers"), settings)
        answers.append((header._replace(ms=0.0), rows))
        snapshot.close()
    assert answers[0] == answers[1]


def test_a_damaged_word_index_is_unavailable_and_never_reads_as_nothing_known(settings: Settings) -> None:
    for file in Path(settings.index_dir, "current", "tantivy").glob("*"):
        if file.suffix != ".lock":
            file.unlink()  # one that is mapped must not shrink under its reader
            file.touch()
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    engine = Engine(settings, snapshot, WordEmbedder(), None, calibration.shipped())
    with pytest.raises(Unavailable, match="damaged"):
        engine.rows("keyword", ask("webhook signature"), settings)
    assert ids(engine, "semantic", ask("customers charged twice"))[0] == "double-payment"
    snapshot.close()


def test_find_gives_the_page_of_a_strategy_or_of_one_arm(engine: Engine) -> None:
    text, realm = "webhook signature of [[Buyers billed double]]", SHOP
    pages = {
        strategy: engine.find(text, strategy=strategy, limit=5, realm=realm)[1] for strategy in (*STRATEGIES, *MEASURED)
    }
    assert set(pages["graph"].found.rankings) == {"graph"}
    assert "double-payment" in dict(pages["graph"].ranking)
    assert pages["temporal"].found.health["temporal"] == "not asked for by this text"
    assert set(dict(pages["fused"].ranking)) == set(dict(pages["hybrid"].ranking))
    for strategy in ("hybrid", "fused", "keyword"):
        assert all(name in pages[strategy].evidence for name, _ in pages[strategy].ranking[:5]), strategy
    with pytest.raises(KeyError):
        engine.find(text, strategy="guess", limit=5, realm=realm)


def test_find_by_words_uses_no_model_and_by_meaning_needs_one(engine: Engine) -> None:
    words = Engine(engine.settings, engine.snapshot, None, None, calibration.shipped())
    page = words.find("webhook signature", strategy="keyword", limit=1, realm=SHOP)[1]
    assert len(page.ranking) == 1 and page.evidence[page.ranking[0][0]].cos == -1.0
    with pytest.raises(Unavailable, match="no model"):
        words.find("webhook signature", strategy="semantic", limit=1, realm=SHOP)
    with pytest.raises(Unavailable, match="empty"):
        Engine(engine.settings, None, None, None, calibration.shipped()).find(
            "x", strategy="hybrid", limit=1, realm=None
        )
