from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def three(chitta: Run) -> None:
    for name, text in (("one", "Alpha beats beta."), ("two", "Gamma comes later."), ("three", "Delta ends it.")):
        chitta("remember", text, "--id", name, "--tags", name)


def show(chitta: Run, name: str) -> Any:
    return chitta("show", name, "--json").value


@pytest.mark.usefixtures("three")
def test_one_note_of_three(chitta: Run) -> None:
    ran = chitta("merge", "one", "two", "three")
    assert ran.code == 0 and ran.out.startswith("merged one") and "two, three" in ran.out
    note = show(chitta, "one")
    assert note["text"] == "Alpha beats beta.\n\nGamma comes later.\n\nDelta ends it."
    assert (note["tags"], note["supersedes"], note["proof_count"]) == (["one", "two", "three"], ["two", "three"], 3)
    assert show(chitta, "two")["superseded_by"] == "one"
    rows = chitta("recall", "gamma", "--strategy", "keyword", "--json").value["rows"]
    assert [row["id"] for row in rows] == ["one"]


@pytest.mark.usefixtures("three")
def test_a_dry_run_shows_and_writes_nothing(chitta: Run) -> None:
    ran = chitta("merge", "one", "two", "--dry-run")
    assert ran.code == 0 and "Gamma comes later." in ran.out and "nothing was written" in ran.err
    assert show(chitta, "one")["text"] == "Alpha beats beta." and not show(chitta, "two")["superseded_by"]


@pytest.mark.usefixtures("three")
def test_the_last_may_replace_the_others(chitta: Run) -> None:
    facts = chitta("merge", "one", "two", "three", "--replace", "--json").value
    assert (facts["id"], facts["superseded"]) == ("three", ["one", "two"])
    assert show(chitta, "three")["text"] == "Delta ends it." and show(chitta, "three")["supersedes"] == ["one", "two"]
    assert show(chitta, "one")["superseded_by"] == "three"


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize("names", [["one"], ["one", "one"]])
def test_one_note_is_no_merge(chitta: Run, names: list[str]) -> None:
    ran = chitta("merge", *names)
    assert ran.code == 2 and "two notes or more" in ran.err
    assert chitta("merge", "one", "nobody").code == 1


@pytest.mark.usefixtures("three")
def test_what_was_merged_may_become_the_winner_and_is_not_counted_twice(chitta: Run) -> None:
    chitta("merge", "one", "two")
    assert show(chitta, "one")["proof_count"] == 2
    assert chitta("merge", "one", "two").code == 0 and show(chitta, "one")["proof_count"] == 2
    assert chitta("merge", "two", "one").code == 0
    winner, other = show(chitta, "two"), show(chitta, "one")
    assert (winner["superseded_by"], winner["valid_until"], winner["supersedes"]) == ("", "", ["one"])
    assert (other["superseded_by"], other["supersedes"], winner["proof_count"]) == ("two", [], 2)
    rows = chitta("recall", "gamma", "--strategy", "keyword", "--json").value["rows"]
    assert [row["id"] for row in rows] == ["two"]
    assert chitta("merge", "two", "one", "--replace").code == 0
    assert (show(chitta, "one")["superseded_by"], show(chitta, "two")["superseded_by"]) == ("", "one")


@pytest.mark.usefixtures("three")
def test_a_replaced_note_is_not_merged_without_what_has_its_place(chitta: Run) -> None:
    chitta("merge", "one", "two")
    before = show(chitta, "two")
    ran = chitta("merge", "three", "two")
    assert ran.code == 2 and "two was replaced by one" in ran.err and "chitta merge one three" in ran.err
    assert show(chitta, "two") == before and not show(chitta, "three")["supersedes"]
