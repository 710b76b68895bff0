"""The parts of a session that are worth an agent's reading: the lines around signals. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Lines kept on each side of a signal, and characters of a slice (reflect: 3 and 60,000).
AROUND = 3
MOST_CHARS = 60_000
#: Characters of one line: more is data, not talk.
MOST_LINE_CHARS = 600
GAP = "…"

#: Who speaks in a line.
PERSON, AGENT, COMMAND, OUTPUT = "person", "agent", "command", "output"

#: Markup by which clients put text of their own into a conversation.
WRAPPERS = (
    "system-reminder",
    "command-name",
    "command-message",
    "command-args",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "teammate-message",
    "user-prompt-submit-hook",
    "user_instructions",
    "environment_context",
    "permissions instructions",
    "turn_aborted",
    "ide_opened_file",
    "ide_selection",
)
_WRAPPER = re.compile(rf"<(/?)({'|'.join(map(re.escape, WRAPPERS))})(?:\s[^<>]*)?>", re.IGNORECASE)

_OF_PERSON = re.compile(
    r"\b(?:no|nope|not|don'?t|never|always|instead|rather|prefer|wrong|actually|should(?:n'?t)?|must|stop|remember"
    r"|from now on|in future|next time|again|use|revert|undo|broke|fails?)\b",
    re.IGNORECASE,
)
_OF_AGENT = re.compile(
    r"\b(?:root cause|turn(?:s|ed) out|the (?:fix|problem|issue|cause|reason)|fixed|because|the real|mistake|my bad"
    r"|you'?re right|learned|lesson|workaround|works now|passes now|pass now|was missing|needs? to be|instead of)\b",
    re.IGNORECASE,
)
_OF_OUTPUT = re.compile(
    r"\berror\b|exception|traceback|\bfail(?:ed|ure|s)?\b|\bfatal\b|panic|denied|not found|no such|cannot|undefined"
    r"|exit(?:ed)? (?:code|with|status)|\bpassed\b|\bBUILD SUCCESS",
    re.IGNORECASE,
)
_SIGNALS = {PERSON: _OF_PERSON, AGENT: _OF_AGENT, OUTPUT: _OF_OUTPUT}


def without_wrappers(text: str) -> str:
    """The text without the markup of clients and what stands in it; one that is not closed goes to the end.

    A wrapper in a wrapper of its own name ends at the outer one's end. A close without an open is taken out alone.
    """
    kept: list[str] = []
    at, name, depth = 0, "", 0
    for mark in _WRAPPER.finditer(text):
        closes, found = bool(mark[1]), mark[2].lower()
        if depth and found != name:
            continue
        if not depth:
            kept.append(text[at : mark.start()])
            name = found
        depth = max(depth + (-1 if closes else 1), 0)
        at = mark.end()
    if not depth:
        kept.append(text[at:])
    return "".join(kept)


def lines_of(who: str, text: str) -> list[str]:
    """What one speaker says as lines that say who; empty ones are left out, long ones are cut."""
    flat = (" ".join(line.split()) for line in text.splitlines())
    return [f"{who}: {line[:MOST_LINE_CHARS]}" for line in flat if line]


def is_signal(line: str) -> bool:
    """Whether a line of :func:`lines_of` shows that something was learned around it."""
    who, _, said = line.partition(": ")
    pattern = _SIGNALS.get(who)
    return pattern is not None and pattern.search(said) is not None


def cut(lines: Sequence[str], most: int = MOST_CHARS) -> str:
    """The lines around signals, in their order; "" where there is no signal.

    What is too much is left out from the beginning: what a session comes to stands at its end.
    """
    near: set[int] = set()
    for at, line in enumerate(lines):
        if is_signal(line):
            near.update(range(max(at - AROUND, 0), min(at + AROUND + 1, len(lines))))
    chosen: list[str] = []
    room, after = most, -1
    for at in sorted(near, reverse=True):
        pieces = [lines[at]] if after in (-1, at + 1) else [GAP, lines[at]]
        room -= sum(len(piece) + 1 for piece in pieces)
        if room < 0:
            break
        chosen += pieces
        after = at
    return "\n".join(reversed(chosen))


def joined(parts: Iterable[tuple[str, str]], most: int = MOST_CHARS) -> str:
    """The slice of a whole conversation of ``(who, text)``; each text is freed of wrappers first."""
    return cut([line for who, text in parts for line in lines_of(who, without_wrappers(text))], most)
