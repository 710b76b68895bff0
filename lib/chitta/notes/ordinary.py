"""A trigger of one ordinary word (``print``, ``requests``): where in a prompt does it stand for code?

Such a word came from code, and people say it of anything: pull requests, print the report. No list tells which
words are ordinary, so every word of letters alone is taken for one, unless its form is unmistakable: a capital
inside or several (``useState``, ``SELECT``), or no vowel (``npm``). It is code between backticks, where code
goes on beside it (``print(``, ``requests.get``), before a word for a piece of code (*the requests library*),
and as the whole object of a verb of using (*use requests to*, but not *use print stylesheets*).

Imported on the prompt path when the daemon is away: standard library only, and cheap. A rule looks no farther
than :data:`BEFORE` and :data:`AFTER` characters.
"""

from __future__ import annotations

import re
from functools import lru_cache

BEFORE, AFTER = 80, 60

_ARTICLES = frozenset("a an the".split())
_VOWEL = re.compile("[aeiouy]")

_PIECE = (
    r"(?:librar(?:y|ies)(?!\s+of\b)|libs?|packages?|modules?|dependenc(?:y|ies)|statements?|functions?|calls?|clients?|keywords?"
    r"|imports?|decorators?|macros?|commands?|builtins?|declarations?|branch)\b"
)
#: Pieces of code that share their name with other things: only after a verb of using.
_LOOSE_PIECE = r"(?:api|session|type|method|plugin|hook|wrapper|object|operator|binding|adapter)s?\b"
#: What may come after a word that is the whole object, and not the first half of a name (``print stylesheet``).
_GOES_ON = (
    r"(?:to|for|in|inside|into|within|on|here|there|instead|again|everywhere|like|when|where|if|so|because|but|please"
    r"|directly|only|too|then|now|at|not|rather|before|after|between|under|over|via|until)\b"
)
_WHOLE = rf"""[`"')]*(?:\s*$|'s\b|\s*[.;:!?]|\s+(?:{_GOES_ON}|{_PIECE}|-))"""
_LISTED = rf"(?:{_WHOLE}|\s*,|\s+(?:and|or)\b)"
# Where a statement is put: "add a print before the return". "Add an image", "add a date in the header" are of things.
_SOURCE_FILE = r"\S{0,40}(?:[(_]\S|\w(?:#|::)[a-z]|\.(?:py|[jt]sx?|rb|go|rs|java|kt|cs?|cpp|php|swift)\b)"
_PART_OF_CODE = (
    r"(?:loop|handler|function|method|class|constructor|callback|middleware|code|tests?|specs?|catch|except)\b"
)
_PUT = (
    r"""[`"')]*\s+(?:(?:before|after)\s+|to\s+(?:see|check|debug|find|know|verify)\b"""
    rf"|(?:in|into|inside)\s+(?:(?:the|each|every|this|that|its?)\s+)?(?:{_SOURCE_FILE}|(?:\w+\s+)?{_PART_OF_CODE}))"
)
_DEPENDENCIES = (
    r"(?:\S*requirements\S*|package\.json|pyproject\S*|dependenc\w+|deps|imports|gemfile|pipfile|setup\.\w+"
    r"|cargo\.toml|go\.mod|dockerfile|environment|project)(?!\w)"
)
_ADDED = (
    rf"""[`"')]*(?:\s*$|\s*[.!?]|\s+as\s+(?:(?:an?|the|our)\s+)?(?:\w+\s+)?{_PIECE}"""
    rf"|\s+to\s+(?:(?:the|our|my)\s+)?(?:dev\w*\s+)?{_DEPENDENCIES})"
)
_PLAINLY = r"(?:(?:just|only|plain|bare|raw|simple|native|vanilla|python|python's|node|good|old|stdlib)\s+){0,3}[`\"']?"
_INSTALLERS = r"(?:pip3?|pipx|uv|poetry|conda|npm|yarn|pnpm|bun|cargo|gem|bundle|brew|apt|apt-get|composer|go)"
_NOT_WITH = "".join(
    rf"(?<!{word}\s)"
    for word in (
        r"ed ing \bdeal \bdeals \bcope \bcopes \bhelp \bhelps \bwrong \bissue \bissues \bproblem \bproblems \btrouble"
        r" \berror \berrors \bbug \bbugs \bdone \bfull"
    ).split()
)
# A third person or a plural after "a", or with what it is called with at the head of an order, is no word of prose:
# "add a puts", "puts order.inspect". Not "a status", "a class", "a series".
_INFLECTED = re.compile(r"\w+(?<![aious])(?<!ie)s")
_ONE = re.compile(
    r"\b(?:add|adding|put|insert|throw|stick|slap|use|with)\s+an?\s+(?:(?:quick|small|debug|temporary)\s+)?[`\"']?$"
)
_ALONE = re.compile(rf"""[`"')]*(?:\s*$|\s*[.,;:!?]|\s+(?:{_GOES_ON}))""")
_AT_HEAD = re.compile(r"^\W*(?:(?:please\s+|just\s+)*(?:add|put|insert|throw|stick|slap|write)\s+)?[`\"']?$")
_ARGUMENT = re.compile(
    r"\s+[a-z_@]\w{0,40}(?:[(\[]|::|\.(?!(?:py|rb|rs|go|java|css|html?|md|txt|json|ya?ml|toml|csv|pdf|png|svg)\b)[a-z_])"
)
# A document about the word's owner: "the moment.js docs".
_ABOUT = re.compile(r"(?:\.js)?\s+(?:docs?|documentation|readme|tutorial|website|homepage|changelog)\b")

