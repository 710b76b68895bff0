from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.cli import asking
from chitta.cli.asking import Answer
from chitta.cli.recall_tier import RELATED, SUPPORTED
from chitta.recall.budget import estimate
from chitta.wire.rows import Row

Run = Callable[..., Any]


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
    monkeypatch.setattr(asking, "ask", lambda *_, **__: Answer([WEAK], maxrel=0.1))
    ran = store("recall", "words")
    assert (ran.code, ran.out) == (1, "") and "not in memory" in ran.err and "--show-weak" in ran.err
    assert [row["id"] for row in store("recall", "words", option, "--json").value["rows"]] == ["weak"]


@pytest.mark.parametrize("rows", [[], [WEAK]], ids=["no row", "a weak one"])
@pytest.mark.parametrize("warming", [True, False])
def test_nothing_is_called_absent_while_the_models_are_loading(
    store: Run, monkeypatch: pytest.MonkeyPatch, rows: list[Row], warming: bool
) -> None:
    monkeypatch.setattr(asking, "ask", lambda *_, **__: Answer(rows, warming=warming))
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


NOTE = """---
id: {id}
created: {created}
title: {title}
{more}---
{text}
"""


@pytest.fixture
def rich_store(store: Run, own_home: Path) -> Run:
    """Notes with dates, a session, a replacement, a habit and relations."""
    folder = own_home / ".chitta" / "notes" / "global"

    def write(name: str, created: str, title: str, text: str, more: str = "") -> None:
        (folder / f"{name}.md").write_text(NOTE.format(id=name, created=created, title=title, text=text, more=more))

    write("old", "2026-01-02", "Deploy with capistrano", "Run cap deploy.", "source: runbook\nsession: s1\n")
    write("new", "2026-05-02", "Deploy with kamal", "Run kamal deploy.", "supersedes: [old]\nsession: s1\n")
    write("far", "2026-06-02", "Deploy of the docs", "The docs deploy is nightly.", "kind: decision\n")
    write("near", "2026-04-30", "Lunch", "Pizza.")
    write("habit", "2026-04-01", "pytest, plain asserts", "x", "persona: testing_style\nconfidence: 0.9\n")
    relations = (
        "[{source: api, relation: written_in, target: Python}, {source: web, relation: written_in, target: CSS}]"
    )
    write("rel", "2026-03-01", "Stack", "What serves what.", f"relations: {relations}\n")
    return store


def ids(ran: Any) -> list[str]:
    return [row["id"] for row in ran.value["rows"]]


WORDS = ("--strategy", "keyword", "--show-weak")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"new", "far", "celery"}),
        (["--include-superseded"], {"new", "old", "far", "celery"}),
        (["--kind", "decision"], {"far"}),
        (["--kind", "decision", "--kind", "insight"], {"new", "far", "celery"}),
        (["--since", "2026-05-01", "--until", "2026-05-02"], {"new"}),
        (["--window", "2026-01-01..2026-05-31"], {"new"}),
        (["--as-of", "2026-03-01", "--known-as-of", "2026-03-01"], {"old"}),
        (["--min-confidence", "HIGH"], set()),
        (["--min-overlap", "1"], {"new", "far", "celery"}),
    ],
)
def test_filters(rich_store: Run, options: list[str], expected: set[str]) -> None:
    assert set(ids(rich_store("recall", "deploy", *WORDS, "--json", *options))) == expected


def test_a_time_before_everything_was_written_is_told_as_such(rich_store: Run) -> None:
    ran = rich_store("recall", "deploy", "--as-of", "2019-01-01")
    assert "left out as asked: " in ran.err and "not known then" in ran.err and "these words" not in ran.err


def test_what_filters_left_out_is_told(rich_store: Run) -> None:
    ran = rich_store("recall", "deploy", *WORDS, "--kind", "decision")
    assert ran.code == 0 and "left out as asked: " in ran.err and "of another kind" in ran.err
    none = rich_store("recall", "deploy", *WORDS, "--kind", "wisdom")
    assert none.code == 1 and none.err.count("of another kind") == 1 and "not in memory" not in none.err
    assert "left out" not in rich_store("recall", "deploy", *WORDS).err


def test_a_replaced_note_names_its_successor(rich_store: Run) -> None:
    ran = rich_store("recall", "deploy", *WORDS, "--include-superseded")
    assert "replaced by Deploy with kamal, 2026-05-02" in ran.out


def test_depth_0_is_a_line_each(rich_store: Run) -> None:
    out = rich_store("recall", "deploy", *WORDS, "--depth", "0").out
    assert len(out.splitlines()) == 3 and "Deploy with kamal" in out and "Run kamal" not in out
    row = rich_store("recall", "deploy", *WORDS, "--depth", "0", "--json").value["rows"][0]
    assert "text" not in row and {"id", "title", "tier", "conf", "arms", "beyond"} <= set(row)


