"""A realm that was typed: which one may have been meant, and that what was asked for is done all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.cli import realm_near

Run = Callable[..., Any]

WEB = "project:github.com/harborlabs/lighthouse-web"
LOCAL = "project:tidewater-d0c6a98a"
KNOWN = [WEB, LOCAL, "global", "project:github.com/harborlabs/billing"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("lighthouse-web", WEB),
        ("Lighthouse-Web", WEB),
        ("lighthose-web", WEB),
        ("lighthouse-wbe", WEB),
        ("harborlabs/lighthouse-web", WEB),
        ("github.com/harborlabs/lighthouse-web", WEB),
        ("project:lighthouse-web", WEB),
        ("Project: lighthouse-web", WEB),
        ("project:github.com/harborlab/lighthouse-web", WEB),
        ("project:GitHub.com/HarborLabs/lighthouse-web.git", WEB),
        ("tidewater", LOCAL),
        ("project:tidewater", LOCAL),
        ("Global", "global"),
        ("globl", "global"),
        ("project:github.com/harborlabs/lighthouse-api", ""),
        ("web", ""),
        ("somewhere", ""),
        (WEB, ""),
        ("/", ""),
    ],
)
def test_what_was_meant(given: str, meant: str) -> None:
    assert realm_near.near(given, KNOWN) == meant
    assert realm_near.near(given, []) == ""


@pytest.mark.parametrize(
    "words", [("remember", "Ship on Fridays only."), ("correct", "--wrong", "npm install", "--right", "pnpm add")]
)
def test_a_note_goes_where_it_was_sent_and_the_likely_realm_is_named(chitta: Run, words: tuple[str, ...]) -> None:
    assert chitta("remember", "The lamp is red.", "--realm", WEB).err == "", "nothing is like it"
    ran = chitta(*words, "--realm", "lighthouse-web")
    assert ran.code == 0 and f"did you mean {WEB}?" in ran.err
    assert len(chitta("list", "--realm", "lighthouse-web", "--json").value) == 1
    assert f"did you mean {WEB}?" in chitta("remember", "Once more.", "--realm", "lighthouse-web").err, (
        "still no project"
    )
    assert "did you mean" not in chitta("remember", "The lamp is green.", "--realm", WEB).err


def test_a_form_that_no_folder_has_is_said_once(chitta: Run) -> None:
    assert "neither global nor a project's" in chitta("remember", "One thing.", "--realm", "Project: foo").err
    assert "neither" not in chitta("remember", "Another thing.", "--realm", "Project: foo").err
    for realm in ("global", "project:example.org/a/new"):
        assert "realm" not in chitta("remember", f"Of {realm} alone.", "--realm", realm).err


def test_an_import_and_an_empty_list_name_it_too(chitta: Run, folder: Path) -> None:
    chitta("remember", "The lamp is red.", "--realm", WEB)
    (folder / "a.md").write_text("We deploy with make ship.\n")
    ran = chitta("list", "--realm", "lighthouse-web")
    assert ran.code == 1 and f"hint: did you mean {WEB}?" in ran.err
    assert "did you mean" in chitta("import", "a.md", "--realm", "lighthouse-web").err
    assert "other realms" in chitta("list", "--realm", "project:nothing.like/it").err
