"""A lane's answer: a header line, then rows, best first, as JSON lines.

Reading is forgiving and never raises: a lane may be a stranger's program, killed half-way, or
hostile. A bad line drops that row and is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from chitta.wire import codec

VERSION = 1
MAX_ROWS = 200
MAX_ID_CHARS = 200
MAX_TEXT_CHARS = 8_000
MAX_TITLE_CHARS = 300
MAX_TAGS = 16
MAX_CONFLICTS = 4
_MAX_SHARED = 64
_INFINITE = float("inf")
_LARGEST = 2**63

NOT_MEASURED = -1.0

#: What became of a lane: answered (with or without rows), or why not.
STATES = ("ok", "late", "unavailable", "misuse", "crash", "ablated")


class Row(NamedTuple):
    """One candidate memory.

    ``score`` is lane-local and never compared across lanes. The rest is absolute evidence:
    ``conf`` is the calibrated probability (0–1) that the note helps, ``cos`` the cosine of
    prompt and note, ``bm25`` the keyword score, ``coverage`` the idf-weighted share (0–1) of the
    prompt's terms that the note holds, ``shared`` the prompt's distinctive tokens found in it.
    -1 means not measured. ``conflicts_with`` are ids of notes that say otherwise.
    """

    id: str
    score: float
    kind: str = ""
    realm: str = "global"
    title: str = ""
    text: str = ""
    created: str = ""
    conf: float = NOT_MEASURED
    cos: float = NOT_MEASURED
    bm25: float = 0.0
    coverage: float = 0.0
    shared: tuple[str, ...] = ()
    superseded_by: str = ""
    quarantine: bool = False
    valid_until: str = ""
    source: str = ""
    confidence: float = 0.6
    why: str = ""
    only_mentioned: bool = False
    tags: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()


class Header(NamedTuple):
    """A lane's own facts.

    ``n`` rows found of ``k`` asked; ``maxrel`` the calibrated probability (0–1) that the store
    holds something relevant (hybrid and cross-realm, else None); ``exhausted`` when there were fewer
    notes than asked; ``size`` the notes that it looked among (0 when it does not say); ``warming``
    when the answer came without the models; ``ms`` the lane's own time.
    """

    lane: str
    n: int = 0
    k: int = 0
    maxrel: float | None = None
    exhausted: bool = False
    warming: bool = False
    ms: float = 0.0
    note: str = ""
    size: int = 0
    v: int = VERSION


class LaneResult(NamedTuple):
    """What merge knows of one lane after the wait."""

    lane: str
    state: str
    ms: float = 0.0
    header: Header | None = None
    rows: tuple[Row, ...] = ()
    bad_rows: int = 0


def encode_rows(header: Header, rows: Iterable[Row]) -> bytes:
    """The answer as JSON lines; values that say nothing are left out."""
    facts = {key: value for key, value in header._asdict().items() if value is not None and value is not False}
    lines = [codec.dumps({key: value for key, value in facts.items() if value != ""})]
    for row in rows:
        fields = row._asdict()
        slim = {key: value for key, value in fields.items() if value != _DEFAULTS.get(key)}
        lines.append(codec.dumps({"id": row.id, "score": row.score, **slim}))
    return b"\n".join(lines) + b"\n"


_DEFAULTS: dict[str, Any] = dict(Row._field_defaults)


def parse_rows(lane: str, state: str, ms: float, raw: bytes) -> LaneResult:
    """Read what a lane wrote. Any bytes are accepted; what cannot be used is dropped and counted.

    An answer in state ``ok`` that has no header of this version is a crash: nothing of it counts.
    """
    if state != "ok":
        return LaneResult(lane, state if state in STATES else "crash", ms)
    lines = raw.split(b"\n")
    header = _parse_header(lane, lines[0])
    if header is None:
        return LaneResult(lane, "crash", ms)
    rows: list[Row] = []
    bad = 0
    for line in lines[1:]:
        if not line.strip():
            continue
        row = _parse_row(line) if len(rows) < MAX_ROWS else None
        if row is None:
            bad += 1
        else:
            rows.append(row)
    return LaneResult(lane, "ok", ms, header, tuple(rows), bad)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = codec.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _parse_header(lane: str, line: bytes) -> Header | None:
    value = _object(line)
    if value is None or value.get("v") != VERSION or not isinstance(value.get("lane"), str):
        return None
    maxrel = _number(value.get("maxrel"), NOT_MEASURED)
    return Header(
        lane=lane,
        n=_count(value.get("n")),
        k=_count(value.get("k")),
        maxrel=maxrel if 0.0 <= maxrel <= 1.0 else None,
        exhausted=value.get("exhausted") is True,
        warming=value.get("warming") is True,
        ms=_number(value.get("ms"), 0.0),
        note=_words(value.get("note"), MAX_TITLE_CHARS),
        size=_count(value.get("size")),
    )


def _parse_row(line: bytes) -> Row | None:
    value = _object(line)
    if value is None:
        return None
    name, score = value.get("id"), _number(value.get("score"), _INFINITE)
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_ID_CHARS or score == _INFINITE:
        return None
    return Row(
        id=name,
        score=score,
        kind=_words(value.get("kind"), 40),
        realm=_words(value.get("realm"), MAX_ID_CHARS) or "global",
        title=_words(value.get("title"), MAX_TITLE_CHARS),
        text=_words(value.get("text"), MAX_TEXT_CHARS),
        created=_words(value.get("created"), 40),
        conf=min(_number(value.get("conf"), NOT_MEASURED), 1.0),
        cos=_number(value.get("cos"), NOT_MEASURED),
        bm25=_number(value.get("bm25"), 0.0),
        coverage=_number(value.get("coverage"), 0.0),
        shared=_list(value.get("shared"), _MAX_SHARED),
        superseded_by=_words(value.get("superseded_by"), MAX_ID_CHARS),
        quarantine=value.get("quarantine") is True,
        valid_until=_words(value.get("valid_until"), 40),
        source=_words(value.get("source"), MAX_TITLE_CHARS),
        confidence=_number(value.get("confidence"), 0.6),
        why=_words(value.get("why"), MAX_TITLE_CHARS),
        only_mentioned=value.get("only_mentioned") is True,
        tags=_list(value.get("tags"), MAX_TAGS),
        conflicts_with=tuple(name[:MAX_ID_CHARS] for name in _list(value.get("conflicts_with"), MAX_CONFLICTS)),
    )


def _words(value: Any, limit: int) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _list(value: Any, most: int) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str))[:most] if isinstance(value, list) else ()


def _count(value: Any) -> int:
    """A whole number as it stands; a large one would not survive being a float."""
    whole = isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST
    return int(value if whole else _number(value, 0))


def _number(value: Any, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    number = float(value) if abs(value) < 1e300 else _INFINITE
    return number if -_INFINITE < number < _INFINITE else default