@pytest.mark.parametrize("option", [("--depth", "2"), ("--stage", "hydrate")])
def test_depth_2_is_whole_with_what_is_around(rich_store: Run, option: tuple[str, str]) -> None:
    ran = rich_store("recall", "deploy", *WORDS, "--include-superseded", *option)
    assert "source: runbook" in ran.out and "replaced by: Deploy with kamal · new · 2026-05-02" in ran.out
    old = "Deploy with capistrano · old · 2026-01-02"
    assert f"same session: {old}" in ran.out and f"replaces: {old}" in ran.out
    rows = rich_store("recall", "deploy", *WORDS, *option, "--json").value["rows"]
    assert next(row for row in rows if row["id"] == "new")["around"]["replaces"][0]["id"] == "old"


def test_depth_2_has_texts_of_any_length_whole(store: Run) -> None:
    store("remember", "A quokka. " + "word " * 2_000 + "END", "--id", "long")
    assert "END" in store("recall", "quokka", *WORDS, "--depth", "2").out


def test_a_whole_text_is_indented_under_its_number(rich_store: Run) -> None:
    lines = rich_store("recall", "kamal", *WORDS, "--depth", "2", "--limit", "1").out.splitlines()
    assert lines[0] == "1. Deploy with kamal" and "   Run kamal deploy." in lines


def test_the_index_has_dates(rich_store: Run) -> None:
    head, *lines = rich_store("recall", "deploy", *WORDS, "--stage", "index").out.splitlines()
    assert head.split()[:3] == ["id", "date", "conf"] and len(lines) == 3
    assert any(line.startswith("new") and "2026-05-02" in line for line in lines)


def test_the_timeline_is_in_order_with_what_was_written_around_the_best(rich_store: Run) -> None:
    rows = rich_store("recall", "kamal", *WORDS, "--stage", "timeline", "--json").value["rows"]
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    by_id = {row["id"]: row for row in rows}
    assert by_id["new"]["hit"] == 1 and by_id["near"]["hit"] == by_id["far"]["hit"] == 0
    assert len(rows) <= 7
    then = rich_store("recall", "kamal", *WORDS, "--stage", "timeline", "--json", "--known-as-of", "2026-05-03")
    assert "far" not in {row["id"] for row in then.value["rows"]}
    assert "Lunch" in rich_store("recall", "kamal", *WORDS, "--stage", "timeline").out


@pytest.mark.parametrize(
    "shape", [[], ["--depth", "0"], ["--depth", "2"], ["--explain"], ["--stage", "index"], ["--stage", "timeline"]]
)
@pytest.mark.parametrize("tokens", [1, 30, 60, 120, 300])
def test_what_is_printed_stays_within_the_tokens(rich_store: Run, shape: list[str], tokens: int) -> None:
    ran = rich_store("recall", "deploy", *WORDS, *shape, "--max-tokens", str(tokens))
    whole = rich_store("recall", "deploy", *WORDS, *shape)
    assert ran.code == 0 and estimate(ran.out) <= tokens
    assert (f"to stay within {tokens} token" in ran.err) is (ran.out != whole.out)
    made = rich_store("recall", "deploy", *WORDS, *shape, "--json", "--max-tokens", str(tokens))
    assert estimate(made.out) <= tokens or made.value["rows"] == []
    assert made.value["trimmed"] or made.value["rows"]


def test_explain_tells_every_step(rich_store: Run) -> None:
    out = rich_store("recall", "kamal deploy", *WORDS, "--explain", "--limit", "1").out
    assert "words 1st (" in out and "together 1st (" in out and "bm25 " in out and "shared words: kamal" in out
    assert "The arms" in out and "calibrated chance" in out
    value = rich_store("recall", "kamal deploy", *WORDS, "--explain", "--limit", "1", "--json").value
    assert set(value["reasons"]) == {"new"} and value["health"]["keyword"] == "ok" and "dropped" in value


def test_a_habit_is_one_line(rich_store: Run) -> None:
    line = "testing_style: pytest, plain asserts (persona, confidence 0.90)"
    ran = rich_store("recall", "what testing style do we use", "--strategy", "keyword")
    assert (ran.code, ran.out, ran.err) == (0, f"{line}\n   habit\n", "")
    value = rich_store("recall", "what testing style do we use", "--strategy", "keyword", "--json").value
    assert value["persona"]["line"] == line and value["persona"]["id"] == "habit"
    (row,) = value["rows"]
    assert (row["id"], row["title"], row["tier"], row["arms"]) == ("habit", "pytest, plain asserts", SUPPORTED, [])


def test_what_one_is_working_on_are_the_newest(rich_store: Run) -> None:
    ran = rich_store("recall", "what am I working on?", "--strategy", "keyword", "--limit", "3")
    assert ran.code == 0 and ran.out.count("one of the newest") == 3 and "newest memories" in ran.err
    assert "words alone" not in ran.err


