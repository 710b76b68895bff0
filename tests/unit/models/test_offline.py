"""No library asks a hub, unless the person's own environment says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chitta.models.offline import VARIABLES, stay_offline


def test_what_is_unset_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, _ in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    stay_offline()
    assert {name: os.environ[name] for name, _ in VARIABLES} == dict(VARIABLES)


def test_what_a_person_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    stay_offline()
    assert os.environ["HF_HUB_OFFLINE"] == "0"


NO_NETWORK = """
import socket
def refuse(*_, **__):
    raise AssertionError("a model asked the network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from chitta.models.registry import load_embedder, load_reranker
from chitta.settings import load
load_embedder(load()).embed_query("redis")
assert load_reranker(load()).score("redis", ["a cache"])
"""


@pytest.mark.usefixtures("shipped_folders")
def test_fault_40_loading_and_using_the_shipped_models_asks_no_network() -> None:
    subprocess.run([sys.executable, "-c", NO_NETWORK], check=True)
