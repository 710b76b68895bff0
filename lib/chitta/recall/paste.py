"""What a prompt with pasted output is about: what its writer says, and the lines that tell what went wrong.

Somebody pastes a log or a traceback and writes a line above it. Most of such a paste says nothing of the case:
frames of a stack, lines of a log that report what went well, progress, rulers. They drown the error's own words,
in the vector and among the terms: of 72 golden prompts with an error, a symptom or a long text, 58 find their
note as they are, 2 at most between twenty lines of a log or under fourteen frames, and three notes that have to do
with the frames are shown instead (measured). Without those lines the prompt is what it was. And a question typed
below a paste found its note half as often as above it (15 and 34 of 56), since a model weighs the beginning.

Lines are told by their form alone; what has none of these forms stays. Every pattern is linear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: Lines from which on a prompt may be a paste, and lines without a say in it from which on they are taken out.
LEAST_LINES = 6
LEAST_IDLE = 4
#: Characters of a line that are looked at.
_LOOK_CHARS = 400

#: A word of trouble: a line of a log that has one stays.
TROUBLE = re.compile(
    r"error|exception|traceback|fail|fatal|panic|abort|denied|refused|cannot|can't|not found|undefined|unexpected"
    r"|timed? ?out|\bwarn|segfault|no such|exit(?:ed)? (?:code|with)|could not|unable to|cancell?ed|in use\b"
    r"|too (?:large|many|long)|still waiting|killed|deadlock|invalid|reject|unreachable|exceed|exhausted|crash"
    r"|out of memory|statement:|detail:|hint:",
    re.IGNORECASE,
)

#: How a line of a log begins: with the time, in one of its usual forms.
_CLOCK = r"\d{1,2}:\d\d:\d\d(?:[.,]\d+)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_STAMP = re.compile(
    r"[\[(\"']?(?:"
    rf"\d{{4}}[-/.]\d\d[-/.]\d\d[T ,_]{{1,2}}{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?"  # 2026-11-30 12:01:14,201Z
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
_PYTHON = r'\s*File "[^"]{1,300}", line \d+|\s*[^\s:]{1,200}\.py:\d+: in \w+\s*$'
_PYTHON_FRAME = re.compile(_PYTHON)
_FRAME = re.compile(
    rf"{_PYTHON}"
    r"|\s*at [^\n]{0,300}\(\w+\.(?:java|kt|scala|groovy):\d+\)(?: ~?\[[^\]\n]{1,120}\])?\s*$"
    r"|\s*at [^\n]{0,300}(?::\d+|\(native method\)|\(unknown source\)|<anonymous>|\(native\)|\(index \d+\))\S{0,4}\s*$"
    r"|\s*\.{3} \d+ (?:more|common frames omitted)"
    r"|\s*(?:from )?(?:[\w-]{1,60} \([\d.]{1,20}\) )?[^\s:]{1,200}\.rb:\d+:in "
    r"|\s+[^\s:]{1,200}\.go:\d+(?: \+0x[0-9a-f]+)?\s*$|goroutine \d+ \["
    r"|[\w./*()-]{3,200}\((?:0x[0-9a-f]+|\{0x|\.\.\.)[^\n]{0,200}\)\s*$|created by \S+(?: in goroutine \d+)?\s*$"
    r"|\s*\d+:\s+(?:0x[0-9a-f]+ - |[\w<>$]{1,80}::)[^\n]{0,300}$|\s*#\d+ (?:0x|/|\{main\})"
    r"|Traceback \(most recent call last\):|During handling of the above exception|The above exception was the direct"
    r"|stack backtrace:|\s*-{2,}> \S+:\d+:\d+\s*$",
    re.IGNORECASE,
)
#: The line of code under a frame, and the marks under code.
_BELOW_FRAME = re.compile(r"\s{2,}\S")
_MARKS = re.compile(r"\s+[\^~]{3,}\s*$")

#: Progress, rulers and counts, whatever words stand in them.
_FORM = re.compile(
    r"\s*[.FEsxXpPS]{8,}\s*(?:\[\s*\d+%\])?\s*$"
    r"|[^\n]{0,200}\s\[\s*\d{1,3}%\]\s*$|[^\n]{0,80}\d{1,3}%\s?(?:[\u2588\u2501]|\|[\s#=>\u2588\u258f-]{3})"
    r"|\s*[=\-*~#+\u2500\u2501\u2550]{3,}\s*$|\s*={5,}[^\n]{0,120}={5,}\s*$|\s*-{3,}[^\n]{0,120}-{3,}\s*$"
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
_SOURCE = re.compile(r"\s{0,4}([\w.-]{1,60})\s{1,20}\|\s(?![^|\n]{0,200} \| )")
#: A title between rulers of underscores, as tests are announced: its words stay.
_TITLED = re.compile(r"_{3,}\s{0,4}([^_\n][^\n]{0,200}?)\s{0,4}_{3,}\s*$")
#: A line as a person writes one: words, and no sign of code, of a table or of a machine.
_WORDS = re.compile(r"(?:[^\W\d_][\w'\u2019-]*[,;:.!?]?\s+){2,}[^\W\d_][\w'\u2019/.-]*[.!?:;,)]*\s*$")
_WORD = re.compile(r"[^\W\d_]{3,}")
#: Words with which people point at a paste without a word on its subject.
_POINTING = frozenset(
    "about above again and answer any anything are below but can check could debug did does doing explain"
    " find fix for from get give going had happen happened happening happens has have help her here him his"
    " how into its keep keeps know let like log logs look looks make mean means need not now off one our out"
    " output please pls plz problem read reply say says see seen she should show since solve something tell"
    " thank thanks that the their them then there these they thing this those too try understand use was what"
    " when where which who why will with wrong you your".split()
)
#: Other words of what is left, without which the lines of a log that merely have a time stay, too.
_ENOUGH_WORDS = 2
#: Lines of a person's own at the end of a prompt.
_MOST_OWN = 4


class _Read(NamedTuple):
    """A line as it stays ("" for one that has no say) and whether only its time speaks against it."""

    said: str
    idle: bool = False
    doubtful: bool = False


def gist(prompt: str) -> str:
    """``prompt`` without the lines of pasted output that say nothing of the case; all of it where there are few such.

    What stays keeps its order, but for what a person wrote below a paste: that comes first, since a model
    weighs the beginning. A line of a log loses its time, and one that says the same again is left out.
    """
    lines = prompt.split("\n")
    if len(lines) < LEAST_LINES:
        return prompt
    read = list(_read(lines))
    if sum(line.idle for line in read) < LEAST_IDLE:
        return "\n".join(_own_first(lines))
    kept = list(dict.fromkeys(line.said for line in read if not line.idle))
    text = "\n".join(kept)
    if not TROUBLE.search(text) and len(set(_WORD.findall(text.lower())) - _POINTING) < _ENOUGH_WORDS:
        kept = list(dict.fromkeys(line.said for line in read if not line.idle or line.doubtful))
    return "\n".join(_own_first(kept)) if any(line.strip() for line in kept) else prompt


def _read(lines: Sequence[str]) -> Iterator[_Read]:
    sources = [_SOURCE.match(line) for line in lines]
    counts = Counter(source[1] for source in sources if source)
    below = False
    for line, source in zip(lines, sources, strict=True):
        composed = False
        if source is not None and counts[source[1]] >= LEAST_IDLE:
            composed, line = True, line[source.end() :]
        look = line[:_LOOK_CHARS]
        under, below = below, _PYTHON_FRAME.match(look) is not None
        if below or _FRAME.match(look):
            yield _Read("", idle=True)
        elif under and _BELOW_FRAME.match(look) and not TROUBLE.match(look.lstrip()):
            yield _Read("", idle=True)
        else:
            yield _said(line, look, composed)


def _said(line: str, look: str, composed: bool) -> _Read:
    title = _TITLED.match(look)
    if title is not None:
        return _Read(title[1])
    stamp = _STAMP.match(look)
    rest = line[stamp.end() :].strip() if stamp is not None else line
    if stamp is not None or composed:
        quiet = not TROUBLE.search(rest[:_LOOK_CHARS])
        return _Read(rest, idle=quiet, doubtful=quiet and not _LEVEL.match(rest[:_LOOK_CHARS]))
    troubled = TROUBLE.search(look)
    if _FORM.match(look) or _MARKS.match(look) or (not troubled and (_LEVEL.match(look) or _CHATTER.match(look))):
        return _Read("", idle=True)
    return _Read(line)


def _own_first(lines: Sequence[str]) -> Sequence[str]:
    """The lines with a person's own words below all others, if there are such, before them."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and end - start < _MOST_OWN and _WORDS.match(lines[start - 1][:_LOOK_CHARS]):
        start -= 1
    if start == end or not start or _WORDS.match(lines[0][:_LOOK_CHARS]):
        return lines
    return [*lines[start:end], *lines[:start], *lines[end:]]
