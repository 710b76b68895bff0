"""The words that a person typed, and the tokens among them that say what the turn is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chitta.notes.note import without_surrogates

#: Most distinctive tokens of one text.
LIMIT = 64
#: Characters of a text that are read for tokens.
READ_CHARS = 50_000
_MIN_CHARS = 4

# Scripts written without spaces: Thai, Lao, Khmer, Hiragana and Katakana, Han with its
# extensions, Hangul (whose spaces part phrases, not words), half-width Katakana.
_SPACELESS = (
    "\u0e00-\u0eff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# A pattern's text, compiled at its first use: most prompts never need it.
_RUN = rf"([{_SPACELESS}]+)"
# For ASCII this is `[a-z0-9][a-z0-9_>/-]{3,}`; other alphabets have words too.
_WORD = re.compile(r"[^\W_][\w>/-]{3,}")

#: Words of four letters and more that carry no topic: function words, the parts of contractions,
#: and what people say to an agent whatever they work on.
STOP_WORDS = frozenset(
    """
    able about above according across actually after again against ahead aint almost alone along alright already also
    although always among another anybody anymore anyone anything anyway apparently appreciate aren around aside
    asked asking away awesome back based basically because become becomes been before behind being believe below
    beside besides best better between beyond both bring brought came cannot cant certain certainly clearly come
    comes coming completely consider continue continued continuing correct could couldn course definitely despite
    didn different does doesn doing done dont down during each easy either else enough entirely especially even ever
    every everybody everyone everything everywhere exactly example except excellent explain fairly fine first fixed
    following from full fully further gave getting give given gives giving goes going gone gonna good gotten great
    guess hadn happen happened happening happens hardly hasn have haven having hello help hence here hers herself
    himself hope however immediately indeed inside instead into isnt itself just keep keeping keeps kind knew know
    known knows last later latest least less lets like likely little long longer look looked looking looks lots made
    mainly make makes making many maybe mean means meant mere merely might mine more most mostly much must myself
    namely near nearly need needed needing needs neither never nevertheless next nice nobody none nope nothing
    obviously often okay once ones only onto other others otherwise ought ours ourselves outside over overall
    particular perfect perhaps please possible possibly presumably pretty probably proceed quickly quite rather
    really reasonably regarding right said same saying says second seem seemed seeming seems seen several shall
    should shouldn show simpler simply since some somebody somehow someone something sometimes somewhat somewhere
    soon sorry specifically start started still stop stopped stuff such suggest super sure take taken takes taking
    tell than thank thanks that thats their theirs them themselves then there therefore these they thing things
    think third this those though thought three through throughout thus till together told took totally toward
    towards tried tries truly trying turn twice ultimately under undo unfortunately unless unlike until upon used
    useful uses using usually very wanna want wanted wants wasn well went were weren what whatever when whenever
    where whereas wherever whether which while whoever whole whom whose will wish with within without wonder wont
    would wouldn yeah years your yours yourself yourselves
    """.split()
)

# Blocks that a harness, an editor or this product puts into a prompt. Their content is not the
# person's words; of an unwrapped one only the tags go.
_DROPPED = (
    "task-notification",
    "system-reminder",
    r"command-[a-z]+",
    r"local-command-[a-z]+",
    r"ide_[a-z_]+",
    r"bash-[a-z]+",
    "user-prompt-submit-hook",
    "environment_context",
    "hook_context",
    "persisted-output",
    "chitta-notes",
)
_UNWRAPPED = ("user_query",)
_TAG = re.compile(
    rf"<\s?(?P<close>/?)(?P<name>{'|'.join(_DROPPED + _UNWRAPPED)})(?=[\s/>])[^<>]{{0,2000}}>", re.IGNORECASE
)
_CONTROL = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), 0xFEFF])
for _kept in "\n\t":
    del _CONTROL[ord(_kept)]
_NEWLINES = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def distinctive(text: str) -> tuple[str, ...]:
    """The distinctive tokens of ``text``, in order of first appearance, at most :data:`LIMIT`: of more, the first
    and the last, since people ask at either end of what they paste.

    Lower-cased words of four characters and more minus :data:`STOP_WORDS`; identifiers, paths and
    arrows (``a->b``) stay whole. A run of a script without spaces gives its character pairs.
    """
    found: dict[str, None] = {}
    for token in _tokens(text[:READ_CHARS].lower()):
        if token not in STOP_WORDS:
            found[token] = None
    every = tuple(found)
    return every if len(every) <= LIMIT else every[: LIMIT // 2] + every[-(LIMIT // 2) :]


def _tokens(text: str) -> Iterator[str]:
    for place, part in enumerate([text] if text.isascii() else re.split(_RUN, text)):
        if place % 2:  # a run, which the split keeps between the parts around it
            yield from (part[at : at + 2] for at in range(len(part) - 1))
            continue
        for match in _WORD.finditer(part):
            word = match[0].rstrip(">/-")  # the end of a tag, a folder or a dash is no part of the name
            if len(word) >= _MIN_CHARS:
                yield word


def clean_prompt(text: str) -> str:
    """What the person typed: markup of harness, editor and product removed, controls too, trimmed.

    A block that never closes is taken to run to the end where its tag begins a line (a payload
    cut short), and is left alone elsewhere (a person writing about the tag).
    """
    text = _sound(text)
    kept: list[str] = []
    open_names: list[str] = []
    open_counts: dict[str, int] = {}
    opened_at = at = 0
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if not open_names:
            kept.append(text[at : tag.start()])
            at = tag.end()
        if name in _UNWRAPPED:
            continue
        if not tag["close"]:
            if not open_names:
                opened_at = tag.start()
            open_names.append(name)
            open_counts[name] = open_counts.get(name, 0) + 1
        elif open_counts.get(name):
            closed = ""
            while closed != name:
                closed = open_names.pop()
                open_counts[closed] -= 1
            at = tag.end()
    if open_names:
        begins_line = not text[:opened_at].rpartition("\n")[2].strip()
        kept.append("" if begins_line else text[opened_at:])
    else:
        kept.append(text[at:])
    return "".join(kept).strip()


def _sound(text: str) -> str:
    """``text`` with one kind of newline, no controls but newline and tab, no lone surrogates."""
    return without_surrogates(_NEWLINES.sub("\n", text).translate(_CONTROL))
