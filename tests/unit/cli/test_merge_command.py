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
