"""Write the templates in ``hooks/wiring/`` and the plugin's hooks anew: ``python -m chitta.wiring CHECKOUT``."""

from __future__ import annotations

import sys
from pathlib import Path

from chitta.wiring import harness, plugin


def main(root: Path) -> None:
    """Write every generated file below ``root``."""
    for name, row in harness.TEMPLATES.items():
        (root / "hooks" / "wiring" / f"{name}.json").write_text(harness.template(row), encoding="utf-8")
    (root / plugin.FILE).write_text(plugin.hooks_text(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
