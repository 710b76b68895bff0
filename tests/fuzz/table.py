"""Every target by its name."""

from __future__ import annotations

from tests.fuzz.kind import Target
from tests.fuzz.targets import (
    capturing,
    importing,
    logs,
    merging,
    notes,
    rendering,
    safety,
    searching,
    settings_file,
    times,
    turns,
    wire,
    wiring,
)

_ROOMS = (wire, notes, turns, rendering, capturing, importing, merging, wiring, settings_file, searching, logs, times)
TARGETS: dict[str, Target] = {target.name: target for room in (*_ROOMS, safety) for target in room.TARGETS}
