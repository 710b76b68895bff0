"""What a sentence of instructions is: a correction (this, not that), a rule of a person, or a fact to look up.

Pure. A correction is read only where both of its sides are plain; anything else stays in its author's words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.importing.sections import prose
from chitta.notes.correction import match_triggers, triggers_for
from chitta.notes.folder import edited_folder
from chitta.notes.note import one_line

#: Words that one side of a correction may have; more is an explanation rather than a form.
MOST_WORDS = 10
#: Characters of a text whose sentences are looked at, and of a sentence that can be a correction.
READ_CHARS = 20_000
LONGEST_SENTENCE = 300
#: Share of a section's sentences that are rules from which the section is a preference.
RULES_SHARE = 0.3

_VERB = r"(?:use|using|run|running|call|calling|write|writing|prefer|choose|import|install)"
_SEPARATOR = r"(?:\s*[;:.,]\s+|\s+[-\u2013\u2014]+\s+|\s*[\u2013\u2014]\s*)"
_DONT = r"(?:never|do\s+not|don'?t|avoid|stop|no)"
_SHAPES = (
    # never use X, use Y; don't X; Y instead
    re.compile(rf"{_DONT}\s+(?:ever\s+)?(?P<wrong>.+?){_SEPARATOR}(?:but\s+|please\s+|always\s+|rather\s+)*"
                rf"(?P<right>(?:{_VERB})\s+.+?)(?:\s+instead)?", re.I),
    re.compile(rf"{_DONT}\s+(?:ever\s+)?(?P<wrong>.+?){_SEPARATOR}(?P<right>.+?),?\s+instead", re.I),
    re.compile(rf"instead\s+of\s+(?P<wrong>.+?),\s*(?P<right>(?:{_VERB})\s+.+)", re.I),
    # use Y instead of X; prefer Y over X; use Y, not X
    re.compile(rf"(?:please\s+|always\s+)*(?:{_VERB})\s+(?P<right>.+?),?\s+(?:instead\s+of|rather\s+than)\s+"
                r"(?P<wrong>.+)", re.I),
    re.compile(r"(?:please\s+|always\s+)*prefer\s+(?P<right>.+?)\s+(?:over|to)\s+(?P<wrong>.+)", re.I),
    re.compile(rf"(?:please\s+|always\s+)*(?:{_VERB})\s+(?P<right>.+?)(?:,|\s+and|\s+-+|\s*[\u2013\u2014])\s*"
                r"(?:not|never)\s+(?P<wrong>(?!only\b|just\b).+)", re.I),
    # not X but Y
    re.compile(r"not\s+(?P<wrong>(?!only\b|just\b).+?),?\s+but\s+(?P<right>(?!also\b).+)", re.I),
)  # fmt: skip
# Where the sides may end and the reason begin.
_CLAUSE = re.compile(
    r"\s*;\s+|\s*:\s+|\s+[-\u2013\u2014]+\s+|\s*\u2014\s*|\.\s+|\s+(?=\([^()]{8,}\)$)"
    r"|,?\s+(?:because|since|so that)\s+|,\s+(?=(?:so|as|which|we|it|they|this|see)\s)",
    re.I,
)
_SPAN = re.compile(r"`[^`]*`")
_SCOPE = re.compile(r"\s(?:in|inside|for|on|within)\s", re.I)
_SCOPED_RIGHT = re.compile(r"(\S+)\s+(?:in|for|on|within)\s+.+", re.I)
_PATH = re.compile(r"(?:~?/|\.{1,2}/)?[\w.@-]+(?:/[\w.@*-]+)+\.\w{1,5}")
_LEADING = re.compile(rf"(?:please\s+|always\s+|just\s+)*(?:{_VERB}\s+)?", re.I)
_UNLESS = re.compile(r"\b(?:unless|except)\b", re.I)
_CONDITION = re.compile(r"\b(?:unless|except|if|when(?:ever)?|while|until|where)\b", re.I)
# never edit files in vendor/ by hand: the commonest rule on a path, whose other side may be missing
_EDITING = re.compile(
    r"(?:please\s+)?(?:never|do\s+not|don'?t|avoid|stop)\s+(?:(?:ever|manually|directly)\s+)?(?:hand[- ])?"
    r"(?:edit|editing|touch|touching|modify|modifying|change|changing|patch|patching|updat(?:e|ing)|writ(?:e|ing)\s+to)\s+"
    r"(?:(?:the|any|generated)\s+)*(?P<below>(?:files?|code|anything|something)\s+(?:in|inside|under|below|within)\s+)?"
    rf"(?:the\s+)?(?P<path>`[^\s`]+`|[^\s`;:,]+?)(?P<named>\s+(?:folder|directory|file))?"
    rf"(?:\s+(?:by\s+hand|manually|directly|yourself))?(?:{_SEPARATOR}(?P<rest>.+))?",
    re.I,
)
# A sentence of its own that says what to do instead.
_TOLD = re.compile(rf"(?:instead\b|(?:{_VERB})\s|.*\sinstead\W*$)", re.I)
_FILE_NAME = re.compile(r"(?:\S*/)?(?:[\w@-][\w.@-]*\.[a-z]\w{0,7}|\.[a-z][\w.-]*)", re.I)
_LIST = re.compile(
    r"(?:and|or|nor)\b|[`\"']?(?:[^\s`]+/\**|(?:[^\s`]*/)?[\w@.-]+\.[a-z]\w{0,7})[`\"']?(?:$|[\s,])", re.I
)
# What follows is why: "it is generated", "built by CI".
_REASON = re.compile(
    r"(?:it|its|they|that|this|these|those|the|we|ci|because|since|as|so|which|see|all|any|every\w*|changes|edits|owned"
    r"|made|built|managed|maintained|overwritten|auto\S*|machine\S*|(?:re)?generated)\b",
    re.I,
)
_VAGUE = re.compile(
    r"\W*(?:it|this|that|them|these|those|they|one|the (?:former|latter)|anything|everything|such)\b", re.I
)
_PLACELESS = frozenset(
    "after again before early first here last later less more much now often there too yourself".split()
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*_\"'(])|\n+")
_EMPHASIS = re.compile(r"(?<![\w`*])(\*\*|__|\*|_)(?=\S)(.{1,200}?)(?<=\S)\1(?![\w`*])")

_ANYWHERE = re.compile(
    r"\b(?:always|never|must|should|shall|prefer(?:red|ably)?|avoid|don'?t|do not|cannot|required?|forbidden"
    r"|not allowed|instead of|rather than|make sure|ensure|no longer|only ever)\b",
    re.I,
)
_FIRST = re.compile(
    r"(?:please\s+)?(?:use|keep|follow|write|run|put|name|add|check|test|commit|stick|treat|favou?r|limit|include|ask|explain|be|stop"
    r"|only|do|no|wrap|return|handle|validate|document|mark|place|group|sort|format|lint|start|begin|end|create|update"
    r"|call|pass|log|read|think|propose|answer|reply|respond|give|show|leave|remove|delete|split|extract|import|edit|change|touch)\b",
    re.I,
)


class Correction(NamedTuple):
    """Not ``wrong``, but ``right``; ``why`` is what its sentence says more."""

    wrong: str
    right: str
    why: str = ""


def sentences(text: str) -> list[str]:
    """The sentences of the text's prose, without emphasis and bullets."""
    lines = [
        re.sub(r"^[ \t]*(?:[-*+]|\d+[.)]|>)[ \t]+(?:\[[ xX]\][ \t]+)?", "", line)
        for line in prose(text[:READ_CHARS]).split("\n")
    ]
    parts = (one_line(_plain(part)) for part in _SENTENCE.split("\n".join(_joined(lines))))
    return [part for part in parts if part]