#: Before the word, and after it; each enough together. What is written is searched in lower case.
_CODE: tuple[tuple[str, str], ...] = (
    (r"`$", ""),
    ("", r"`|[(\[]|::|->|[=~>!<]=|@\d"),  # code goes on
    ("", rf"\s+{_PIECE}"),
    # black -q . · var x = 1 · assert x == 1
    ("", r"\s+(?:--?[a-z]|\.(?:/\S*)?(?:\s|$)|[a-z_$][\w$]*\s*=(?![=>])|\S{1,40}\s+[=!]==?\s)"),
    (rf"\b{_INSTALLERS}\s+(?:install|add|i|get|require)"
     r"(?:\s+(?!(?:and|then|to|for|in|so|or|it|but)\s)[^\s,;]+){0,5}\s+$", ""),
    (r"\b(?:python3?\s+-m|sudo|npx|uvx|bunx|(?:poetry|uv|pipx)\s+run|bundle\s+exec)\s+$|(?:&&|\|)\s*$", ""),
    (rf"\b(?:run|running|execute|executing|invoke|invoking)\s+{_PLAINLY}$", ""),
    (r"\bfrom\s+$", r"(?:\.\w+)*\s+import\b"),
    (r"\bimport\b.{1,50}\bfrom\s+[`\"']?$|\brequire\s*\(?\s*[\"']$|\bfrom\s+[\"']$", ""),
    (rf"\b(?:use|uses|using|via|prefer|importing|calls|calling|install|installing|(?:rely|depend)\s+on"
     rf"|go\s+with)\s+{_PLAINLY}$", _LISTED),
    (rf"\b(?:import|call)\s+{_PLAINLY}$", rf"(?!\s*:){_LISTED}"),  # "Import moment:" is a label
    (rf"\b(?:use|using|via|call|calling|with)\s+(?:the\s+|an?\s+|our\s+)?{_PLAINLY}$", rf"\s+{_LOOSE_PIECE}"),
    (rf"{_NOT_WITH}\bwith\s+{_PLAINLY}$", _WHOLE),
    (rf"\badd(?:ing)?\s+{_PLAINLY}$", _ADDED),
    (r"\b(?:add|adding|put|insert|throw|stick|slap|use)\s+(?:an?|some)\s+"
     rf"(?:(?:quick|small|debug|temporary)\s+)?{_PLAINLY}$", _PUT),
    (r"\bgit\s+(?:push|checkout|switch|merge|rebase|pull|reset|branch)(?:\s+(?:-\S+|origin|upstream))*\s+$", _WHOLE),
    (r"\b(?:push|merg(?:e|ing)|commit|rebase|branch|pr|pull\s+request)\b[^,;]{0,40}"
     r"\b(?:to|into|onto|against|off)\s+$", _WHOLE),
    (rf"\b(?:switch|migrate|port|convert|rewrite|downgrade|revert)\b[^,;]{{0,30}}\bto\s+{_PLAINLY}$", _WHOLE),
    (rf"\b(?:write|rewrite|implement|code|script)\b[^,;]{{0,30}}\bin\s+{_PLAINLY}$", _WHOLE),
    (r"\b(?:declare|type|cast|annotate|define|store|save)\b[^,;]{0,30}\bas\s+(?:an?\s+)?$", _WHOLE),
)  # fmt: skip
_COMMAND = re.compile(rf"{_INSTALLERS}\s+(?:install|add|remove|ci|run|exec|dlx|build|test|start|dev|publish|update)\b")
# What follows a dot is a part of the word's code, and not the ending of a file's name.
_ATTRIBUTE = re.compile(
    r"\.(?!(?:py|rb|rs|go|java|css|scss|html?|md|txt|json|ya?ml|toml|csv|pdf|png|svg|sql|xml|sh|log|tsx?|jsx)\b"
    r"(?!\())[a-z_]"
)


@lru_cache(maxsize=4096)
def ordinary(trigger: str) -> str:
    """The trigger's only word in lower case, where that is an ordinary one; else nothing."""
    words = [word.lstrip("`\"'").rstrip("`\"'.,:;!?") for word in trigger.split()]
    words = [word for word in words if word and word.casefold() not in _ARTICLES]
    if len(words) != 1 or not (words[0].isascii() and words[0].isalpha()):
        return ""
    lower = words[0].lower()
    return lower if words[0][1:] == lower[1:] and _VOWEL.search(lower) else ""


def is_name(trigger: str, prompt: str) -> bool:
    """Whether both the trigger and the prompt write the word as a name, with a capital within a sentence."""
    found = re.search(r"\b[A-Z][a-z]+\b", trigger)
    return found is not None and re.search(rf"(?<=[\w,] ){found[0]}\b", prompt) is not None


def begins(token: str, word: str) -> bool:
    """Whether a token is the word, or code that begins with it: ``print(``, ``requests.get``, ``@click.command``."""
    rest = token.removeprefix("@")
    return rest.startswith(word) and (rest == word or rest[len(word) :].startswith(("(", ".", "::", "@")))


def is_code(sentence: str, start: int, end: int) -> bool:
    """Whether the ordinary word at ``[start, end)`` of a normalised sentence stands for code."""
    before, after = sentence[max(start - BEFORE, 0) : start], sentence[end : end + AFTER]
    if _ABOUT.match(after):
        return False
    if _INFLECTED.fullmatch(sentence, start, end) and (
        (_ONE.search(before) and _ALONE.match(after)) or (_AT_HEAD.match(before) and _ARGUMENT.match(after))
    ):
        return True
    if _ATTRIBUTE.match(after) or _COMMAND.match(sentence[start : end + AFTER]):
        return True
    after = after.removeprefix(".js")  # moment.js is moment
    return any(
        (not ahead or re.search(ahead, before) is not None) and (not behind or re.match(behind, after) is not None)
        for ahead, behind in _CODE
    )
