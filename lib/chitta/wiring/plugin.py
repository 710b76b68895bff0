"""The hooks of the Claude Code plugin in ``plugin/``, from the same table as everything else."""

from __future__ import annotations

import json
from typing import Any

from chitta.wiring import harness

FILE = "plugin/hooks/hooks.json"
#: Finds the checkout's hook from wherever Claude Code has put the plugin, and does nothing where there is none.
RUN = "${CLAUDE_PLUGIN_ROOT}/hooks/run"


def hooks_text() -> str:
    """``hooks.json`` as text: every event of Claude Code, each by way of :data:`RUN`."""
    row = harness.BY_NAME["claude"]
    hooks: dict[str, Any] = {}
    for event in row.events:
        entry = {"type": "command", "command": RUN, "args": [event.script, row.name], "timeout": event.limit_s}
        hooks[event.name] = [{"hooks": [entry]}]
    value = {"description": "Notes from earlier work, handed over with the prompt that needs them", "hooks": hooks}
    return json.dumps(value, indent=2) + "\n"
