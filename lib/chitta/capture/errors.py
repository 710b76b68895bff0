"""The line of an output that says what is wrong, and its form that is the same the next time."""

from __future__ import annotations

import re

from chitta.capture.draft import whole_words

MAX_LINE_CHARS = 200
_READ_LINES = 400
#: From the most telling: the name of an exception with its words; a code; what compilers and tools begin with.
_SIGNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:E\s+)?(?:[A-Za-z_][\w.]{0,80}\.)?[A-Z]\w{1,60}(?:Error|Exception|Exit|Interrupt|Warning)(?::|$)",
        r"\b(?:error\[?[A-Z]{0,4}\d{3,5}\]?|TS\d{4,5}|E[A-Z]{4,15}|ERR_[A-Z_]{3,60}|ORA-\d{5}|SQLSTATE)\b",
        r"^(?:\S{1,120}: ){0,3}(?:fatal|panic)(?: error)?: ",
        r"^(?:\S{1,120} ){0,3}?(?:npm ERR!|error|Error|ERROR)\b:? ?\S",
        r": (?:command not found|No such file or directory|Permission denied|Connection refused|not found)\b",
        r"\b(?:cannot|can't|could not|couldn't|unable to|failed to|undefined reference|unknown option|invalid)\b",
        r"^(?:FAILED|FAIL|not ok|✕|✗|×)\s",
        r"\b(?:denied|refused|timed out|unrecognized|unsupported|missing)\b",
    )
)
_NOISE = re.compile(
    r"^(?:Exit code \d+|npm ERR! (?:code ELIFECYCLE|A complete log)|make(?:\[\d+\])?: \*\*\* |Traceback |\s*\^)"
)
_PLACE = re.compile(r'File "([^"\n]{1,300})", line (\d+)|([\w./-]{1,200}\.[a-z]{1,5}):(\d{1,6})(?::\d{1,5})?')
_TERMINAL = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")

_HEX = re.compile(r"\b(?:0x[0-9a-fA-F]{2,32}|[0-9a-f]{7,64})\b")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d\b"
)
_PATHS = re.compile(r"(?:[A-Za-z]:)?(?:~|\.{1,2})?(?:[/\\][\w.@+-]{1,100}){2,40}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def telling_line(output: str) -> str:
    """The line that says most of what is wrong, the last of the best; "" where none does."""
    best, found = len(_SIGNS), ""
    for line in lines_of(output):
        if _NOISE.match(line):
            continue
        for rank, sign in enumerate(_SIGNS[: best + 1]):
            if sign.search(line):
                best, found = rank, line
                break
    return whole_words(found.removeprefix("E  ").strip(), MAX_LINE_CHARS)


def place_in(output: str) -> str:
    """The last place in code that an output names, as `file:line` without its folders; "" where it names none."""
    found = ""
    for line in lines_of(output):
        named = _PLACE.search(line)
        if named and "site-packages" not in line and "node_modules" not in line:
            path, number = (named[1], named[2]) if named[1] else (named[3], named[4])
            found = f"{path.rsplit('/', 1)[-1]}:{number}"
    return found


def lines_of(output: str) -> list[str]:
    """The last lines of an output, without a terminal's colours, each within bounds."""
    plain = _TERMINAL.sub("", output)
    return [line.strip()[: 4 * MAX_LINE_CHARS] for line in plain.split("\n")[-_READ_LINES:] if line.strip()]


def signature(line: str) -> str:
    """A line with what changes from run to run made the same: paths keep their last part; numbers, hex and times go."""
    line = _TIME.sub("<time>", line)
    line = _PATHS.sub(lambda path: re.split(r"[/\\]", path[0])[-1], line)
    line = _HEX.sub("<hex>", line)
    return " ".join(_NUMBER.sub("<n>", line).lower().split())
