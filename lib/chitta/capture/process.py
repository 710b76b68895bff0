"""The capture hook as a process: ``chitta-capture [HARNESS] <payload``. Prints nothing, ends by itself within a second.

Most tools that an agent uses teach nothing, so the payload's bytes are looked at first: what is no failure, no list of
things to do, no commit and no prompt that directs, in a session that waits for nothing, ends before anything else is
imported.
"""

import posix
import sys
import time

from chitta import client
from chitta.turn_client import read_payload

#: Seconds of the whole run, and bytes of a payload; of a longer one nothing is read.
BUDGET_S = 0.95
MAX_PAYLOAD_BYTES = 4 * 1024 * 1024
#: Seconds for writing a note: the rules for secrets, and the wait for others that write, longer on a machine that is
#: busy; nobody waits for it.
WRITING_S = 90.0
#: Words of which a prompt that directs has one, as they stand in JSON.
_DIRECTS = (
    b"never",
    b"always",
    b"don't",
    b"dont ",
    b"don\xe2\x80\x99t",
    b"don\\u2019t",
    b"do not",
    b"doesn't",
    b"avoid",
    b"stop",
    b"instead",
    b"rather",
    b"prefer",
    b" over ",
    b" not ",
    b"from now",
    b"from here",
    b"going forward",
    b"moving forward",
    b"future",
    b"remember",
    b"keep in mind",
    b"note",
    b"whenever",
    b"every time",
    b"as a rule",
    b"as a general rule",
)
#: What a result of a tool has that is worth a look: a failure, a list, a commit, an exit code.
_TELLS = (
    b"PostToolUseFailure",
    b"postToolUseFailure",
    b"TodoWrite",
    b"TaskCreate",
    b"TaskUpdate",
    b"update_plan",
    b"update_todo",
    b"with exit code ",
)
_COMMITS = (b"git", b"commit")
_OFF = ("0", "false", "no", "off")


def main() -> None:
    """Run as this process; does not return."""
    client.alarm(BUDGET_S)
    code = 0
    try:
        if not client.flag("CHITTA_HEADLESS") and client.environ("CHITTA_CAPTURE").strip().lower() not in _OFF:
            run(read_payload(0, MAX_PAYLOAD_BYTES + 1), "".join(sys.argv[1:2]))
    except Exception as problem:
        client.complain(f"capture: {type(problem).__name__}: {problem}")
        client.leave_breadcrumb("capture", problem)
        code = 1
    posix._exit(code)


def run(payload: bytes, told: str) -> None:
    """Look at a payload, and have written what it teaches by a process of its own."""
    if not payload.strip() or len(payload) > MAX_PAYLOAD_BYTES:
        return
    if not may_tell(payload, told):
        return
    # A prompt changes nothing that the next call looks at, so that all of it can be done when nobody waits any more.
    alone = _is_prompt(payload.lower())
    if alone and not _left_alone():
        return
    client.bring_packages()
    from chitta import turn
    from chitta.folders import open_to_others
    from chitta.settings import load

    settings = load()
    value = turn.parse_payload(payload)
    if value is None or not settings.flag("CHITTA_CAPTURE") or open_to_others(settings.home, settings.notes_dir):
        return
    from chitta.capture import hook

    now = time.time()
    work = hook.learned(value, told, settings, now=now, cwd=_folder())
    if (work.drafts or work.joined) and (alone or _left_alone()):
        hook.write(work, settings, day=time.strftime("%Y-%m-%d", time.localtime(now)))


def _left_alone() -> bool:
    """Go on as a process that nobody waits for, with a time of its own; False in the one that is waited for."""
    if posix.fork():
        return False
    client.alarm(WRITING_S)
    posix.setsid()
    nowhere = posix.open("/dev/null", posix.O_RDWR)
    for descriptor in (0, 1, 2):
        posix.dup2(nowhere, descriptor)
    return True


def may_tell(payload: bytes, told: str) -> bool:
    """Whether the bytes hold anything that capture looks at, or their session waits for something."""
    low = payload.lower()
    if _is_prompt(low):
        return any(word in low for word in _DIRECTS)
    if any(word in payload for word in _TELLS) or all(word in payload for word in _COMMITS):
        return True
    # Codex says nothing of a command's end in the payload itself: its rollout is looked at for every command.
    if told == "codex" and b"rollout-" in payload:
        return True
    return _waits()


def _is_prompt(low: bytes) -> bool:
    """Whether a payload in small letters is what a person typed."""
    return b"userpromptsubmit" in low or (b'"prompt"' in low and b"tool_name" not in low and b"toolname" not in low)


def _waits() -> bool:
    """Whether any session of this store waits for something: cheaper than to find out which this is."""
    try:
        names = posix.listdir(client.home() + "/state/armed")
    except OSError:
        return False
    return any(name.endswith(".json") for name in names)


def _folder() -> str:
    try:
        return client.to_text(posix.getcwdb())
    except OSError:
        return ""
