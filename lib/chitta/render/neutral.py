"""Text of a memory made harmless to show: whoever wrote it, it stays text of that memory.

A memory may have been written by a stranger (a web page, a tool's output), so what it holds must
not close the block, pose as another item or as the summary, hide words from the person, or steer
a terminal.
"""

from __future__ import annotations

import re

from chitta.notes.note import without_surrogates
from chitta.render.lookalikes import BRACKETS, latin

#: Longest run without white space that is kept (scripts that use none apart); of a longer one the beginning stays.
MAX_TOKEN_CHARS = 200
_KEPT_TOKEN_CHARS = 160
# What a run that is cut must not end in: with the mark of the cut behind it, it would be markup.
_OPENING = f"<{BRACKETS['<']}"

#: What ends a line, other than a newline.
NEWLINES = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Terminal sequences: CSI, then strings (OSC, DCS, SOS, PM, APC) to their end or the line's, then short ones.
_TERMINAL = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]?"
)
# What nobody sees: controls but tab and newline, and of Unicode 16 the categories Cf (marks of format) and Co (private
# use: what it shows differs from machine to machine), what is no character, what may be ignored
# (Default_Ignorable_Code_Point), and three that are blank: a notehead, a filler of Khitan, the mark of an object.
# Written out, since to ask for every character's category takes a tenth of a second.
UNSEEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0e\ufeff\uffa0"
    "\ufff0-\ufffc\ufffe\uffff\U000110bd\U000110cd\U00013430-\U00013455\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xF0000, 0x10000))
)
# The selector of an emoji stays where it is the first behind one.
_EMOJI = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_UNSEEN = re.compile(f"[{UNSEEN}]")
_SELECTOR = re.compile(f"\ufe0f(?<![{_EMOJI}]\ufe0f)")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_BLANK = "\u2800"  # A pattern of Braille without a dot: as wide as a letter.
_SLASHES = r"[\\/_\uff0f\u2044\u2215\u29f8]"
_WORDS = "(?:system|assistant|user|human|function|invoke|tool|hook|antml|instruction|chitta)"
_NAMES = "(?:(?:system|user|function|tool|hook|chitta|local|command)[-_][a-z]|antml:)"
# "<" before what opens or closes a tag (letters of any script: some are look-alikes), its full-width and small forms,
# letters and signs of order that look like it, and quotation marks that look like it where they frame a word of a
# harness. Guillemets quote such words in many languages, and an arrow points at them: these count before a name of two
# words or a slash.
_MARKUP = re.compile(
    r"<(?=[A-Za-z!?|]|\s*/|[^\x00-\x7f])|[\uff1c\ufe64](?=\s*[/\uff0f]?\s*[A-Za-z!?|\uff21-\uff5a])"
    rf"|[{BRACKETS['<']}](?={_SLASHES}{{0,4}}[A-Za-z\u0370-\u052f])"
    rf"|[<\uff1c\ufe64{BRACKETS['<']}\u2039\u27e8\u2329\u3008](?=(?:\s|{_SLASHES})*{_WORDS})"
    rf"|[{BRACKETS['<']}\u2039\u27e8\u2329\u3008](?=(?:\s|[-.*:'\"`]|{_SLASHES}){{0,16}}{_WORDS})"
    rf"|[<\uff1c\ufe64\xab\u300a](?=[^\w<]{{0,8}}_{{0,4}}{_NAMES})|[\xab\u300a](?=\s*{_SLASHES}\s*[a-z])",
    re.IGNORECASE,
)
# Marks of turns in templates of models, and lines that pose as a speaker's: with a colon of any form, in any emphasis.
# "user" and "system" in small letters are keys of many files.
_TURN = re.compile(r"(?<!\\)\[(?=/?(?:INST|SYS|SYSTEM|ASSISTANT|AVAILABLE_TOOLS|TOOL_CALLS)\])")
_SPEAKER = re.compile(
    r"^([^\S\n]*)([>#*_~\"'-]{0,6}[^\S\n]{0,4}[*_]{0,3})([^\W\d_]{4,9})([*_\"']{0,3})"
    r"(?=[^\S\n]*[:\uff1a\ufe55\ufe13\u2236\ua789\u02d0])",
    re.MULTILINE,
)
_SPEAKERS = frozenset({"human", "assistant", "system", "user"})
_KEYS = frozenset({"user", "system"})
_FENCE = re.compile(r"^[^\S\n]*(?=```|~~~)", re.MULTILINE)
# The two ways in which a line of the block begins that a line of a memory must not, whatever stands for the dash.
_ITEM = re.compile(r"^([^\S\n]*-\s*)\[", re.MULTILINE)
_TAGGED = re.compile(
    r"^([^\S\n]*(?:(?:[^\w\s\[\\]|[\u30fc\u4e00\u3161]|[0-9]{1,3}[.)])[^\S\n]*){0,6})"
    r"(?=[\[\uff3b\u3014\u3010\u27e6\u2045](\s*[^\]\uff3d\u3015\u3011\u27e7\u2046\n]{0,24}))",
    re.MULTILINE,
)
_TAGS = frozenset({"again", "corr", "corrk", "ctx", "hyb", "kw", "sem", "skill", "slot", "xr"})
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef"
_LONG = re.compile(rf"[^\s{_SPACELESS}]{{{MAX_TOKEN_CHARS + 1},}}")


def seen(text: str) -> str:
    """``text`` without terminal sequences and unseen characters; what is blank is a space."""
    if text.isascii() and not _CONTROLS.search(text):
        return text
    return _SELECTOR.sub("", _UNSEEN.sub("", _TERMINAL.sub("", text))).replace(_BLANK, " ")


def neutral(text: str) -> str:
    """``text`` with nothing in it that is unseen, opens or closes markup, or poses as the block's own line."""
    text = seen(NEWLINES.sub("\n", without_surrogates(text)))
    text = _LONG.sub(lambda run: run[0][:_KEPT_TOKEN_CHARS].rstrip(_OPENING) + "…", _MARKUP.sub("&lt;", text))
    text = _TAGGED.sub(_no_line_of_the_block, _ITEM.sub(r"\1\\[", text))
    if "[" in text:
        text = _TURN.sub(r"\\[", text)
    return _without_open_fence(_SPEAKER.sub(_no_speaker, text))


def _no_line_of_the_block(found: re.Match[str]) -> str:
    word = latin(found[2]).strip().lower()
    return f"{found[1]}\\" if word in _TAGS or word.startswith("admit") else found[1]


def _no_speaker(found: re.Match[str]) -> str:
    word = latin(found[3])
    is_key = word in _KEYS and word == found[3] and not found[2]
    return f"{found[0]}\\" if word.lower() in _SPEAKERS and not is_key else found[0]


def _without_open_fence(text: str) -> str:
    """The last of an odd number of fences made text, so that a memory cannot swallow what follows it."""
    if "```" not in text and "~~~" not in text:
        return text
    fences = list(_FENCE.finditer(text))
    if len(fences) % 2 == 0:
        return text
    at = fences[-1].end()
    return text[:at] + "\\" + text[at:]
