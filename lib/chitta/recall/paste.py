"""What a prompt with pasted output is about: what its writer says, and the lines that tell what went wrong.

Somebody pastes a log or a traceback and writes a line above it. Most of such a paste says nothing of the case:
frames of a stack, lines of a log that report what went well, progress, rulers. They drown the error's own words,
in the vector and among the terms: of 72 golden prompts with an error, a symptom or a long text, 58 find their
note as they are, 2 at most between twenty lines of a log or under fourteen frames, and three notes that have to do
with the frames are shown instead (measured). Without those lines the prompt is what it was.

Lines are told by their form alone; what has none of these forms stays. Every pattern is linear.
"""

from __future__ import annotations

import re
from collections import Counter

#: Lines from which on a prompt may be a paste, and lines without a say in it from which on they are taken out.
LEAST_LINES = 6
LEAST_IDLE = 4
#: Characters of a line that are looked at.
_LOOK_CHARS = 400

#: A word of trouble: a line of a log that has one stays.
TROUBLE = re.compile(
    r"error|exception|traceback|fail|fatal|panic|abort|denied|refused|cannot|can't|not found|undefined|unexpected"
    r"|timed? ?out|warning|segfault|no such|exit(?:ed)? (?:code|with)",
    re.IGNORECASE,
)

#: How a line of a log begins: with the time, in one of its usual forms.
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP = re.compile(
    r"[\[(\"']?(?:"
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T ,_]{{1,2}}{_CLOCK}[^\s\])]{{0,8}}"  # 2026-11-30 12:01:14,201Z
    rf"|\d\d[-/.]\d\d[-/.]\d{{2,4}}[T ,]{{1,2}}{_CLOCK}"
    rf"|\d{{1,2}}[/ ]{_MONTH}[/ ]\d{{4}}[: ]{_CLOCK}"
    rf"|(?:[A-Z][a-z]{{2}},? )?{_MONTH}\s{{1,2}}\d{{1,2}}(?: \d{{4}})? {_CLOCK}"  # Nov 30 12:01:14
    rf"|[IWEF]\d{{4}} {_CLOCK}"  # I1130 12:01:14.201
    rf"|{_CLOCK}"
    r")[\])\"']?"
)
#: Levels that say that all is well, at the head of a line.
_LEVEL = re.compile(
    r"\s*(?:[\[(<]?(?:INFO|DEBUG|TRACE|NOTICE|VERBOSE)\b|[\[(<](?:info|debug|trace|notice|verbose)[\])>]"
    r"|(?:info|debug|trace|notice|verbose):\s)"
)

#: Frames of a stack: Python, JavaScript and Java, Ruby, Go, Rust, PHP, C; and the lines that go with them.
_FRAME = re.compile(
    r'\s*File "[^"]{1,300}", line \d+'
    r"|\s*at [^\n]{0,300}(?::\d+|\(native method\)|\(unknown source\)|<anonymous>|\(native\)|\(index \d+\))\S{0,4}\s*$"
    r"|\s*\.{3} \d+ (?:more|common frames omitted)"
    r"|\s*(?:from )?[^\s:]{1,200}\.rb:\d+:in "
    r"|\s*[^\s:]{1,200}\.py:\d+: in \w+\s*$"
    r"|\s+[^\s:]{1,200}\.go:\d+(?: \+0x[0-9a-f]+)?\s*$|goroutine \d+ \["
    r"|\s*\d+:\s+(?:0x[0-9a-f]+ - |[\w<>$]{1,80}::)[^\n]{0,300}$|\s*#\d+ (?:0x|/|\{main\})"
    r"|Traceback \(most recent call last\):|During handling of the above exception|The above exception was the direct"
    r"|stack backtrace:|\s*-{2,}> \S+:\d+:\d+\s*$",
    re.IGNORECASE,
)
_PYTHON_FRAME = re.compile(r'\s*File "[^"]{1,300}", line \d+|\s*[^\s:]{1,200}\.py:\d+: in \w+\s*$')
#: The line of code under a frame, and the marks under code.
_BELOW_FRAME = re.compile(r"\s{2,}\S")
_MARKS = re.compile(r"\s+[\^~]{3,}\s*$")