def test_an_analogy_is_answered_with_its_edges_or_not_at_all(rich_store: Run) -> None:
    ran = rich_store("recall", "--analogy", "api:python::web:?")
    assert ran.out.splitlines() == ["CSS", "   because api written in Python (rel)", "   and web written in CSS (rel)"]
    value = rich_store("recall", "--analogy", "api:python::web:?", "--json").value
    assert value["solutions"][0]["answer"] == "CSS" and value["reason"] == ""
    none = rich_store("recall", "--analogy", "api:python::db:?")
    assert (none.code, none.out) == (1, "") and "db is not known" in none.err
    assert estimate(rich_store("recall", "--analogy", "api:python::web:?", "--max-tokens", "8").out) <= 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x", "--since", "soonish"], "--since: 'soonish' is no time"),
        (["x", "--valid-at", "a. b"], "--valid-at: 'a. b' is no time"),
        (["x", "--window", "3x"], "--window: '3x' is no span"),
        (["x", "--window", "7d", "--since", "yesterday"], "exclude each other"),
        (["x", "--since", "2026-02-01", "--until", "2026-01-01"], "--since is after --until"),
        (["x", "--min-confidence", "HI"], "'HI' is no confidence"),
        (["x", "--min-confidence", "nan"], "'nan' is no confidence"),
        (["x", "--stage", "all"], "'all' is no stage"),
        (["x", "--stage", "index", "--depth", "1"], "exclude each other"),
        (["x", "--stage", "timeline", "--explain"], "no place in the table"),
        (["x", "--depth", "3"], "--depth"),
        (["x", "--max-tokens", "0"], "--max-tokens"),
        (["x", "--min-overlap", "2"], "--min-overlap"),
        (["--analogy", "a:b"], "an analogy is written"),
        (["--analogy", "a:b::c:?", "--explain"], "no place beside --analogy"),
        (["x", "--kind", "nonsense"], "no note is of the kind 'nonsense'"),
        (["x", "--kind", "session"], "bookkeeping, which is never an answer"),
        (["x", "--analogy", "a:b::c:?"], "exclude each other"),
    ],
)
def test_what_cannot_be_read_is_misuse_with_a_sentence(store: Run, words: list[str], said: str) -> None:
    ran = store("recall", *words)
    assert (ran.code, ran.out) == (2, "") and said in ran.err and "\nhint: " in ran.err


def test_a_kind_that_a_note_of_the_store_has_is_known(store: Run, own_home: Path) -> None:
    store("recall", "x", "--strategy", "keyword")
    (own_home / ".chitta" / "notes" / "global" / "own.md").write_text("---\nkind: recipe\n---\nThe quokka soup.\n")
    ran = store("recall", "quokka", *WORDS, "--kind", "recipe", "--kind", "session")
    assert ran.code == 0 and "kind session are bookkeeping" in ran.err


def test_what_was_held_back_is_said_where_nothing_is_shown(store: Run, own_home: Path) -> None:
    folder = own_home / ".chitta" / "notes" / "global"
    (folder / "q.md").write_text("---\nquarantine: true\n---\nThe quokka build is nightly.\n")
    (folder / "e.md").write_text("---\nvalid_until: 2026-01-01\n---\nThe quokka build is weekly.\n")
    ran = store("recall", "quokka", "--strategy", "keyword")
    told = "nothing to show: 1 note in quarantine, 1 expired were left out (--include-quarantined shows the former)"
    assert (ran.code, ran.out) == (1, "") and told in ran.err and "not in memory" not in ran.err
    explained = store("recall", "quokka", "--strategy", "keyword", "--explain")
    assert "The arms" in explained.out and "Left out: 1 expired, 1 in quarantine" in explained.out


def test_an_analogy_that_was_typed_as_a_question_is_recognised(rich_store: Run) -> None:
    ran = rich_store("recall", "api:python::web:?", *WORDS)
    assert "hint: that looks like an analogy: --analogy 'api:python::web:?'" in ran.err
    assert "analogy" not in rich_store("recall", "std::vector", *WORDS).err


@pytest.mark.parametrize(
    "shape", [["--depth", "0"], ["--stage", "index"], ["--stage", "timeline"], [], ["--depth", "2"]]
)
def test_on_a_terminal_nothing_is_wider(rich_store: Run, monkeypatch: pytest.MonkeyPatch, shape: list[str]) -> None:
    name = "kamal-" + "word-" * 12 + "end"
    rich_store("remember", "A kamal deploy. " + "Long line of words. " * 20, "--id", name, "--title", "kamal " * 30)
    whole = rich_store("recall", "kamal deploy", *WORDS, *shape).out
    assert name in whole
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    ran = rich_store("recall", "kamal deploy", *WORDS, *shape)
    assert ran.code == 0 and max(map(len, ran.out.splitlines())) <= 80
    if shape and shape != ["--depth", "2"]:
        assert "2026-05-02" in ran.out
        (cut,) = {word for line in ran.out.splitlines() for word in line.split() if word.startswith("kamal-word")}
        assert cut.endswith("…") and rich_store("show", cut).code == 0 and rich_store("expand", cut).code == 0


def test_a_terminal_shows_the_rows_that_a_pipe_does(rich_store: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("recall", "deploy", *WORDS, "--stage", "index", "--max-tokens", "40")
    piped = [line.split()[0] for line in rich_store(*options).out.splitlines()[1:]]
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: not isinstance(sys.stdout, io.StringIO))
    monkeypatch.setenv("COLUMNS", "80")
    drawn = [line.split()[0] for line in rich_store(*options).out.splitlines()[2:]]
    assert piped and drawn == piped
