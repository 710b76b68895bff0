"""Text of a memory made harmless to show: whoever wrote it, it stays text of that memory.

A memory may have been written by a stranger (a web page, a tool's output), so what it holds must
not close the block, pose as another item or as the summary, hide words from the person, or steer
a terminal.
"""

from __future__ import annotations

import re

from chitta.notes.note import without_surrogates

#: Longest run without white space that is kept (scripts that use none apart); of a longer one the beginning stays.
MAX_TOKEN_CHARS = 200
_KEPT_TOKEN_CHARS = 160

_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Terminal sequences: CSI, then strings (OSC, DCS, SOS, PM, APC) to their end or the line's, then short ones.
_TERMINAL = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
# What nobody sees: controls but tab and newline; soft hyphen; joiners and marks of direction; fillers
# of Hangul and Mongolian; invisible operators; deprecated and annotation marks; byte-order mark;
# variation selectors but that of an emoji; marks of format of Arabic, shorthand and music; private tags of
# plane 14; what is no character.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\u0600-\u0605\u06dd\u070f\u08e2\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\x7f])\ufe0f+"
)
# "<" before what opens or closes a tag (letters of any script: some are look-alikes), its full-width and small forms,
# and brackets that look like it where they frame a word of a harness.
_MARKUP = re.compile(
    r"<(?=[A-Za-z!?|]|\s*/|[^\x00-\x7f])|[\uff1c\ufe64](?=\s*[/\uff0f]?\s*[A-Za-z!?|\uff21-\uff5a])"
    r"|[<\u2039\u276e\u27e8\u2329\u3008](?=\s*[/\uff0f]?\s*"
    r"(?:system|assistant|user|human|function|invoke|tool|hook|antml|instruction|chitta))",
    re.IGNORECASE,
)
# Marks of turns in templates of models, and lines that pose as a speaker's.
_TURN = re.compile(r"(?<!\\)\[(?=/?(?:INST|SYS|SYSTEM|ASSISTANT|AVAILABLE_TOOLS|TOOL_CALLS)\])")
_SPEAKER = re.compile(r"^([^\S\n]*(?:Human|Assistant|System))(?=[^\S\n]*:)", re.MULTILINE)
_FENCE = re.compile(r"^[^\S\n]*(?=```|~~~)", re.MULTILINE)
# The two ways in which a line of the block begins that a line of a memory must not.
_ITEM = re.compile(r"^([^\S\n]*-\s*)\[", re.MULTILINE)
_SUMMARY = re.compile(r"^([^\S\n]*)\[(?=\s*admit)", re.IGNORECASE | re.MULTILINE)
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
_LONG = re.compile(rf"[^\s{_SPACELESS}]{{{MAX_TOKEN_CHARS + 1},}}")


def neutral(text: str) -> str:
    """``text`` with nothing in it that is unseen, opens or closes markup, or poses as the block's own line."""
    text = _NEWLINES.sub("\n", without_surrogates(text))
    text = _UNSEEN.sub("", _TERMINAL.sub("", text))
    text = _LONG.sub(lambda run: run[0][:_KEPT_TOKEN_CHARS].rstrip("<") + "…", _MARKUP.sub("&lt;", text))
    text = _SUMMARY.sub(r"\1\\[", _ITEM.sub(r"\1\\[", text))
    if "[" in text:
        text = _TURN.sub(r"\\[", text)
    return _without_open_fence(_SPEAKER.sub(r"\1\\", text))


def _without_open_fence(text: str) -> str:
    """The last of an odd number of fences made text, so that a memory cannot swallow what follows it."""
    if "```" not in text and "~~~" not in text:
        return text
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2 == 0:
        return text
    at = fences[-1].end()
    return text[:at] + "\\" + text[at:]
