"""The whole hook costs no more, against its floor, than when it was last measured.

Both are taken in turn, so a slow or busy machine slows both; what is compared is a ratio, never a time. The bound
leaves room for what machines differ in: it is there for an import or a process too many on the prompt path.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "bench"))
import measure  # noqa: E402
import stores  # noqa: E402

RECORD = CHECKOUT / "docs" / "measurements" / "performance.json"
ROOM = 1.5
PAIRS, TRIES = 15, 3


@pytest.mark.skipif(not RECORD.exists(), reason="nothing was recorded: tests/bench/run --record")
def test_the_hook_against_its_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "ROOT", tmp_path)
    most = ROOM * json.loads(RECORD.read_text())["sizes"][0]["ratio"]
    settings = stores.small_store(stores.SAMPLES / "notes")
    prompts = stores.prompts(stores.SAMPLES / "prompts.json", PAIRS)
    with measure.in_store(settings) as environ:
        measure.start(environ, prompts)
        ratios: list[float] = []
        for attempt in range(TRIES):
            pairs = [
                measure.hook(prompt, f"guard-{attempt}-{number}", environ).ms / measure.floor()
                for number, prompt in enumerate(prompts)
            ]
            ratios.append(statistics.median(pairs))
            if ratios[-1] <= most:
                return
    pytest.fail(f"the hook takes {min(ratios):.2f} times its floor; at most {most:.2f} was expected")
