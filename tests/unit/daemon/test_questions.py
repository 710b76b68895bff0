"""Questions, notes with what is around them, and analogies, asked of a running daemon."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from chitta.daemon.desk import Desk
from chitta.daemon.warmup import Loaders
from chitta.daemon_client import DaemonRefused
from chitta.wire.codec import BUSY, MISUSE, UNAVAILABLE, dumps

Make = Callable[..., Any]


@pytest.fixture
def daemon(make_daemon: Make) -> Any:
    made = make_daemon()
    made.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    made.note("aside", "Another project's frobnicator is blue.", realm="project:elsewhere")
    return made.start()


@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword"])
def test_recall_by_each_strategy(daemon: Any, strategy: str) -> None:
    daemon.call("sync")
    answer = daemon.call("recall", query="frobnicator gaskets", strategy=strategy, limit=1, realm="global")
    assert [row["id"] for row in answer["rows"]] == ["frobnicator-limits"]
    assert answer["header"]["k"] == 1


class Judge:
    """A reranker that prefers passages with a given word."""

    name = "judge"

    def score(self, query: str, passages: list[str], *, deadline: float | None = None) -> list[float]:
        return [9.0 if "blue" in passage else -9.0 for passage in passages]


@pytest.mark.parametrize(
    ("strategy", "query", "loaded"),
    [
        ("hybrid", "frobnicator colour", True),
        ("hybrid", "frobnicator", False),  # one word is never reranked
        ("semantic", "frobnicator colour", False),
        ("keyword", "frobnicator colour", False),
    ],
)
def test_first_question_that_is_reranked_waits_for_the_reranker(
    make_daemon: Make, embedder: Any, strategy: str, query: str, loaded: bool
) -> None:
    loads: list[int] = []

    def load(settings: Any) -> Any:
        loads.append(1)
        time.sleep(0.1)
        return Judge()

    daemon = make_daemon(Loaders(lambda settings: embedder, load))
    daemon.note("limits", "The frobnicator takes gaskets.")
    daemon.note("aside", "The frobnicator is blue.")
    daemon.start()
    daemon.call("sync")
    assert loads == []
    first, again = (daemon.call("recall", query=query, strategy=strategy)["rows"] for _ in range(2))
    assert [(row["id"], row["score"]) for row in first] == [(row["id"], row["score"]) for row in again]
    assert bool(loads) == loaded
    assert daemon.call("status")["models"]["reranker"]["state"] == ("ready" if loaded else "unused")


def test_recall_over_all_realms(daemon: Any) -> None:
    found = daemon.call("recall", query="frobnicator", strategy="keyword", realm=None)["rows"]
    assert {row["id"] for row in found} == {"frobnicator-limits", "aside"}


def test_recall_on_an_empty_store(make_daemon: Make) -> None:
    answer = make_daemon().start().call("recall", query="anything")
    assert answer["rows"] == [] and answer["header"]["exhausted"]


def test_an_answer_has_its_reasons_and_the_arms_health(daemon: Any) -> None:
    daemon.call("sync")
    answer = daemon.call("recall", query="frobnicator gaskets", realm="global", limit=1)
    assert set(answer) == {"header", "rows", "reasons", "dropped", "health", "persona", "cached"}
    assert answer["reasons"]["frobnicator-limits"]["arms"]["keyword"]["rank"] == 1
    assert (answer["health"]["keyword"], answer["health"]["graph"]) == ("ok", "off")
    assert daemon.call("recall", query="frobnicator gaskets", realm="global", limit=2)["cached"] == "exact"


def test_the_same_question_is_answered_once_until_something_is_written(daemon: Any) -> None:
    daemon.call("sync")
    asked = {"query": "frobnicator gaskets", "realm": "global"}
    first = daemon.call("recall", **asked)
    assert daemon.call("recall", **asked) == first  # the very answer: one found in the cache would say so
    daemon.note("more", "The frobnicator has gaskets of rubber.")
    daemon.call("sync")
    assert {row["id"] for row in daemon.call("recall", **asked)["rows"]} - {row["id"] for row in first["rows"]} == {
        "more"
    }


def test_when_every_place_is_taken_a_question_is_refused_with_a_code_of_its_own(daemon: Any) -> None:
    daemon.call("sync")
    daemon.service.desk = Desk(places=0, patience_s=0.01)
    with pytest.raises(DaemonRefused, match="ask again in about") as refused:
        daemon.call("recall", query="frobnicator gaskets", realm="global")
    assert refused.value.code == BUSY


def test_filters_and_depth_travel(daemon: Any) -> None:
    daemon.note("episode", "The frobnicator broke.", kind="episode")
    daemon.call("sync")
    answer = daemon.call("recall", query="frobnicator", kinds=["episode"], strategy="keyword", depth=2)
    assert [row["id"] for row in answer["rows"]] == ["episode"]
    assert answer["dropped"] == {"kind": 2} and answer["around"] == {"episode": {}}


def test_what_was_kept_goes_with_a_changed_index(daemon: Any) -> None:
    daemon.call("sync")
    daemon.call("recall", query="frobnicator colour")
    daemon.note("colour", "The frobnicator colour is grey.")
    daemon.call("sync")
    answer = daemon.call("recall", query="frobnicator colour")
    assert answer["cached"] == "" and "colour" in {row["id"] for row in answer["rows"]}


def test_a_question_by_words_waits_for_no_model(make_daemon: Make, embedder: Any) -> None:
    embedder.gate.clear()  # the embedder never answers
    daemon = make_daemon()
    daemon.note("limits", "The frobnicator takes gaskets.")
    daemon.start()
    daemon.call("sync", patience_s=0)
    assert [row["id"] for row in daemon.call("recall", query="frobnicator", strategy="keyword")["rows"]] == ["limits"]
    assert "frobnicator" not in embedder.queries


def test_a_semantic_question_without_a_model_says_why(make_daemon: Make) -> None:
    def missing(settings: Any) -> Any:
        raise OSError("the model file is missing")

    daemon = make_daemon(Loaders(missing, lambda settings: None))
    daemon.note("limits", "The frobnicator takes gaskets.")
    daemon.start().call("sync")
    with pytest.raises(DaemonRefused, match="model") as caught:
        daemon.call("recall", query="frobnicator", strategy="semantic")
    assert caught.value.code == UNAVAILABLE


def test_expand_gives_whole_notes_with_what_is_around_them(daemon: Any) -> None:
    daemon.note("long", f"{'word ' * 900} See [[frobnicator-limits]].")
    daemon.call("sync")
    long, aside = daemon.call("expand", ids=["long", "nobody", "aside"])["notes"]
    assert (long["id"], long["text"].count("word")) == ("long", 900)
    assert [note["id"] for note in long["around"]["related"]] == ["frobnicator-limits"]
    assert aside["around"] == {}
    assert daemon.call("expand", ids=[])["notes"] == []


def test_analogy_by_what_notes_state(daemon: Any) -> None:
    daemon.note("shop", "- stores_in [[Postgres]]")
    daemon.note("telemetry", "- stores_in [[ClickHouse]]")
    daemon.call("sync")
    answer = daemon.call("analogy", analogy="shop : Postgres :: telemetry : ?")
    assert [solution["answer"] for solution in answer["solutions"]] == ["ClickHouse"]
    assert daemon.call("analogy", analogy="shop : Postgres :: nobody : ?")["solutions"] == []


def test_similar_gives_cosines_of_the_realms_that_are_named(daemon: Any) -> None:
    daemon.call("sync")
    text = "frobnicator-limits\nThe frobnicator takes at most twelve gaskets."
    near = daemon.call("similar", text=text, realms=["global"])["cosines"]
    assert list(near) == ["frobnicator-limits"] and near["frobnicator-limits"] > 0.5
    both = daemon.call("similar", text=text, realms=["global", "project:elsewhere"])["cosines"]
    assert set(both) == {"frobnicator-limits", "aside"} and both["frobnicator-limits"] > both["aside"]


def test_similar_waits_for_no_model(make_daemon: Make, embedder: Any) -> None:
    daemon = make_daemon()
    daemon.note("one", "Some words.")
    assert daemon.start().call("similar", text="Some words.", realms=["global"]).keys() == {"cosines"}


def test_an_empty_store_has_nothing_to_expand_or_transfer(make_daemon: Make) -> None:
    daemon = make_daemon().start()
    assert daemon.call("expand", ids=["one"]) == {"notes": []}
    assert daemon.call("analogy", analogy="a : b :: c : ?")["solutions"] == []


@pytest.mark.parametrize(
    ("operation", "body", "said"),
    [
        ("recall", {}, "a question has a query"),
        ("recall", {"query": 3}, "a question has a query"),
        ("recall", {"query": "q", "strategy": "guess"}, "no strategy 'guess'"),
        ("recall", {"query": "q", "limit": "many"}, "limit is a number"),
        ("recall", {"query": "q", "kinds": "insight"}, "kinds is a list"),
        ("recall", {"query": "q", "as_of": "soon"}, "as_of is a date"),
        ("expand", {}, "at most 100 ids"),
        ("expand", {"ids": "one"}, "at most 100 ids"),
        ("expand", {"ids": [1]}, "at most 100 ids"),
        ("expand", {"ids": ["x"] * 101}, "at most 100 ids"),
        ("analogy", {}, "an analogy is a text"),
        ("analogy", {"analogy": "a : b :: c : ?", "realm": 3}, "an analogy is a text"),
        ("analogy", {"analogy": "shop"}, "an analogy is written"),
        ("similar", {"realms": []}, "similar takes a text"),
        ("similar", {"text": "a", "realms": "global"}, "similar takes a text"),
        ("similar", {"text": "a", "realms": [], "limit": 0}, "limit is a number"),
    ],
)
def test_a_malformed_body_is_misuse(daemon: Any, operation: str, body: dict[str, Any], said: str) -> None:
    daemon.note("one", "Some words.")
    daemon.call("sync")
    with pytest.raises(DaemonRefused, match=said) as caught:
        daemon.call(operation, **body)
    assert caught.value.code == MISUSE


@pytest.mark.parametrize("operation", ["recall", "expand", "analogy", "similar"])
@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b'"query"', dumps(None)])
def test_a_body_that_is_no_object_is_misuse(daemon: Any, operation: str, body: bytes) -> None:
    code, _ = daemon.ask("call", operation, body=body)
    assert code == MISUSE
