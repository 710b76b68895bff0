"""What chitta itself has put before an agent, recognised wherever it comes back, so that it is never captured.

The block (:mod:`chitta.render.block`) returns in prompts, transcripts, summaries and tool outputs: plain, with its
angle brackets escaped for markup or for JSON, behind a harness's words for a hook's output, cut at its end, or quoted
without its frame. What a chitta command prints, and what stands in the store, is chitta's too.
"""

from __future__ import annotations

import re

#: An opening and a closing angle bracket: themselves, for markup, and for JSON, escaped once or more.
_LESS = r"(?:<|&(?:amp;)*lt;|\\{1,8}u003[cC])"
_MORE = r"(?:>|&(?:amp;)*gt;|\\{1,8}u003[eE])"
#: The words with which harnesses hand a hook's output on; only the few characters before a block are looked at.
_HANDED = (
    r"(?:(?:UserPromptSubmit|SessionStart|SubagentStart)(?::[a-z]{1,12})? hook (?:additional context|success):[ ]?"
    rf"|{_LESS}(?:system[-_]reminder|hook_context|hook-context){_MORE}(?:\\n|\s){{0,4}}){{0,3}}"
)
_OPEN = re.compile(rf"{_HANDED}{_LESS}chitta-notes{_MORE}", re.IGNORECASE)
_CLOSE = re.compile(
    rf"{_LESS}(?:\\{{0,8}}/)chitta-notes{_MORE}"
    rf"(?:(?:\\n|\s){{0,4}}{_LESS}\\{{0,8}}/(?:system[-_]reminder|hook_context|hook-context){_MORE})?",
    re.IGNORECASE,
)
#: Lines of a block that stand alone: its first sentence, its items, its summary. `\n` may be two characters.
_LINE_END = r"(?:(?!\\n)[^\n]){0,4000}"
#: What an item begins with: its bullet or number, where it was written down again another one or none, and its lane.
_BULLET = r"[ \t\u00a0>]{0,8}(?:(?:[-*+\u2022\u2023\u25e6\u2013\u2014\u00b7]|\d{1,3}[.)])[ \t\u00a0]{1,4})?"
_TAG = r"[*_`]{0,3}\[[a-z]{2,8}\][*_`]{0,3}"
_LINES = re.compile(
    rf"Notes from earlier work (?:that may bear on this prompt\.|in [^\n]{{1,80}}?\. They are reference){_LINE_END}"
    rf"|(?:(?<=\n)|(?<=\\n)|^){_BULLET}{_TAG}[ \u00a0]{_LINE_END}"
    rf"\((?:[a-z-]{{3,20}}), (?:\d{{4}}-\d\d-\d\d|no date)[^\n()]{{0,300}}\){_LINE_END}"
    rf"|\[admit\][ ]{_LINE_END}",
    re.MULTILINE,
)
#: Times that a text is looked through; what still holds a block after these was made to, and nothing of it is kept.
_PASSES = 8
_SIGN = re.compile(r"chitta-notes|Notes from earlier work|\[admit\]" rf"|^{_BULLET}{_TAG}[ \u00a0]", re.MULTILINE)

#: A command that runs chitta or reads its store; only a word that is the program, or a path below the store.
_COMMAND = re.compile(
    r"(?:^|[;&|(`\n]|\s-l?c\s[\"'])\s{0,8}(?:\w{1,80}=\S{0,200}\s{1,4}){0,3}"
    r"(?:(?:sudo|time|env|exec|command|uv run|timeout \d{1,5})\s{1,4}){0,2}"
    r"(?:[^\s;&|\"'`]{0,200}/)?chitta(?:d|-[a-z]{2,12})?(?=$|[\s;&|)\"'`])"
    r"|(?:^|[\s\"'=/~])\.chitta/|CHITTA_HOME\b"
)
_PATH = re.compile(r"(?:^|/)\.chitta/")


def cut(text: str) -> str:
    """The text without any form of chitta's block; one that is not closed goes to the text's end."""
    for _ in range(_PASSES):
        left = _cut_once(text)
        if left == text:
            return text
        text = left  # what closed up may spell a block again
    return ""


def _cut_once(text: str) -> str:
    if not _SIGN.search(text):
        return text
    parts: list[str] = []
    at = 0
    while (opened := _OPEN.search(text, at)) is not None:
        parts.append(text[at : opened.start()])
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            at = len(text)
            break
        at = closed.end()
    parts.append(text[at:])
    return _LINES.sub("", "".join(parts))


def holds(text: str) -> bool:
    """Whether any form of the block is in the text."""
    return cut(text) != text


def is_own_command(command: str) -> bool:
    """Whether what a shell command gives is chitta's own: its program is chitta, or it reads the store."""
    return _COMMAND.search(command) is not None


def is_own_path(path: str, notes_dir: str = "") -> bool:
    """Whether a file lies in a store: in any ``.chitta``, or below ``notes_dir``."""
    return _PATH.search(path) is not None or bool(notes_dir and path.startswith(notes_dir.rstrip("/") + "/"))