def correction_of(text: str) -> Correction | None:
    """The correction that the text's first sentence (or its first two) says, or None.

    None as well where it holds only under a condition, where a side is long or vague, and where no prompt
    would ever fire it (:func:`chitta.notes.correction.match_triggers`).
    """
    said = sentences(text)
    told = len(said) > 1 and _TOLD.match(said[1])
    for read, count in ((_read, 1), (_read, 2), (_read_path, 2 if told else 1)):
        if len(said) >= count:
            found = read(" ".join(said[:count]))
            if found is not None:
                more = one_line(" ".join((found.why, *said[count:])))
                return found._replace(why=more)
    return None


def kind_of(text: str) -> str:
    """``preference`` for a text of rules, ``reference`` for one that states and lists."""
    said = sentences(text)
    rules = sum(1 for sentence in said if is_rule(sentence))
    return "preference" if said and rules >= max(1, RULES_SHARE * len(said)) else "reference"


def is_rule(sentence: str) -> bool:
    """Whether a sentence tells to do or not to do something."""
    return bool(_FIRST.match(sentence) or _ANYWHERE.search(sentence))


def _read(sentence: str) -> Correction | None:
    sentence = sentence.rstrip(" .!")
    if len(sentence) > LONGEST_SENTENCE or sentence.endswith("?"):
        return None
    bare = _SPAN.sub(lambda span: "`" + "x" * (len(span[0]) - 2) + "`", sentence)  # code ends no clause
    ends = [(cut.start(), cut.end()) for cut in _CLAUSE.finditer(bare)]
    for start, end in [*ends, (len(sentence), len(sentence))]:  # the first clause that says both sides has them
        said, why = sentence[:start].rstrip(" .!"), one_line(sentence[end:])
        if _CONDITION.search(bare[:start]) or _UNLESS.search(bare[end:]) or _CONDITION.match(bare[end:].lstrip("( ")):
            return None
        for shape in _SHAPES:
            found = shape.fullmatch(said)
            if found is not None:
                wrong, right = _sides(_side(found["wrong"]), _side(found["right"]))
                preferred = re.match(r"(?:please\s+|always\s+)*prefer\b", said, re.I) is not None
                why = why[1:-1] if why.startswith("(") and why.endswith(")") else why
                return Correction(wrong, right, why) if _holds(wrong, right, weak=preferred) else None
    return None


