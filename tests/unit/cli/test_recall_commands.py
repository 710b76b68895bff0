from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.admission.policy import BY_LANE, COS_FLOOR
from chitta.cli.recall_commands import RELATED, SUPPORTED, UNRELATED, arms, tier
from chitta.wire.rows import Row

Run = Callable[..., Any]
FLOOR, WORDS_FLOOR = BY_LANE["hybrid"].conf_floor, BY_LANE["hybrid"].words_conf_floor


@pytest.fixture
def store(chitta: Run) -> Run:
    chitta("remember", "The webhook answers 400 when the raw body was parsed before.", "--id", "webhook")
    chitta("remember", "The Celery worker needs a restart after a deploy.", "--id", "celery")
    chitta("remember", "Webhook secrets rotate monthly.", "--id", "elsewhere", "--realm", "project:x.org/a")
    return chitta


def test_recall_by_words(store: Run) -> None:
    value = store("recall", "webhook", "400", "--strategy", "keyword", "--json").value
    assert [row["id"] for row in value["rows"]] == ["webhook"]
    assert value["query"] == "webhook 400" and value["realm"] == "global" and value["strategy"] == "keyword"
    row = value["rows"][0]
    assert row["arms"] == ["words"] and row["bm25"] > 0 and row["tier"] in (SUPPORTED, RELATED)


def test_recall_in_another_realm_and_in_all(store: Run) -> None:
    def found(*options: str) -> set[str]:
        return {
            row["id"] for row in store("recall", "webhook", "--strategy", "keyword", "--json", *options).value["rows"]
        }

    assert found("--realm", "project:x.org/a") == {"elsewhere"}
    assert found("--global") == {"webhook", "elsewhere"}


def test_recall_for_people_shows_title_evidence_and_first_lines(store: Run) -> None:
    out = store("recall", "webhook", "--strategy", "keyword").out
    assert (
        out.startswith("1. The webhook answers 400") and "found by words" in out and "webhook · insight · global" in out
    )


def test_without_a_model_hybrid_answers_from_words_and_says_so(store: Run) -> None:
    ran = store("recall", "celery", "--json")
    assert ran.code == 0 and [row["id"] for row in ran.value["rows"]] == ["celery"]
    assert "words alone" in ran.err


def test_without_a_model_semantic_is_unavailable(store: Run) -> None:
    ran = store("recall", "celery", "--strategy", "semantic")
    assert (ran.code, ran.out) == (111, "") and "\nhint: " in ran.err


def test_nothing_found_is_said_honestly(store: Run) -> None:
    ran = store("recall", "zzyzzx", "--strategy", "keyword", "--json")
    assert ran.code == 1 and ran.value["rows"] == [] and "none of the 2 notes in global" in ran.err
    assert "no notes in project:empty" in store("recall", "x", "--realm", "project:empty").err


def test_an_empty_store_is_said_so(chitta: Run) -> None:
    ran = chitta("recall", "anything")
    assert ran.code == 1 and "no notes in global yet" in ran.err


def test_what_was_edited_by_hand_is_found(store: Run, own_home: Path) -> None:
    (own_home / ".chitta" / "notes" / "global" / "by-hand.md").write_text("The quokka build is nightly.\n")
    assert store("recall", "quokka", "--strategy", "keyword").code == 0


@pytest.mark.parametrize("query", ['AND OR NOT "', "title:(a b)", "/etc/**", "a" * 10_000, "\u0000\ud800"])
def test_no_query_is_a_syntax_error(store: Run, query: str) -> None:
    ran = store("recall", query, "--strategy", "keyword", "--json")
    assert ran.code in (0, 1) and "rows" in ran.value


@pytest.mark.parametrize(
    "words", [[" "], [], ["x", "--strategy", "magic"], ["x", "--limit", "0"], ["x", "--realm", "/"]]
)
def test_misuse(store: Run, words: list[str]) -> None:
    ran = store("recall", *words)
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith("chitta: ")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (Row("a", 1.0, conf=FLOOR, cos=0.0), SUPPORTED),
        (Row("a", 1.0, conf=WORDS_FLOOR), SUPPORTED),
        (Row("a", 1.0, conf=WORDS_FLOOR - 0.01, bm25=3.0, shared=("x",)), RELATED),
        (Row("a", 1.0, conf=0.0, bm25=3.0, coverage=0.5), RELATED),
        (Row("a", 1.0, conf=0.0, bm25=3.0, coverage=0.4), UNRELATED),
        (Row("a", 1.0, conf=0.0, cos=COS_FLOOR), RELATED),
        (Row("a", 1.0, conf=0.0, cos=COS_FLOOR - 0.01), UNRELATED),
        (Row("a", 1.0), UNRELATED),
    ],
)
def test_tiers_come_from_absolute_evidence(row: Row, expected: str) -> None:
    assert tier(row) == expected


def test_arms() -> None:
    assert arms(Row("a", 1.0, bm25=1.0, cos=0.0)) == ["words", "meaning"]
    assert arms(Row("a", 1.0)) == []
