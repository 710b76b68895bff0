"""Values as other programs write them: days, lists, texts and degrees of trust, of whatever type.

Nothing raises; a value that means nothing gives the empty one.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone

from chitta.notes.imprint import digest
from chitta.notes.note import one_line, without_surrogates

#: Items of one list, and characters of one item, that are kept.
MAX_ITEMS = 50
MAX_ITEM = 200
#: Longest text that is looked at for a JSON list.
_MAX_JSON = 256 * 1024
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:$|[T\s])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
# Seconds since 1970 are below this until the year 5138; milli-, micro- and nanoseconds of our time are above.
_SECONDS = 1e11
_FALSE = frozenset({"", "0", "0.0", "false", "no", "none", "null", "off"})


def text_of(value: object) -> str:
    """A text or number as text, without control characters; anything else as nothing."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = without_surrogates(str(value)).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text).strip()


def day_of(value: object) -> str:
    """The ISO day of an ISO date or time as written, or of a count of (milli-, micro-, nano-) seconds since 1970."""
    text = text_of(value)
    written = _DAY.match(text)
    if written:
        try:
            return datetime(*map(int, written.groups())).date().isoformat()  # type: ignore[arg-type]
        except ValueError:
            return ""
    try:
        seconds = float(text)
    except ValueError:
        return ""
    if not math.isfinite(seconds) or seconds <= 0:
        return ""
    for unit in (1, 1e3, 1e6, 1e9):
        if seconds / unit < _SECONDS:
            return (_EPOCH + timedelta(seconds=seconds / unit)).date().isoformat()
    return ""


def list_of(value: object, *, commas: bool = True) -> tuple[str, ...]:
    """Texts of a list, of a list in JSON, of a text with commas (where ``commas``), or of a set; no repeats."""
    if isinstance(value, str | bytes):
        text = text_of(value)
        value = _json(text)
        if not isinstance(value, list | Mapping):
            value = text.split(",") if commas else [text]
    if isinstance(value, Mapping):
        value = [key for key, held in value.items() if held is not False]
    items: Iterable[object] = value if isinstance(value, list | tuple | set) else [value]
    found = (one_line(text_of(_named(item)), MAX_ITEM) for item in items)
    return tuple(dict.fromkeys(item for item in found if item))[:MAX_ITEMS]


def mapping_of(value: object) -> dict[str, object]:
    """A mapping, or one in JSON; else an empty one."""
    if isinstance(value, str | bytes):
        value = _json(text_of(value))
    return {str(key): held for key, held in value.items()} if isinstance(value, Mapping) else {}


def trust_of(value: object, default: float) -> float:
    """A share of 1; a number above 1 is one of 10, above 10 one of 100 (the scales that programs use)."""
    try:
        number = float(text_of(value))
    except ValueError:
        return default
    if not math.isfinite(number) or number < 0:
        return default
    for scale in (1, 10, 100):
        if number <= scale:
            return round(number / scale, 4)
    return default


def truth_of(value: object) -> bool:
    """Whether a flag is set: anything but nothing and a clear no."""
    return value is True or text_of(value).lower() not in _FALSE


def row_digest(row: Mapping[str, object]) -> str:
    """The digest of a row or object, the same whatever the order of its keys."""
    return digest(json.dumps(row, sort_keys=True, default=str).encode())


def _named(item: object) -> object:
    """An item, or the name of one that is a mapping."""
    if isinstance(item, Mapping):
        return next((item[key] for key in ("name", "text", "value", "title") if isinstance(item.get(key), str)), "")
    return item


def _json(text: str) -> object:
    if len(text) > _MAX_JSON or text[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
