"""A trigger that is a folder: ``edit files in src/generated/``, or the folder alone.

It covers what lies below the folder, however the beginning of a path is written (``./src/generated/x.py``,
``/home/me/shop/src/generated/x.py``), where the prompt writes to it, or, for a folder alone, uses it: whoever only
speaks of a file orders nothing.

Imported on the prompt path when the daemon is away: standard library only, and cheap.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

#: Characters before a path that are looked at.
NEAR = 40

_EDITED = re.compile(
    r"(?:(?:never|don't|do\s+not)\s+)?(?:(?:hand|manually)[- ])?"
    r"(?:edit|change|modify|touch|write|update|patch|add|put|create|save|store)(?:\s+to)?\s+"
    r"(?:(?:the|any|new|generated)\s+)*"
    r"(?:(?:files?|code|anything|something)\s+(?:in|inside|under|below|within|to|into)\s+)?"
    r"(?:the\s+)?(?P<folder>[^\s`\"']+)(?P<named>\s+(?:folder|directory))?"
    r"(?:\s+(?:by\s+hand|manually|directly|yourself))?",
    re.I,
)
_BARE = re.compile(r"[^\s/]\S*/\**|[./~]+/\S+/\**")
_VERB = (
    r"(?:add|append|bump|change|correct|create|delete|drop|edit|extend|fill|fix|format|implement|insert|modify|move|note"
    r"|patch|prepend|put|refactor|reformat|remove|rename|replace|rewrite|save|set|sort|store|touch|update|write)\b"
)
_WRITING = re.compile(rf"\b{_VERB}")
_USING = re.compile(rf"\b(?:{_VERB}|(?:call|copy|import|include|load|require|run|use)\b|(?:importing|using)\b)")
_NOT = re.compile(r"\b(?:don't|dont|do not|never|not|without|instead of|rather than|stop)\b")
# Marks that stand between a word and the beginning of a path's token.
_OPEN = r"[`\"'(@.~/]*$"
_READ = re.compile(r"\b(?:for|of|like|than|against|see|read|reading)\s+(?:the\s+)?" + _OPEN)
_USED = re.compile(r"\b(?:with|using|uses?|via|imports?|importing)\s+(?:the\s+)?" + _OPEN)
_ADDED = re.compile(r"\b(?:add|append|adding)\s+(?:the\s+)?" + _OPEN)
_ELSEWHERE = re.compile(r"[`\"')/*]*\s+(?:(?:folder|directory|file)\s+)?to\b")
_PLACE = re.compile(r"\b(?:in|inside|into|from|to|at|under|within)\s+(?:the\s+)?" + _OPEN)
_FIRST = re.compile(r"[\s*-]*(?P<place>(?:in|inside|under)\s+)?" + _OPEN)
_THEN = re.compile(rf"[`\"')/]*(?P<colon>:)?,?\s+(?:please\s+|just\s+)?{_VERB}")


@lru_cache(maxsize=4096)
def edited_folder(trigger: str) -> str:
    """The folder that a trigger says not to edit, as :func:`folder_of` gives it, or nothing."""
    found = _EDITED.fullmatch(trigger)
    if found is None:
        return ""
    path = found["folder"].rstrip("*")
    last = path.rpartition("/")[2]
    return _plain(path) if found["named"] or path.endswith("/") or ("/" in path and "." not in last) else ""


@lru_cache(maxsize=4096)
def folder_of(trigger: str) -> str:
    """The folder of a trigger (``edit FOLDER``, ``FOLDER/``) without the marks at its ends, in lower case."""
    return edited_folder(trigger) or (_plain(trigger.rstrip("*")) if _BARE.fullmatch(trigger) else "")


def is_folder_alone(trigger: str) -> bool:
    """Whether only writing to the folder is a mention: its phrase says no more, or is a word of any sentence."""
    return bool(edited_folder(trigger)) or (trigger.endswith("/") and "/" not in (folder_of(trigger) or "/"))


def is_inside(path: str, folder: str) -> bool:
    """Whether a path of normalised text is the folder or lies below it; ``src/gen_old`` is not in ``src/gen``."""
    return f"/{folder}/" in f"/{path.lstrip('@/')}/"


def orders(sentence: str, paths: Sequence[tuple[int, int]], trigger: str) -> Iterator[tuple[int, int, bool]]:
    """The paths in the trigger's folder in a normalised sentence, each with whether the sentence orders it.

    A verb of writing, for a folder alone also one of using, stands before the path, or next to one that stands first
    (``src/api.py: rename f``).
    """
    edited, folder = edited_folder(trigger), folder_of(trigger)
    verb = (_WRITING if edited else _USING).search(sentence) if paths else None
    meant = verb is not None and not _NOT.search(sentence, 0, verb.start())
    for start, end in paths:
        if "/" not in folder and "/" not in sentence[start : end + 1]:
            continue  # a word that is called like the folder
        before = sentence[max(start - NEAR, 0) : start]
        read = is_spared(sentence, start, end) or (edited and _USED.search(before))
        told = verb is not None and verb.end() <= start and not read
        yield start, end, meant and (told or (start < NEAR and _is_first(before, sentence, end)))


def _is_first(before: str, sentence: str, end: int) -> bool:
    first, then = _FIRST.fullmatch(before), _THEN.match(sentence, end)
    return first is not None and then is not None and bool(first["place"] or then["colon"])


def is_spared(sentence: str, start: int, end: int) -> bool:
    """Whether the path at ``[start, end)`` is not written to: something else is written for it (``a test for x.py``),
    or its name is what is written elsewhere (``add vendor/ to .gitignore``)."""
    before = sentence[max(start - NEAR, 0) : start]
    named = _ADDED.search(before) is not None and _ELSEWHERE.match(sentence, end) is not None
    return named or _READ.search(before) is not None


def is_place(sentence: str, start: int) -> bool:
    """Whether the path at ``start`` is where something is done, not what it is done to."""
    return _PLACE.search(sentence[max(start - NEAR, 0) : start]) is not None


def _plain(path: str) -> str:
    return re.sub(r"^(?:[`\"'@]|\.{0,2}/|~/)+", "", unicodedata.normalize("NFKC", path).casefold()).strip("/")
