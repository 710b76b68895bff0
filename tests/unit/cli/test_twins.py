"""Remembering what another note says already: it is named, asked about, merged, replaced, or kept beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.notes.frontmatter import parse_note
from chitta.notes.note import Note

Run = Callable[..., Any]

SAID = "Run database migrations with alembic upgrade head, then restart every worker, queue and web service by systemd"


def note_at(path: str) -> Note:
    return parse_note(Path(path).read_text(), fallback_id="-", fallback_realm="-")


def show(chitta: Run, name: str) -> Any:
    return chitta("show", name, "--json").value


@pytest.fixture
def twin(chitta: Run) -> str:
    return str(chitta("remember", SAID, "--id", "twin", "--tags", "old", "--json").value["id"])


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: stream is not None)


def test_without_a_terminal_both_are_kept_and_it_is_said_what_can_be_done(chitta: Run, twin: str) -> None:
    ran = chitta("remember", f"{SAID} today", "--id", "new")
    assert ran.code == 0 and ran.out.startswith("added new")
    assert "twin" in ran.err and "nearly the same (93% alike)" in ran.err
    assert "`chitta merge twin new`" in ran.err and "`chitta merge twin new --replace`" in ran.err


def test_json_reports_what_is_similar(chitta: Run, twin: str) -> None:
    facts = chitta("remember", SAID, "--title", "Another", "--json").value
    assert facts["outcome"] == "added"
    assert facts["similar"] == [{"id": "twin", "title": show(chitta, "twin")["title"], "realm": "global", "how": "same",
                                 "likeness": 1.0}]  # fmt: skip
    assert chitta("remember", "Something else altogether", "--json").value["similar"] == []


def test_another_realm_s_note_is_no_twin_and_global_is(chitta: Run, twin: str) -> None:
    here = chitta("remember", f"{SAID} here", "--realm", "project:x.org/a", "--json").value
    assert [one["id"] for one in here["similar"]] == ["twin"]
    there = chitta("remember", f"{SAID} there", "--realm", "project:x.org/b", "--json").value
    assert here["id"] not in [one["id"] for one in there["similar"]]


def test_a_contrary_note_is_named_and_not_to_be_merged(chitta: Run) -> None:
    chitta("remember", "Never squash release commits", "--id", "never")
    ran = chitta("remember", "Always squash release commits", "--id", "always")
    assert "never says the contrary:\n    Never squash release commits" in ran.err
    assert "`chitta merge never always`" not in ran.err and "`chitta merge never always --replace`" in ran.err


@pytest.mark.usefixtures("person")
def test_a_person_may_keep_both(chitta: Run, twin: str) -> None:
    ran = chitta("remember", f"{SAID} today", "--id", "new", input="x\nk\n")
    assert ran.code == 0 and "added new" in ran.out and "[m]erge into it" in ran.err and "hint:" not in ran.err
    assert not show(chitta, "twin")["superseded_by"]


@pytest.mark.usefixtures("person")
def test_a_person_may_merge(chitta: Run, twin: str) -> None:
    ran = chitta("remember", f"{SAID} today", "--tags", "new", input="m\n")
    assert ran.code == 0 and "updated twin" in ran.out
    note = show(chitta, "twin")
    assert note["text"] == f"{SAID} today" and note["tags"] == ["old", "new"] and note["supersedes"] == []
    assert len(chitta("list", "--json").value) == 1


@pytest.mark.usefixtures("person")
def test_a_person_may_supersede(chitta: Run, twin: str) -> None:
    assert chitta("remember", f"{SAID} today", "--id", "new", input="s\n").code == 0
    assert show(chitta, "twin")["superseded_by"] == "new" and show(chitta, "new")["supersedes"] == ["twin"]


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(("given", "code"), [("c\n", 1), ("", 130)])
def test_a_person_may_leave_it(chitta: Run, twin: str, given: str, code: int) -> None:
    assert chitta("remember", f"{SAID} today", "--id", "new", input=given).code == code
    assert chitta("show", "new").code == 1


def test_of_several_twins_all_are_named_and_one_is_chosen(
    chitta: Run, twin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "run-database-migrations-with-alembic-upgrade-head-then-a"
    chitta("remember", f"{SAID} again", "--id", long)
    ran = chitta("remember", f"{SAID} now", "--id", "third")
    assert "twin says nearly" in ran.err and long[:20] in ran.err and "--replace" in ran.err
    assert all(len(line) <= 80 for line in ran.err.splitlines())
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: stream is not None)
    ran = chitta("remember", f"{SAID} at once", "--id", "new", input="s\n9\n2\n")
    assert ran.code == 0 and "1: " in ran.err and "3: " in ran.err and ran.err.count("What about") == 1
    gone = [name for name in ("twin", long, "third") if show(chitta, name)["superseded_by"] == "new"]
    assert len(gone) == 1 and show(chitta, "new")["supersedes"] == gone


def test_supersedes_replaces_by_id_and_the_past_is_still_told(chitta: Run) -> None:
    path = chitta("remember", "Deploys run from the laptop.", "--id", "deploys-old", "--json").value["path"]
    Path(path).write_text(Path(path).read_text().replace("created:", "created: '2025-01-01'\nonce:"))
    ran = chitta("remember", "Deploys run from the pipeline.", "--id", "deploys-new", "--supersedes", "deploys-o")
    assert ran.code == 0 and "deploys-new replaces deploys-old" in ran.err
    old = note_at(path)
    assert old.superseded_by == "deploys-new" and old.valid_until
    asked = ("recall", "deploys run from", "--strategy", "keyword", "--json")
    assert [row["id"] for row in chitta(*asked).value["rows"]] == ["deploys-new"]
    assert [row["id"] for row in chitta(*asked, "--known-as-of", "2025-02-01").value["rows"]] == ["deploys-old"]
    assert [row["id"] for row in chitta(*asked, "--as-of", "2025-02-01").value["rows"]] == ["deploys-old"]


def test_an_id_that_supersedes_itself_keeps_its_older_version(chitta: Run) -> None:
    chitta("remember", "The limit is ten.", "--id", "limit")
    facts = chitta("remember", "The limit is twelve.", "--id", "limit", "--supersedes", "limit", "--json").value
    (older,) = show(chitta, "limit")["supersedes"]
    assert note_at(facts["path"]).text == "The limit is twelve." and show(chitta, older)["text"] == "The limit is ten."


def test_a_long_note_whose_end_was_changed_is_found_and_its_older_version_is_not(chitta: Run) -> None:
    long = "The gasket is blue. " + "Many words stand here as well. " * 80
    chitta("remember", f"{long} It holds ten.", "--id", "gasket")
    chitta("remember", f"{long} It holds twelve.", "--id", "gasket", "--supersedes", "gasket")
    rows = chitta("recall", "gasket blue", "--strategy", "keyword", "--json").value["rows"]
    assert [row["id"] for row in rows] == ["gasket"]


def test_superseding_nobody_writes_nothing(chitta: Run) -> None:
    assert chitta("remember", "words", "--id", "new", "--supersedes", "nobody").code == 1
    assert chitta("show", "new").code == 1


def test_a_correction_like_another_is_named_too(chitta: Run) -> None:
    chitta("remember", "Not: npm install Instead: pnpm install", "--id", "own")
    facts = chitta("correct", "--wrong", "npm install", "--right", "pnpm install", "--json").value
    assert [(one["id"], one["how"]) for one in facts["similar"]] == [("own", "same")]
    again = chitta("correct", "--wrong", "npm install", "--right", "pnpm install", "--json").value
    assert (again["outcome"], again["similar"]) == ("unchanged", [])
