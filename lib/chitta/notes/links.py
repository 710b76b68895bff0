"""What a note points at: entities that it shares with other notes, and relations that it states.

An entity is a kind and a name, ``tag:auth``, ``id:get_user``, ``file:docker-compose.yml`` or
``note:raw-body``, so that a tag never meets a file of the same name. A note holds its own names as
``note:`` entities, as do the notes that link to it: a link is an entity that two notes share.

Only what is written is read; nothing is guessed. Pure, and quick enough to be done with every note
that is indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from chitta.notes.note import Note, one_line
from chitta.notes.triplet import Triplet, name_key

#: Entities of one note, and of one prompt. A note of twenty-four subjects is about none of the rest.
MAX_ENTITIES = 24
#: Relations of one note.
MAX_TRIPLETS = 64
#: Characters of a text that are read; a longer one is a log or a listing.
READ_CHARS = 20_000
#: Longest name of an entity, of a relation's end and of a relation, in characters.
LONGEST_NAME = 80
LONGEST_END = 200
LONGEST_RELATION = 40

_SUFFIXES = (
    "bash bat c cc cfg conf cpp cs css csv dart env ex exs go gradle h hpp hs html ini ipynb java jl js json jsonl jsx "
    "kt less lock lua md mdx ml mjs php pl proto ps1 py pyi r rb rs rst sass scala scss sh sql sqlite svelte svg swift "
    "tex tf toml ts tsx txt vim vue xml yaml yml zig zsh"
).replace(" ", "|")
_FILE = re.compile(rf"(?:[\w.@~-]*/)*[\w.@-]*\w\.(?:{_SUFFIXES})", re.IGNORECASE)
_DOTFILE = re.compile(r"(?:[\w.@~-]*/)*\.[a-z]\w{2,}(?:[.-]\w+)*")
# What an identifier or a file name has in it and a plain word has not: a quick no for most words.
_SHAPED = re.compile(r"[A-Z_.](?<=[A-Za-z0-9].)\w")
_PIECE = re.compile(r"[\w.~@/\\-]*\w")
_BREAK = re.compile(r"[./@~-]+")
_SNAKE = re.compile(r"_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*")
_CAMEL = re.compile(r"[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: Words in backticks that are values and operators of most languages, and name nothing.
_LITERALS = frozenset("true false nil null none and or not if else end self this".split())
_UNDERSCORES = re.compile("__+")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.:-]*\w(?:\(\))?[!?]?")
_FLAG = re.compile(r"--[A-Za-z][\w-]{2,}")

_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]{2,200})`(?!`)")
# Shell tests and character classes (``[[ -f x ]]``, ``[[:space:]]``) begin otherwise than a name does.
_WIKI = re.compile(r"\[\[(?=[\w/])([^\[\]|\n]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]")
_RELATION_LINE = re.compile(
    r"^[ \t]*[-*+][ \t]+(\w[\w-]*(?:[ \t]\w[\w-]*){0,2})[ \t]+\[\[(?=[\w/])([^\[\]|\n]{1,200})(?:\|[^\[\]\n]*)?\]\]"
    r"[ \t]*(?:\([^()\n]*\))?[ \t]*$",
    re.MULTILINE,
)
_ARROW = re.compile(r"`([^`\n]{1,200})`[ \t]*(?:->|→)[ \t]*([\w -]{1,40}?)[ \t]*(?:->|→)[ \t]*`([^`\n]{1,200})`")
_MARKDOWN_NAME = re.compile(r"([^/]{1,120})\.(?:md|markdown)\b", re.IGNORECASE)
_WORD = re.compile(r"\w[\w+#.-]*[\w+#]|\w")

_RELATION_KEYS = {"relations": "relates_to", "relationships": "relates_to", "causal_relations": "causes"}
_SESSION_KEYS = ("session", "session_id", "source_session")
_TYPE_KEYS = ("type", "relation", "relation_type", "predicate")


def entities_of(note: Note) -> tuple[str, ...]:
    """The note's entities without repeats, at most :data:`MAX_ENTITIES`.

    First its names, the notes that it names, its tags and files, then what its text names: spans in
    backticks before other words that are shaped like code.
    """
    text = note.text[:READ_CHARS]
    stated = [f"note:{slug(name)}" for name in (*_names(note), *_linked(note, text))]
    stated += [f"tag:{slug(tag)}" for tag in note.tags]
    if session_of(note):
        stated.append(session_of(note))
    for value in _values(note.extra, ("files", "paths", "file")):
        stated += _file(value)
    return _bounded(stated, _written(f"{note.title}\n{text}"))


def session_of(note: Note) -> str:
    """The ``session:`` entity of the session that the note was learned in; "" where it does not say."""
    extra = dict(note.extra)
    value = next((extra[key] for key in _SESSION_KEYS if isinstance(extra.get(key), (str, int))), "")
    name = slug(str(value))
    return f"session:{name}" if name else ""


def query_entities(text: str) -> tuple[str, ...]:
    """The entities that a prompt names outright, in the form of :func:`entities_of`."""
    text = text[:READ_CHARS]
    return _bounded([f"note:{slug(name)}" for name in _wiki_names(text)], _written(text))


def tag_candidates(text: str, limit: int = 64) -> tuple[str, ...]:
    """``tag:`` entities that a prompt's words and neighbouring pairs of words would be, known or not."""
    words = [slug(word) for word in _WORD.findall(text[:READ_CHARS])]
    words = [word for word in words if word]
    pairs = [f"{first}-{second}" for first, second in zip(words, words[1:], strict=False)]
    wanted = [word for word in words if len(word) > 1] + pairs
    return tuple(dict.fromkeys(f"tag:{name}" for name in wanted if len(name) <= LONGEST_NAME))[:limit]


