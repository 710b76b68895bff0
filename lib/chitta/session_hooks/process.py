"""One session hook as a process: ``chitta-session start|subagent|flush [HARNESS] <payload``.

Prints one JSON object or nothing, and ends by itself: by SIGALRM's default action when the time is over.
"""

import posix
import sys
import time

from chitta import client, edition
from chitta.turn_client import read_payload

#: Seconds of each part's whole run, as long as no setting says otherwise.
BUDGET_S = {"start": 10.0, "subagent": 5.0, "flush": 0.9}
_SETTINGS = {"start": "CHITTA_SESSION_BUDGET_MS", "subagent": "CHITTA_SUBAGENT_BUDGET_MS"}
#: Share of the budget in which the answer must be there; the rest is for printing it and for logs.
_ANSWER_SHARE = 0.9
#: Seconds that a daemon of other code has for leaving; it takes a tenth of that.
_REPLACE_S = 0.5


def main() -> None:
    """Run as this process; does not return."""
    part, harness = sys.argv[1], "".join(sys.argv[2:3])
    client.alarm(_budget(part))
    code = 0
    if not client.flag("CHITTA_HEADLESS"):
        try:
            client.write_all(1, run(part, harness))
            if part == "start":
                _drain()
        except Exception as problem:
            client.complain(f"session: {type(problem).__name__}: {problem}")
            client.leave_breadcrumb("session", problem)
            code = 1
    posix._exit(code)


def run(part: str, harness: str) -> bytes:
    """The bytes to print."""
    began = time.monotonic()
    payload = read_payload(0)
    if part != "flush":
        _warm()
    if not payload.strip():
        return b""
    client.bring_packages()
    from chitta import breadcrumb
    from chitta.folders import open_to_others
    from chitta.session_hooks import occasion as occasions
    from chitta.settings import load

    settings = load()
    open_folder = open_to_others(settings.home, settings.notes_dir)
    if open_folder:
        breadcrumb.leave(settings.state_dir, "session", f"degraded: {open_folder}")
        return b""
    found = occasions.read(payload, part, harness, _folder())
    if found is None:
        return b""
    if part == "flush":
        from chitta.session_hooks.flush import flush

        flush(found, settings)
        return b""
    budget = settings.integer(_SETTINGS[part]) / 1000
    client.alarm(budget - (time.monotonic() - began))
    from chitta.session_hooks import start

    answer = start.session_start if part == "start" else start.subagent_start
    return answer(found, settings, began + budget * _ANSWER_SHARE)


def _warm() -> None:
    """Start the daemon, so that it has its models by the time of the first prompt; there may be no other use of it.

    One of other code (an upgrade came meanwhile) is replaced. A prompt never looks at that.
    """
    if client.flag("CHITTA_NO_DAEMON"):
        return
    try:
        code, body = client.ask(b"call ping", b"{}", 0.2)
        if code != client.OK or f'"edition":"{edition.here()}"'.encode() not in body:
            from chitta import starter

            starter.replace_daemon(_REPLACE_S)
    except client.Broken:
        pass  # it is there and busy
    except client.Away:
        from chitta import starter

        starter.start_daemon()


def _drain() -> None:
    """Have the queued transcripts read, where that is wanted. The answer is out by now."""
    from chitta.folders import open_to_others
    from chitta.session_hooks import drain_start
    from chitta.settings import load

    settings = load()
    if not open_to_others(settings.home, settings.notes_dir):
        drain_start.start(settings)


def _budget(part: str) -> float:
    """Seconds, as far as the environment tells."""
    return client.number(_SETTINGS.get(part, ""), BUDGET_S.get(part, 1.0) * 1000) / 1000


def _folder() -> str:
    try:
        return client.to_text(posix.getcwdb())
    except OSError:
        return ""
