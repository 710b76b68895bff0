"""What is asserted of every client: where the memory's text stands in what reached the model."""

from __future__ import annotations

import pytest
from clients import HOOKS, ROOT, TASK
from conftest import OTHER_PROMPT, PROJECT_MARK, PROMPT, PROMPT_MARK, Desk, Run
from stand_in import TEXT, Request

#: The daemon's state when the client starts.
DAEMON = ("cold", "warm")
#: In the first line of everything that chitta adds, however a client escapes it.
BLOCK = "chitta-notes"


def check_prompt(desk: Desk, daemon: str) -> None:
    """The note that the prompt asks for is in the request that carries the prompt, and the project's is not."""
    _set_up(desk, "prompt", daemon)
    run = answered(desk, desk.run(PROMPT))
    asked = carrying(run, PROMPT)
    assert asked.holds(PROMPT_MARK), why(desk, run)
    assert not asked.holds(PROJECT_MARK)
    assert desk.store.daemon()  # a cold one has been started on the way


def check_silence(desk: Desk, daemon: str) -> None:
    """A prompt that no note answers reaches the model as the person wrote it."""
    _set_up(desk, "prompt", daemon)
    run = answered(desk, desk.run(OTHER_PROMPT))
    asked = carrying(run, OTHER_PROMPT)
    assert not asked.holds(BLOCK), why(desk, run)


def check_session(desk: Desk, daemon: str) -> None:
    """The project's note is in the first request, though the prompt has nothing to do with it."""
    _set_up(desk, "session", daemon)
    run = answered(desk, desk.run(OTHER_PROMPT))
    assert carrying(run, OTHER_PROMPT).holds(PROJECT_MARK), why(desk, run)


def check_subagent(desk: Desk, daemon: str) -> None:
    """The project's note is in the subagent's request, and not in that of the agent which started it."""
    _set_up(desk, "subagent", daemon)
    run = answered(desk, desk.run(OTHER_PROMPT, desk.client.subagent))
    assert of_subagent(desk, run, OTHER_PROMPT).holds(PROJECT_MARK), why(desk, run)
    assert not carrying(run, OTHER_PROMPT).holds(PROJECT_MARK)


def check_installed(desk: Desk, daemon: str) -> None:
    """All hooks as `chitta hooks install` writes them; after `uninstall` the settings are the person's own again."""
    settings = _settings(desk)
    desk.store.chitta("hooks", "install", desk.client.name, "--scope", "user")
    assert _settings(desk) != settings
    make_daemon(desk, daemon)
    run = answered(desk, desk.run(PROMPT))
    own = carrying(run, PROMPT)
    assert own.holds(PROMPT_MARK) and own.holds(PROJECT_MARK), why(desk, run)
    assert len(run.asked) == 1, "a hook at the turn's end has made the client go on\n" + why(desk, run)
    assert f'"harness":"{desk.client.name}"' in (desk.store.home / "state" / "queue.jsonl").read_text(encoding="utf-8")
    if desk.client.subagent:
        run = answered(desk, desk.run(OTHER_PROMPT, desk.client.subagent))
        assert of_subagent(desk, run, OTHER_PROMPT).holds(PROJECT_MARK), why(desk, run)

    desk.store.chitta("hooks", "uninstall", desk.client.name, "--scope", "user")
    assert _settings(desk).items() >= settings.items()
    run = answered(desk, desk.run(PROMPT))
    assert not carrying(run, PROMPT).holds(BLOCK), why(desk, run)


def _settings(desk: Desk) -> dict[str, bytes]:
    """The client's JSON and TOML settings: the bytes of each file, by its path below the home."""
    found: dict[str, bytes] = {}
    for pattern in ("*.toml", "*.json", "hooks/*.json"):
        for path in sorted((desk.home / f".{desk.client.name}").glob(pattern)):
            found[str(path.relative_to(desk.home))] = path.read_bytes()
    return found


def _set_up(desk: Desk, kind: str, daemon: str) -> None:
    if not (ROOT / "hooks" / HOOKS[kind][0]).exists():
        pytest.skip(f"this checkout has no hooks/{HOOKS[kind][0]}")
    desk.client.wire(desk.home, [kind])
    make_daemon(desk, daemon)


def make_daemon(desk: Desk, daemon: str) -> None:
    if daemon == "warm":
        desk.store.warm()
    assert desk.store.daemon() == (daemon == "warm")


def answered(desk: Desk, run: Run) -> Run:
    """The turn went through: the model's text came out, and nobody but the stand-in was asked."""
    assert run.code == 0 and TEXT in run.out and run.asked, why(desk, run)
    assert {request.host for request in desk.stand_in.requests} == {desk.stand_in.host}
    return run


def carrying(run: Run, text: str) -> Request:
    return next(request for request in run.asked if request.holds(text))


def of_subagent(desk: Desk, run: Run, prompt: str) -> Request:
    """The first request of the subagent that the agent with this prompt has started."""
    found = [request for request in run.asked if request.holds(TASK) and not request.holds(prompt)]
    assert found, "no subagent has asked the model\n" + why(desk, run)
    return found[0]


def why(desk: Desk, run: Run) -> str:
    return f"{run.told()}\n{desk.store.log()}"