def triplets_of(note: Note) -> tuple[Triplet, ...]:
    """The relations that the note states, without repeats, at most :data:`MAX_TRIPLETS`.

    Front matter: ``relations``, ``relationships`` and ``causal_relations``, lists of ``{source,
    target, type}`` whose source is the note when it is left out; ``links``; ``supersedes`` and
    ``superseded_by``, which name notes by id on both ends. Text: list items ``- type [[Target]]``,
    other wiki links (``links``), and ```a` -> type -> `b```. The note stands under its title,
    else its id.
    """
    text = note.text[:READ_CHARS]
    found = [*_superseding(note), *_front_matter(note), *_text_relations(note, text)]
    return tuple(dict.fromkeys(each for each in found if each is not None))[:MAX_TRIPLETS]


def slug(name: str) -> str:
    """A name as part of an entity: lower case, runs of white space and underscores as one hyphen, cut to length."""
    return "-".join(name.casefold().replace("_", " ").replace("-", " ").split())[:LONGEST_NAME].strip("-")


# Entities


def _bounded(stated: Iterable[str], written: Iterator[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for group in (stated, written):
        for entity in group:
            if not entity.endswith(":"):
                found[entity] = None
            if len(found) == MAX_ENTITIES:
                return tuple(found)
    return tuple(found)


def _names(note: Note) -> Iterator[str]:
    """What other notes may call this one: its id, title, aliases, and the name of the file it came from."""
    yield note.id
    yield _page(note.title)
    for value in _values(note.extra, ("aliases", "alias", "permalink")):
        yield _page(value)
    came = _MARKDOWN_NAME.search(note.source)
    if came:
        yield came.group(1)


def _linked(note: Note, text: str) -> Iterator[str]:
    """The notes that this one names."""
    yield from note.supersedes
    yield note.superseded_by
    for triplet in _front_matter(note):
        if triplet is not None:
            yield _page(triplet.target)
    yield from _wiki_names(text)


def _wiki_names(text: str) -> Iterator[str]:
    if "[[" not in text:
        return
    for target, alias in _WIKI.findall(_prose(text)):
        yield _page(target)
        yield alias


def _prose(text: str) -> str:
    """The text without code."""
    return _SPAN.sub("", _FENCED.sub("", text))


def _page(target: str) -> str:
    """The name that a link's target has for people: no folder, heading, block, alias or suffix."""
    name = re.split(r"[#^|]", target, maxsplit=1)[0].strip().strip("[]").rstrip("/").rpartition("/")[2]
    return re.sub(r"\.(?:md|markdown)$", "", name, flags=re.IGNORECASE).strip()


def _written(text: str) -> Iterator[str]:
    """Entities that the text names: spans in backticks first, then words shaped like code."""
    for span in _SPAN.findall(text) if "`" in text else ():
        yield from _span(span)
    shaped = _SHAPED.search
    for word in dict.fromkeys(text.split()):
        if shaped(word):
            yield from _word(word)


@lru_cache(maxsize=4_096)
def _span(span: str) -> tuple[str, ...]:
    """Entities of a span in backticks: one name, or what of a command is a flag or shaped like code."""
    words = span.split()
    if len(words) == 1:
        whole = words[0].strip("$@:&*!=,;()[]{}<>'\"")
        if _DOTFILE.fullmatch(whole):
            return tuple(_file(whole))
        if not _FILE.fullmatch(whole) and _IDENTIFIER.fullmatch(whole) and len(whole) <= LONGEST_NAME:
            return () if whole.lower() in _LITERALS else (_identifier(whole),)
    found: list[str] = []
    for word in words[:20]:
        found += [f"id:{flag.lower()}" for flag in _FLAG.findall(word.partition("=")[0])] if word[:2] == "--" else ()
        found += _word(word)
    return tuple(found)


@lru_cache(maxsize=4_096)
def _word(word: str) -> tuple[str, ...]:
    """Entities inside one run of text without spaces; the same words come again and again."""
    if len(word) > LONGEST_END or "://" in word:
        return ()
    found: list[str] = []
    for piece in _PIECE.findall(word):
        bare = piece.replace("\\", "/")
        if "." in bare and _FILE.fullmatch(bare):
            found += _file(bare)
        else:
            for name in _BREAK.split(bare):
                if 3 <= len(name) <= LONGEST_NAME and (_SNAKE.fullmatch(name) or _CAMEL.fullmatch(name)):
                    found.append(_identifier(name))
    return tuple(found)


def _identifier(name: str) -> str:
    """``getUser``, ``get-user`` and ``get_user()`` are one."""
    humps = _HUMP.sub("_", name.rstrip("()!?")).lower().replace("-", "_").replace("::", ".")
    return f"id:{_UNDERSCORES.sub('_', humps).strip('_')}"


def _file(path: str) -> list[str]:
    """The path, and its last name, since prompts seldom give the folder."""
    parts = [part for part in path.strip().lower().replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not parts or len(path) > LONGEST_END:
        return []
    return list(dict.fromkeys((f"file:{'/'.join(parts)[-LONGEST_NAME:]}", f"file:{parts[-1][-LONGEST_NAME:]}")))


# Relations


def _superseding(note: Note) -> Iterator[Triplet | None]:
    for older in note.supersedes:
        yield _triplet(note.id, "supersedes", older)
    yield _triplet(note.superseded_by, "supersedes", note.id)


def _front_matter(note: Note) -> Iterator[Triplet | None]:
    """Relations and links among the keys that chitta itself does not know."""
    own = note.title or note.id
    for key, value in note.extra:
        name = key.strip().lower().replace("-", "_") if isinstance(key, str) else ""
        if name in _RELATION_KEYS:
            for item in value if isinstance(value, list | tuple) else [value]:
                if isinstance(item, Mapping):
                    relation = next((item[word] for word in _TYPE_KEYS if item.get(word)), _RELATION_KEYS[name])
                    yield _triplet(item.get("source") or own, relation, item.get("target"))
        elif name == "links":
            for item in value if isinstance(value, list | tuple) else [value]:
                if isinstance(item, Mapping):
                    relation = next((item[word] for word in _TYPE_KEYS if item.get(word)), "links")
                    yield _triplet(own, relation, item.get("target"))
                else:
                    yield _triplet(own, "links", item)


def _text_relations(note: Note, text: str) -> Iterator[Triplet | None]:
    if "[[" not in text and "->" not in text and "→" not in text:
        return
    text = _FENCED.sub("", text)
    own = note.title or note.id
    for relation, target in _RELATION_LINE.findall(text):
        yield _triplet(own, relation, target)
    for source, relation, target in _ARROW.findall(text):
        yield _triplet(source, relation, target)
    for target, _ in _WIKI.findall(_RELATION_LINE.sub("", _SPAN.sub("", text))):
        yield _triplet(own, "links", target)


def _triplet(source: object, relation: object, target: object) -> Triplet | None:
    """A relation of these ends; None when one of the three says nothing."""
    if not isinstance(source, str) or not isinstance(relation, str) or not isinstance(target, str):
        return None
    ends = [one_line(_page(end) if end.strip().startswith("[[") else end.partition("#")[0], LONGEST_END)
            for end in (source, target)]  # fmt: skip
    kind = "_".join(relation.lower().replace("-", " ").replace("_", " ").split())[:LONGEST_RELATION]
    if not kind or not all(name_key(end) for end in ends):
        return None
    return Triplet(ends[0], kind, ends[1])


def _values(extra: Iterable[tuple[str, object]], keys: tuple[str, ...]) -> Iterator[str]:
    """Texts under these keys of front matter: one, or a list of them."""
    for key, value in extra:
        if key in keys:
            yield from (
                item for item in (value if isinstance(value, list | tuple) else [value]) if isinstance(item, str)
            )
