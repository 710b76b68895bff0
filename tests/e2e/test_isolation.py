"""Nothing of these tests leaves the machine: the stand-in is the only host that a client is told of."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest
from clients import CLIENTS, KEY
from conftest import Desk

_HOST = re.compile(r"\b(?:https?|wss?)://([^/\"'\s]+)")
#: A secret's name; what the tests give for it is no key.
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")


@pytest.mark.parametrize("client", sorted(CLIENTS), indirect=True)
def test_the_stand_in_is_the_only_host_configured(desk: Desk) -> None:
    desk.client.wire(desk.home, desk.client.events)
    files = [path for path in desk.home.rglob("*") if path.is_file() and _is_settings(path, desk)]
    told = [path.read_text(encoding="utf-8") for path in files] + list(desk.environ.values())
    assert {host for text in told for host in _HOST.findall(text)} == {desk.stand_in.host}


@pytest.mark.parametrize("client", sorted(CLIENTS), indirect=True)
def test_no_real_key_is_given(desk: Desk) -> None:
    assert {value for name, value in desk.environ.items() if _SECRET.search(name)} == {KEY}


def test_the_network_ends_at_this_machine() -> None:
    if os.environ.get("E2E_ALONE") != "1":
        pytest.skip("this system lets us make no network of our own (`unshare --net`)")
    assert {name for _, name in socket.if_nameindex()} == {"lo"}
    with pytest.raises(OSError), socket.create_connection(("192.0.2.1", 443), timeout=5):  # TEST-NET-1, RFC 5737
        pass


def _is_settings(path: Path, desk: Desk) -> bool:
    return desk.store.home not in path.parents and desk.project not in path.parents