#: Progress, rulers and counts, whatever words stand in them.
_FORM = re.compile(
    r"\s*[.FEsxXpPS]{8,}\s*(?:\[\s*\d+%\])?\s*$"
    r"|[^\n]{0,200}\s\[\s*\d{1,3}%\]\s*$|[^\n]{0,80}\d{1,3}%\s?[|\u2588\u2501]"
    r"|\s*[=\-*~#+\u2500\u2501\u2550]{3,}\s*$|\s*={3,}[^\n]{0,120}={3,}\s*$|\s*-{3,}[^\n]{0,120}-{3,}\s*$"
    r"|\s*=*\s*\d+ (?:failed|passed|skipped)\b[^\n]{0,120} in [\d.]+ ?m?s"
)
#: What tools say of themselves where all goes well: tests, images, packages, builds, requests served.
_CHATTER = re.compile(
    r"platform \w+ -- Python|(?:rootdir|configfile|plugins|cachedir|testpaths|asyncio): |collect(?:ed|ing) \d+ "
    r"|#\d+ (?:\d+\.\d+ |CACHED|DONE|sha256:|extracting|transferring|resolve|exporting|\[)|Step \d+/\d+ :| ---> "
    r"|(?:Get|Hit|Ign):\d+ |Reading (?:package lists|state information)|Fetched \d|Selecting previously"
    r"|Preparing to unpack|(?:Unpacking|Setting up) \S+ |Processing triggers for"
    r"|(?:Collecting|Downloading|Using cached) \S+(?: \([^)]{1,40}\))?\s*$"
    r"|Requirement already satisfied|Installing collected packages|(?:Building|Created) wheel"
    r"|npm (?:http|timing|verb|sill)|\s+(?:Compiling|Downloaded|Downloading|Fresh|Checking|Updating|Locking) \S+ v?\d"
    r"|> Task :|[^\n]{0,120}: Refreshing state\.\.\."
    r"|\S{1,60} \S{1,60} \S{1,60} \[\d\d/[A-Z][a-z]{2}/\d{4}:[^\]]{1,30}\] \"[A-Z]{3,8} "  # an access log
    r'|Started [A-Z]{3,7} "/|Processing by \w|Completed [23]\d\d |\s*Render(?:ed|ing) \S+\.\w'
)
#: What composes the output of several processes puts before each line.
_SOURCE = re.compile(r"\s{0,4}([\w.-]{1,60})\s{1,20}\|\s")
#: A title between rulers of underscores, as tests are announced: its words stay.
_TITLED = re.compile(r"_{3,}\s{0,4}([^_\n][^\n]{0,200}?)\s{0,4}_{3,}\s*$")


def gist(prompt: str) -> str:
    """``prompt`` without the lines of pasted output that say nothing of the case; as it is where there are few such.

    What stays keeps its order; a line of a log loses its time, and one that says the same again is left out.
    """
    lines = prompt.split("\n")
    if len(lines) < LEAST_LINES:
        return prompt
    sources = Counter(found[1] for found in map(_SOURCE.match, lines) if found)
    kept: dict[str, None] = {}
    idle = 0
    below = False
    for line in lines:
        source = _SOURCE.match(line)
        composed = source is not None and sources[source[1]] >= LEAST_IDLE
        if source is not None and composed:
            line = line[source.end() :]
        look = line[:_LOOK_CHARS]
        under, below = below, False
        if _PYTHON_FRAME.match(look):
            below = True
        elif not (under and _BELOW_FRAME.match(look) and not TROUBLE.match(look.lstrip())) and not _FRAME.match(look):
            said = _said(line, look) if not composed or TROUBLE.search(look) else None
            if said is not None:
                kept.setdefault(said)
                continue
        idle += 1
    if idle < LEAST_IDLE or not any(line.strip() for line in kept):
        return prompt
    return "\n".join(kept)


def _said(line: str, look: str) -> str | None:
    """The line as it stays, without its time; None for one that says nothing of the case."""
    title = _TITLED.match(look)
    if title is not None:
        return title[1]
    stamp = _STAMP.match(look)
    if stamp is not None and stamp.end():
        rest = line[stamp.end() :]
        return rest.strip() if TROUBLE.search(rest[:_LOOK_CHARS]) else None
    if _LEVEL.match(look) and not TROUBLE.search(look):
        return None
    if _FORM.match(look) or _MARKS.match(look) or (_CHATTER.match(look) and not TROUBLE.search(look)):
        return None
    return line
