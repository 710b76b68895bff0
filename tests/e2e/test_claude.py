"""Claude Code, by Anthropic's Messages interface."""

from __future__ import annotations

import checks
import pytest
from conftest import Desk

CLIENT = "claude"

pytestmark = pytest.mark.parametrize("daemon", checks.DAEMON)


def test_prompt(desk: Desk, daemon: str) -> None:
    checks.check_prompt(desk, daemon)


def test_prompt_that_nothing_answers(desk: Desk, daemon: str) -> None:
    checks.check_silence(desk, daemon)


def test_session_start(desk: Desk, daemon: str) -> None:
    checks.check_session(desk, daemon)


def test_subagent_start(desk: Desk, daemon: str) -> None:
    checks.check_subagent(desk, daemon)
