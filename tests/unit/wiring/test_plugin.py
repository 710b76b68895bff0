from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from chitta import __version__
from chitta.wiring import harness, plugin

REPO = Path(__file__).parents[3]
PLUGIN = REPO / "plugin"

#: What the vendors' schemas ask of these files, as far as these use it.
AUTHOR = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}
MANIFEST = {
    "type": "object",
    "required": ["name", "version", "description"],
    "additionalProperties": False,
    "properties": {
        "name": {"pattern": "^[a-z0-9-]+$"},
        "version": {"pattern": r"^\d+\.\d+\.\d+$"},
        "description": {"type": "string"},
        "author": AUTHOR,
        "license": {"type": "string"},
        "keywords": {"type": "array", "items": {"type": "string"}},
    },
}
MARKETPLACE = {
    "type": "object",
    "required": ["name", "owner", "plugins"],
    "properties": {
        "name": {"pattern": "^[a-z0-9-]+$"},
        "owner": AUTHOR,
        "plugins": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["name", "source"]}},
    },
}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_the_manifests_have_the_shape_that_claude_code_asks_for() -> None:
    manifest = read(PLUGIN / ".claude-plugin" / "plugin.json")
    market = read(REPO / ".claude-plugin" / "marketplace.json")
    jsonschema.validate(manifest, MANIFEST)
    jsonschema.validate(market, MARKETPLACE)
    (offer,) = market["plugins"]
    assert offer["name"] == manifest["name"]
    assert (REPO / offer["source"]).resolve() == PLUGIN


def test_its_version_is_that_of_the_product() -> None:
    assert read(PLUGIN / ".claude-plugin" / "plugin.json")["version"] == __version__


@pytest.mark.parametrize("file", ["skills/recall/SKILL.md", "commands/recall.md"])
def test_skill_and_command_are_described_and_name_the_three_steps(file: str) -> None:
    _, head, body = (PLUGIN / file).read_text().split("---\n", 2)
    facts = yaml.safe_load(head)
    assert facts["description"] and facts.get("name", "recall") == "recall"
    steps = [body.index(words) for words in ("recall --stage index", "recall --stage timeline", "chitta expand ")]
    assert steps == sorted(steps)


def test_every_hook_goes_by_way_of_the_program_that_finds_the_checkout() -> None:
    hooks = read(REPO / plugin.FILE)["hooks"]
    assert set(hooks) == {event.name for event in harness.BY_NAME["claude"].events}
    assert os.access(PLUGIN / "hooks" / "run", os.X_OK)
    assert plugin.RUN == "${CLAUDE_PLUGIN_ROOT}/hooks/run"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkout whose prompt hook says its arguments and its input."""
    root = tmp_path / "a checkout"
    shutil.copytree(PLUGIN, root / "plugin")
    (root / "bin").mkdir()
    (root / "hooks").mkdir()
    for name in ("hooks/prompt-core.sh", "bin/chitta"):
        (root / name).write_text('#!/bin/sh\nprintf "%s: " "$*"; cat\n')
        (root / name).chmod(0o755)
    return root


def run(program: Path, script: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **environ}
    return subprocess.run([program, script, "claude"], input=b"{}", capture_output=True, env=environ, check=True)


def test_run_starts_the_hook_of_the_checkout_around_it(place: Path) -> None:
    assert run(place / "plugin" / "hooks" / "run", "prompt-core.sh").stdout == b"claude: {}"


def test_run_in_a_copy_finds_the_checkout_by_the_chitta_on_path_or_in_the_home(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "cache" / "chitta" / "0.1.0"
    shutil.copytree(PLUGIN, copy)
    local = tmp_path / "home" / ".local" / "bin"
    local.mkdir(parents=True)
    (local / "chitta").symlink_to(place / "bin" / "chitta")
    program = copy / "hooks" / "run"
    assert run(program, "prompt-core.sh", PATH=f"{local}:/usr/bin:/bin").stdout == b"claude: {}"
    assert run(program, "prompt-core.sh", HOME=str(tmp_path / "home")).stdout == b"claude: {}"


@pytest.mark.parametrize("script", ["prompt-core.sh", "none.sh", "../x", ""])
def test_run_is_silent_where_there_is_nothing_to_start(script: str, tmp_path: Path) -> None:
    copy = tmp_path / "cache" / "0.1.0"
    shutil.copytree(PLUGIN, copy)
    done = run(copy / "hooks" / "run", script)
    assert (done.stdout, done.stderr) == (b"", b"")
