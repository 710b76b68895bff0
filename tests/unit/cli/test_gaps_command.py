from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import gaps

Run = Callable[..., Any]


@pytest.fixture
def log(own_home: Path) -> Path:
    state = own_home / ".chitta" / "state"
    state.mkdir(parents=True)
    lines = [
        ("global", ["billing", "export", "snowflake"], "one"),
        ("global", ["billing", "export", "schedule", "snowflake"], "two"),
        ("project:h/o/n", ["kafka", "retention"], "two"),
    ]
    path = state / gaps.NAME
    path.write_text(
        "".join(
            json.dumps({"ts": f"2026-11-0{day}T10:00:00Z", "realm": realm, "terms": terms, "session": session}) + "\n"
            for day, (realm, terms, session) in enumerate(lines, 1)
        )
    )
    return path


def test_what_two_sessions_asked_is_listed(chitta: Run, log: Path) -> None:
    ran = chitta("gaps")
    assert ran.code == 0
    assert ran.out.splitlines()[1].split() == ["billing", "export", "snowflake", "2", "2", "2026-11-02", "global"]
    assert "kafka" not in ran.out and "kafka" in chitta("gaps", "--all").out


def test_by_word_and_realm(chitta: Run, log: Path) -> None:
    assert [gap["terms"] for gap in chitta("gaps", "Kafka", "--all", "--json").value] == [["kafka", "retention"]]
    assert len(chitta("gaps", "--all", "--realm", "global", "--json").value) == 1
    assert chitta("gaps", "mongo").code == 1


def test_the_json_has_every_field(chitta: Run, log: Path) -> None:
    (gap,) = chitta("gaps", "--json").value
    assert set(gap) == set(gaps.Gap._fields) and gap["times"] == 2 and gap["sessions"] == 2


def test_more_than_the_limit_is_told(chitta: Run, log: Path) -> None:
    ran = chitta("gaps", "--all", "--limit", "1")
    assert "1 more" in ran.err and len(ran.out.splitlines()) == 2


def test_forgetting_by_word_and_all(chitta: Run, log: Path) -> None:
    assert "forgot 1 prompt" in chitta("gaps", "kafka", "--forget").out
    assert len(log.read_text().splitlines()) == 2
    assert "forgot 0 prompts" in chitta("gaps", "mongo", "--forget").out
    assert "forgot 2 prompts" in chitta("gaps", "--forget").out and not log.exists()
    assert chitta("gaps", "--forget", "--json").code == 2


def test_nothing_to_list(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = chitta("gaps")
    assert ran.code == 1 and "no prompt has shown a gap yet" in ran.err
    assert chitta("gaps", "--json").value == []
    monkeypatch.setenv("CHITTA_GAP_LOG", "0")
    assert "CHITTA_GAP_LOG=0" in chitta("gaps").err
