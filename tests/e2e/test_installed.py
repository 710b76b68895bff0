"""The whole product in each client: hooks installed, one prompt that starts a subagent, hooks uninstalled."""

from __future__ import annotations

import checks
import pytest
from clients import CLIENTS
from conftest import Desk


@pytest.mark.parametrize("daemon", checks.DAEMON)
@pytest.mark.parametrize("client", sorted(CLIENTS), indirect=True)
def test_install_run_uninstall(desk: Desk, daemon: str) -> None:
    checks.check_installed(desk, daemon)