def _read_path(sentence: str) -> Correction | None:
    """The correction in a rule not to edit a path: right is what it says to do, else not to do so."""
    sentence = sentence.rstrip(" .!")
    found = _EDITING.fullmatch(sentence) if len(sentence) <= LONGEST_SENTENCE else None
    if found is None or _CONDITION.search(_SPAN.sub("", sentence)):
        return None
    path = re.sub(r"(?<=/)\*+$", "", found["path"].strip("`"))
    named = (found["named"] or "").strip().lower() in ("folder", "directory")
    quoted = found["path"].startswith("`") and (found["below"] or "/" in path) and "." not in path.rpartition("/")[2]
    folder = path.endswith("/") or named or bool(quoted)
    wrong = f"edit {path.rstrip('/')}/" if folder else f"edit {path}"
    if "*" in path or not (folder or _FILE_NAME.fullmatch(path)) or match_triggers(wrong, (wrong,)) is None:
        return None
    rest = re.sub(r"^(?:but|please|instead,?|rather)\s+", "", found["rest"] or "", flags=re.I)
    cut = _CLAUSE.search(_SPAN.sub(lambda span: "x" * len(span[0]), rest))
    right, why = (rest[: cut.start()], rest[cut.end() :]) if cut is not None else (rest, "")
    right = re.sub(r",?\s+instead$", "", right.strip(" ,;:."), flags=re.I)
    if _LIST.match(right):  # more paths
        return None
    if not right or _REASON.match(right) or _VAGUE.match(right) or len(right.split()) > MOST_WORDS:
        return Correction(wrong, f"do not {wrong}", one_line(rest))
    return Correction(wrong, right, one_line(why))


def _sides(wrong: str, right: str) -> tuple[str, str]:
    """The code alone where each side quotes one piece and says no place for it; a word alone for a word."""
    spans = [_SPAN.findall(wrong), _SPAN.findall(right)]
    if all(len(each) == 1 for each in spans) and spans[0] != spans[1]:
        if not _SCOPE.search(wrong.partition(spans[0][0])[2] + " ") and not _SCOPE.search(
            right.partition(spans[1][0])[2] + " "
        ):
            whole = edited_folder(wrong.replace("`", ""))  # a folder is no wrong form, editing it is
            return wrong if whole else spans[0][0], spans[1][0]
    scoped = _SCOPED_RIGHT.fullmatch(right) if len(wrong.split()) == 1 else None
    return (wrong, scoped[1]) if scoped is not None and scoped[1].casefold() != wrong.casefold() else (wrong, right)


def _side(text: str) -> str:
    plain = one_line(_LEADING.sub("", text.strip(), count=1)).strip(" ,;:.")
    return re.sub(r",?\s+instead$", "", plain, flags=re.I) or one_line(text)


def _holds(wrong: str, right: str, *, weak: bool) -> bool:
    """Whether both sides are plain. Of a mere preference the wrong one has to be more than a word of prose."""
    if not wrong or not right or wrong.casefold() == right.casefold():
        return False
    if max(len(wrong.split()), len(right.split())) > MOST_WORDS or _VAGUE.match(wrong) or _VAGUE.match(right):
        return False
    if wrong.isalpha() and (weak or wrong.casefold() in _PLACELESS):
        return False
    if wrong.count("`") % 2 or right.count("`") % 2 or wrong.count("(") != wrong.count(")"):
        return False
    triggers = triggers_for(wrong)
    if any(_PATH.fullmatch(trigger) for trigger in triggers):  # whoever speaks of a file orders nothing
        return False
    return any(match_triggers(trigger, (trigger,)) is not None for trigger in triggers)


def _plain(text: str) -> str:
    """Without emphasis; code spans stay."""
    return _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)).replace("\u2019", "'")


def lines_of(text: str) -> list[str]:
    """The text's lines that are not blank, as they are written; one that goes on with the one before it joins it."""
    return [line for line in _joined(text.split("\n")) if line.strip()]


def _joined(lines: list[str]) -> list[str]:
    """Lines of one paragraph as one line; a line that begins an item begins one here too."""
    return re.sub(r"(?<=[^\s.!?:;])\n(?=[a-z`(])", " ", "\n".join(lines)).split("\n")
