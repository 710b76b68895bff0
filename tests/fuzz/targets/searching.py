"""Words to a query: what a person typed reaches the index as terms, and is never parsed as a query."""

from __future__ import annotations

from functools import cache

import tantivy
from tests.fuzz.kind import Target, must, text_of
from tests.fuzz.places import samples, scratch

from chitta.index.keyword import KeywordIndex, KeywordWriter, note_terms
from chitta.index.terms import QUERY_LIMIT, analyse
from chitta.notes.note import Note


class _NoParser:
    """Stands in for tantivy's index, of which only what parses a query is missing."""

    def __getattr__(self, name: str) -> object:
        must(not name.startswith("parse_query"), "a query is parsed", name)
        return getattr(tantivy.Index, name)


@cache
def _index() -> KeywordIndex:
    path = str(scratch("index"))
    writer = KeywordWriter(path)
    for number, text in enumerate(_TEXTS):
        writer.put(
            Note(f"note-{number}", "wisdom" if number % 2 else "pattern", title=text[:20], text=text, tags=("a",))
        )
    writer.commit()
    writer.close()
    import chitta.index.keyword

    opened = KeywordIndex.open(path)
    setattr(chitta.index.keyword, "tantivy", _Module())  # noqa: B010
    return opened


class _Module:
    Index = _NoParser()

    def __getattr__(self, name: str) -> object:
        return getattr(tantivy, name)


def queries(data: bytes) -> None:
    text = text_of(data)
    index = _index()
    terms = analyse(text)
    must(len(terms.words) + len(terms.exact) <= 2 * QUERY_LIMIT, "too many terms", len(terms.words))
    must(all(term and not term.isspace() and " " not in term for term in terms.all), "a term with a blank", terms)
    found = index.search(terms, limit=5)
    must(len(found) <= 5 and found == sorted(found, key=lambda hit: (-hit.score, hit.id)), "hits out of order", found)
    must(index.search(terms, limit=5) == found, "the same question, another answer", text)
    must(not terms.words or all(hit.score > 0 for hit in found), "a hit without a score", found)
    index.search(terms, realm=text[:200] or None, kinds=[text[:200]], limit=3)
    index.idf(terms.all[:20])
    index.notes([text[:200], "note-0"])


def terms(data: bytes) -> None:
    """A note is found by the words of its own title."""
    title, _, text = text_of(data).partition("\n")
    title = title[:1000]
    held = set(note_terms(Note("x", title=title, text=text)))
    must(set(analyse(title).words) <= held, "a title's words do not find it", title, held)


_TEXTS = (
    "Deploy with make ship, never by hand",
    "Use tabs, not spaces: gofmt",
    "user_id and userId in src/app.py::run",
    "数据库 migration 用 alembic upgrade head",
    "C++ and C# and .NET 8",
    "git push --force-with-lease",
    "AND OR NOT NEAR",
    'say "hello" (world) [brackets] {braces} field:value',
    "emoji 😀 naïve café",
    "1.2.3-rc.1 v2026",
)
_QUERY = (
    b"AND ",
    b"OR ",
    b"NOT ",
    b'"',
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b":",
    b"~2",
    b"^3",
    b"*",
    b"?",
    b"\\",
    b"+",
    b"-",
    b"TO",
    b"field:",
    b"/re/",
    b"IN [",
    b"_",
    b"::",
)

TARGETS = (
    Target(
        "queries",
        queries,
        lambda: [
            *(text.encode() for text in _TEXTS),
            b"((((((((((",
            b'title:"a b"~2 AND [a TO b] OR {x',
            b"/a.*b/ id:IN [1 2]",
        ],
        _QUERY,
    ),
    Target(
        "terms", terms, lambda: [text.encode() for text in _TEXTS] + samples("lib/chitta/samples/notes/**/*.md"), _QUERY
    ),
)
