"""Which notes may be in an answer at all, and the two kinds of question that are about the person's own doings."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta, timezone

from chitta.notes.note import Note
from chitta.recall.fuse import Ranking
from chitta.recall.overlap import content_terms

#: The kind of a captured prompt: what the person asked for, not what anyone learned.
PROMPT = "prompt"
#: The kind of which nothing is ever an answer: what hooks write down about themselves.
SESSION = "session"
#: Values of ``superseded_by`` that mean nobody.
NOBODY = frozenset({"", "null", "none", "nil", "~", "false", "no", "n/a", "-", "[]", "{}", "''", '""'})
#: Values of the front-matter key ``status`` that retire a note (reflect).
RETIRED_STATUSES = frozenset({"superseded", "archived"})

#: Front-matter key that names notes which say otherwise.
CONFLICTS_WITH = "conflicts_with"

_DAY_CHARS = len("2026-01-31")
_NO = NOBODY | {"0", "off"}

_LEAD = r"(?:(?:so|ok(?:ay)?|hey|hi|and|well|remind me|tell me|please|again)\b[\s,:]*)*"
_NOW = r"(?:right\s+now|just\s+now|now|today|currently|at\s+the\s+moment|these\s+days|at\s+present|again|exactly)"
_BEFORE = r"(?:before|earlier|last(?:\s+time)?|previously|before\s+(?:lunch|the\s+break|i\s+left|we\s+stopped|this))"
_ABOUT_NOW = re.compile(
    rf"""{_LEAD}(?:
        what(?:\s+(?:am|are|was|were)|['’]re)\s+(?:i|we|you)\s+(?:just\s+|currently\s+|actually\s+|now\s+)*
        (?:working\s+on|doing|up\s+to|busy\s+with|in\s+the\s+middle\s+of|focus(?:s?ed|s?ing)\s+on|about\s+to\s+do)
        | what\s+have\s+(?:i|we)\s+been\s+(?:working\s+on|doing|up\s+to)
        | where\s+(?:was|were|am|are)\s+(?:i|we)
        | where\s+did\s+(?:i|we)\s+(?:leave\s+(?:it\s+|things\s+)?off|stop|get\s+to)
        | what(?:['’]s|\s+is)\s+(?:(?:my|our|the)\s+)?(?:current\s+(?:task|work|focus)|in\s+progress|going\s+on)
        | what(?:['’]s|\s+is)\s+the\s+status
    )(?:[\s,]+(?:{_NOW}|{_BEFORE}))*\s*[?.!]*""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_FOR = re.compile(
    r"""\b(?:
        (?:what|which|when|where)\b.{0,40}\b(?:did|have|had)\s+(?:i|we)\s+(?:(?:just|already|ever|last|first)\s+)?
        (?:ask|asked|request|requested|prompt|prompted|type|typed)\b
        | (?:did|have)\s+i\s+(?:(?:already|ever)\s+)?(?:ask|asked|request|requested|prompt|prompted)\b
        | my\s+(?:(?:last|latest|recent|earlier|previous|past|own|old|first)\s+)+(?:prompts?|requests?|questions?)\b
        | (?:list|show|find)\s+(?:me\s+)?(?:all\s+)?my\s+(?:prompts|requests|questions)\b
        | (?:what|which|how\s+many)\s+(?:prompts?|requests?|questions?)\s+(?:did|have)\s+i\b
        | what\s+(?:was|were)\s+my\s+(?:prompts?|requests?|questions?)\b
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def drop_cause(
    note: Note,
    *,
    now: datetime,
    kinds: Collection[str] = (),
    min_confidence: float = 0.0,
    include_quarantined: bool = False,
    include_superseded: bool = False,
    realms: Collection[str] = (),
) -> str | None:
    """Why the note may not be in the answer; None when it may.

    The first of: ``realm``, ``superseded``, ``quarantined``, ``expired``, ``confidence``, ``kind``,
    ``bookkeeping``. Empty ``kinds`` and ``realms`` allow all. ``now`` without a time zone is UTC.
    """
    if realms and note.realm not in realms:
        return "realm"
    if not include_superseded and is_retired(note):
        return "superseded"
    if note.quarantine and not include_quarantined:
        return "quarantined"
    if is_expired(note, now):
        return "expired"
    if note.confidence < min_confidence:
        return "confidence"
    if kinds and note.kind not in kinds:
        return "kind"
    return "bookkeeping" if is_bookkeeping(note) else None


def is_retired(note: Note) -> bool:
    """Whether the note says of itself that another one has its place: ``superseded_by``, or its status."""
    status = str(dict(note.extra).get("status") or "").strip().lower()
    return named(note.superseded_by) != "" or status in RETIRED_STATUSES


def named(superseded_by: str) -> str:
    """The id that ``superseded_by`` names, or "" where its value means nobody (``null``, ``none``, …)."""
    value = superseded_by.strip()
    return "" if value.lower() in NOBODY else value


def contradicted(note: Note) -> tuple[str, ...]:
    """Ids of the notes that say otherwise: another machine's version of it, until a person has chosen."""
    said = dict(note.extra).get(CONFLICTS_WITH)
    return tuple(str(one) for one in said if one) if isinstance(said, list) else ()


def newest_of_circle(name: str, notes: Mapping[str, Note]) -> str:
    """Of notes that replaced each other in a circle, the newest, which counts as current; ties by id.

    "" where this note's chain of successors, as far as ``notes`` (by id) hold it, does not lead back to it.
    """
    chain = [name]
    while (note := notes.get(chain[-1])) is not None and (heir := named(note.superseded_by)):
        if heir == name:
            return max(chain, key=lambda one: (touched(notes[one]) or _EVER, one))
        if heir in chain:
            return ""
        chain.append(heir)
    return ""


def is_expired(note: Note, now: datetime) -> bool:
    """Whether ``valid_until`` is at or before ``now``; a bare date lasts to the end of its day (UTC)."""
    end = moment(note.valid_until)
    if end is None:
        return False
    now = now if now.tzinfo else now.replace(tzinfo=timezone.utc)
    try:
        return (end + timedelta(days=1) if len(note.valid_until.strip()) == _DAY_CHARS else end) <= now
    except OverflowError:  # the last day of the calendar
        return False


def is_bookkeeping(note: Note) -> bool:
    """Whether a hook wrote the note about itself: of kind ``session``, or flagged ``bookkeeping`` when it was saved."""
    return note.kind == SESSION or is_set(note, "bookkeeping")


def is_set(note: Note, key: str) -> bool:
    """Whether an unknown front-matter key is there with a value that means yes."""
    value = dict(note.extra).get(key)
    return value is not None and value != [] and value != {} and str(value).strip().lower() not in _NO


def without_copies(ranking: Ranking, notes: Mapping[str, Note]) -> list[tuple[str, float]]:
    """The ranking without what is word for word a retired note of it under another id; the retired ones stay.

    What replaced a retired note stays too: its text may have gone back to what it was, and of long notes only the
    beginning is compared here.
    """
    gone: dict[str, list[Note]] = {}
    for name, _ in ranking:
        if (note := notes.get(name)) is not None and is_retired(note):
            gone.setdefault(content_hash(note), []).append(note)
    if not gone:
        return list(ranking)
    return [
        (name, score)
        for name, score in ranking
        if (note := notes.get(name)) is None
        or is_retired(note)
        or (like := gone.get(content_hash(note))) is None
        or any(old.superseded_by.strip() == name or old.id in note.supersedes for old in like)
    ]


def requests_last(ranking: Ranking, kinds: Mapping[str, str], first: bool = False) -> list[tuple[str, float]]:
    """The ranking with captured prompts below every saved memory, or above all when ``first``.

    ``kinds`` gives each id's kind; ``first`` is for a question that asks for prompts
    (:func:`asks_for_prompts`). Order within the two groups stays; scores never rise and stay descending.
    """
    prompts = [item for item in ranking if kinds.get(item[0]) == PROMPT]
    saved = [item for item in ranking if kinds.get(item[0]) != PROMPT]
    above, below = (prompts, saved) if first else (saved, prompts)
    floor = min((score for _, score in above), default=float("inf"))
    return above + [(name, min(score, floor)) for name, score in below]


def asks_for_prompts(query: str) -> bool:
    """Whether the question is about what the person asked for earlier: "what did I ask for yesterday?"."""
    return _ASKED_FOR.search(query[:500]) is not None


def about_now(query: str) -> bool:
    """Whether the whole question is about what the person is or was just doing: "what am I working on?".

    Its answer shares no word with it, so newest memories answer it (SuperLocalMemory). A question
    that names a subject ("latest authentication design", "what was I doing wrong here") is none.
    """
    return len(query) <= 200 and _ABOUT_NOW.fullmatch(query.strip()) is not None


def asks_only_when(text: str) -> bool:
    """Whether a question without its time ("what did I note" of "what did I note last week?") names no subject."""
    return content_terms(text) <= _NO_SUBJECT


def asks_for_newest(query: str) -> bool:
    """Whether the question asks for the newest of something: "latest notes", "what is new?"."""
    return _NEWEST.search(query[:200]) is not None


def newest_first(notes: Iterable[Note]) -> list[Note]:
    """Saved memories by the later of ``updated`` and ``created``, newest first, ties by id; undated ones last.

    Captured prompts and bookkeeping are left out.
    """
    real = sorted(
        (note for note in notes if note.kind != PROMPT and not is_bookkeeping(note)), key=lambda note: note.id
    )
    return sorted(real, key=lambda note: touched(note) or _EVER, reverse=True)


def touched(note: Note) -> datetime | None:
    """The later of ``created`` and ``updated``, in UTC; None where neither is a date."""
    dates = [date for date in (moment(note.created), moment(note.updated)) if date is not None]
    return max(dates, default=None)


def moment(text: str) -> datetime | None:
    """An ISO 8601 date or time; UTC unless it names an offset, midnight unless it names an hour; None for no date."""
    text = text.strip()
    try:
        found = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in ("z", "Z") else text)
        return found.replace(tzinfo=timezone.utc) if found.tzinfo is None else found.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def content_hash(note: Note) -> str:
    """A digest (16 hex characters) of what the note says: title, text, wrong and right, white space and form aside.

    Upper case counts: ``-d`` and ``-D`` are two options. A heading that repeats the title does not.
    """
    title, text = (" ".join(unicodedata.normalize("NFKC", part).split()) for part in (note.title, note.text))
    text = text.removeprefix(f"# {title}").strip() if title else text
    said = "\n".join((title, text, *(" ".join(part.split()) for part in (note.wrong, note.right))))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_NEWEST = re.compile(r"\b(?:latest|newest|most\s+recent|what(?:['’]s|\s+is)\s+new)\b", re.IGNORECASE)
#: Words of a question about the store itself, of any subject.
_NO_SUBJECT = content_terms(
    "note notes noted write written wrote learn learned learnt decide decided decision decisions work worked working "
    "do did done happen happened save saved remember remembered record recorded add added know known new latest recent "
    "newest last first thing things stuff anything everything something memory memories insight insights all list tell "
    "date dated between during since until before after"
)
_EVER = datetime.min.replace(tzinfo=timezone.utc)
