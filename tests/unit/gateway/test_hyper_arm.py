"""Bundles of words in their roles, over a real index."""

from __future__ import annotations

import pytest

from chitta.gateway import hyper_arm
from chitta.gateway.hyper_arm import resembling
from chitta.gateway.readings import Readings
from chitta.notes.note import Note

from .conftest import Opened

NOTES = (
    Note("titled", title="Webhook signature", text="Needs the raw body."),
    Note("apart", title="Colours", text="Blue is calm."),
    Note("far", title="Webhook signature", text="Elsewhere.", realm="project:h/o/n"),
)


def test_the_most_similar_of_a_realm_made_once(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = opened(*NOTES).snapshot
    assert snapshot is not None
    readings = Readings(snapshot)
    found = resembling(readings, "webhook signature", "global", 10)
    assert found[0][0] == "titled" and "far" not in dict(found)
    assert {"titled", "far"} <= {name for name, _ in resembling(readings, "webhook signature", None, 10)}
    monkeypatch.setattr(hyper_arm, "_index_of", lambda notes: pytest.fail("it was made before"))
    assert resembling(readings, "webhook signature", "global", 10) == found
    assert len(resembling(readings, "webhook signature", None, 1)) == 1
