from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.admission.policy import BY_LANE, COS_FLOOR
from chitta.cli import recall_commands
from chitta.cli.recall_commands import RELATED, RELATED_CONF, SUPPORTED, UNRELATED, Answer, arms, tier
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
    assert [row["id"] for row in value["rows"] if not row["beyond"]] == ["webhook"]
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
    assert ran.code == 1 and ran.value["rows"] == [] and "none of the 3 notes in this store" in ran.err
    assert "no notes in project:empty" in store("recall", "x", "--realm", "project:empty").err


WEAK = Row("weak", 1.0, title="weak", text="text", conf=0.0, cos=0.1, bm25=1.0)


@pytest.mark.parametrize("option", ["--show-weak", "--all"])
def test_what_only_happens_to_be_nearest_is_shown_when_asked(
    store: Run, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr(recall_commands, "ask", lambda *_, **__: Answer([WEAK], maxrel=0.1))
    ran = store("recall", "words")
    assert (ran.code, ran.out) == (1, "") and "not in memory" in ran.err and "--show-weak" in ran.err
    assert [row["id"] for row in store("recall", "words", option, "--json").value["rows"]] == ["weak"]


@pytest.mark.parametrize("rows", [[], [WEAK]], ids=["no row", "a weak one"])
@pytest.mark.parametrize("warming", [True, False])
def test_nothing_is_called_absent_while_the_models_are_loading(
    store: Run, monkeypatch: pytest.MonkeyPatch, rows: list[Row], warming: bool
) -> None:
    monkeypatch.setattr(recall_commands, "ask", lambda *_, **__: Answer(rows, warming=warming))
    ran = store("recall", "words")
    assert ran.code == 1 and ("not in memory" in ran.err) is not warming
    assert ("by meaning it may still be" in ran.err) is warming


def test_an_empty_store_is_said_so(chitta: Run) -> None:
    ran = chitta("recall", "anything")
    assert ran.code == 1 and "no notes in this store yet" in ran.err


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
        (Row("a", 1.0, conf=RELATED_CONF, cos=COS_FLOOR), RELATED),
        (Row("a", 1.0, conf=RELATED_CONF - 0.001, cos=COS_FLOOR), UNRELATED),
        (Row("a", 1.0, conf=0.0, cos=COS_FLOOR - 0.01), UNRELATED),
        (Row("a", 1.0), UNRELATED),
    ],
)
def test_tiers_come_from_absolute_evidence(row: Row, expected: str) -> None:
    assert tier(row) == expected


def row_of(name: str, conf: float, realm: str = "global", score: float = 1.0) -> Row:
    return Row(name, score, realm=realm, title=name, text=f"text of {name}", conf=conf, cos=0.9)


@pytest.fixture
def by_realm(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets each realm (None: all) answer with given rows, in the folder of project:here."""
    monkeypatch.setenv("CHITTA_REALM", "project:here")

    def answers(rows: dict[str | None, list[Row]]) -> None:
        def ask(settings: Any, words: str, *, strategy: str, limit: int, realm: str | None) -> Answer:
            return Answer(rows.get(realm, [])[:limit], maxrel=0.5)

        monkeypatch.setattr(recall_commands, "ask", ask)

    return answers


def test_this_realm_and_global_are_one_answer_by_conf_then_score(chitta: Run, by_realm: Callable[..., None]) -> None:
    here, elsewhere = row_of("here", 0.5, "project:here"), row_of("elsewhere", 0.9, "project:there")
    by_realm({"project:here": [here], "global": [row_of("top", 0.8), row_of("low", 0.5, score=0.1)], None: [elsewhere]})
    value = chitta("recall", "words", "--json").value
    assert [row["id"] for row in value["rows"]] == ["top", "here", "low"]
    assert value["scope"] == "here" and not any(row["beyond"] for row in value["rows"])
    assert [row["id"] for row in chitta("recall", "words", "--limit", "1", "--json").value["rows"]] == ["top"]


def test_other_projects_answer_where_nothing_here_is_supported(chitta: Run, by_realm: Callable[..., None]) -> None:
    near, far = row_of("near", FLOOR / 2, "project:here"), row_of("far", 0.9, "project:there")
    by_realm({"project:here": [near], None: [far, near]})
    value = chitta("recall", "words", "--json").value
    assert [(row["id"], row["beyond"]) for row in value["rows"]] == [("near", False), ("far", True)]
    assert value["scope"] == "beyond"
    out = chitta("recall", "words").out
    assert out.index("near") < out.index("From other projects:") < out.index("far") and "project:there" in out


def test_a_named_realm_and_all_realms_are_asked_alone(chitta: Run, by_realm: Callable[..., None]) -> None:
    by_realm({"project:x": [row_of("x", 0.0)], None: [row_of("far", 0.9, "project:there")]})
    assert chitta("recall", "words", "--realm", "project:x", "--json").value["scope"] == "named"
    everywhere = chitta("recall", "words", "--global", "--json").value
    assert everywhere["scope"] == "everywhere" and [row["beyond"] for row in everywhere["rows"]] == [False]


def test_a_semantic_answer_was_found_by_meaning_only(chitta: Run, by_realm: Callable[..., None]) -> None:
    by_realm({"global": [row_of("a", 0.9)._replace(bm25=3.0)]})
    assert "found by meaning\n" in chitta("recall", "words", "--strategy", "semantic").out
    assert "found by words and meaning\n" in chitta("recall", "words").out


@pytest.mark.parametrize(
    ("line", "title", "rest"),
    [
        ("The build is nightly.", "The build is nightly.", ""),
        ("The build is nightly. It takes an hour.", "The build is nightly.", "…It takes an hour."),
        ("The build is nightly, and long", "The build is…", "…nightly, and long"),
        ("The build is nightly", "The build is nig…", "…nightly"),
        ("# Heading", "Heading", ""),
        ("Other words", "Heading", "Other words"),
    ],
)
def test_text_goes_on_where_the_title_ends(line: str, title: str, rest: str) -> None:
    assert recall_commands._beyond_title(line, title) == rest


def test_arms() -> None:
    assert arms(Row("a", 1.0, bm25=1.0, cos=0.0)) == ["words", "meaning"]
    assert arms(Row("a", 1.0)) == []
