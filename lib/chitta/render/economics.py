"""What a note costs to read, and what finding it out again would cost: estimates in tokens.

Formulas, averages and glyphs are reflect's. A token is taken for four characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chitta.notes.note import Note

CHARS_PER_TOKEN = 4
#: Tokens that it took on average to learn what a note of a kind holds; of all others :data:`OTHER_DISCOVERY`.
DISCOVERY: dict[str, int] = {
    "bug-fix": 3000,
    "anti-pattern": 2500,
    "correction": 2000,
    "pattern": 1500,
    "decision": 1200,
}
OTHER_DISCOVERY = 1500
DISCOVERY_KEY = "discovery_tokens"
GLYPHS: dict[str, str] = {"correction": "⌕", "pattern": "⌕", "bug-fix": "⚒", "decision": "⚖", "anti-pattern": "⚠"}
NO_GLYPH = "·"
_MOST_TOKENS = 1_000_000_000


class Cost(NamedTuple):
    """Tokens to find one note's content out again, and to read it."""

    kind: str
    discovery: int
    reading: int

    @property
    def line(self) -> str:
        """``⚒ D:3000 → R:180 (-94%)``; a note that costs more to read than to find out has a plus."""
        change = round((self.reading - self.discovery) / self.discovery * 100)
        return f"{GLYPHS.get(self.kind, NO_GLYPH)} D:{self.discovery} → R:{self.reading} ({change:+d}%)"


def cost_of(note: Note) -> Cost:
    """A note's cost: what its front matter says it took to learn, else the average of its kind."""
    reading = max(1, (len(note.title) + len(note.text)) // CHARS_PER_TOKEN)
    return Cost(note.kind, _stated(note) or DISCOVERY.get(note.kind, OTHER_DISCOVERY), reading)


def totals(costs: Iterable[Cost]) -> str:
    """``2 notes, ~320 tokens in full, est ~3,880 saved``, of the notes that are really shown."""
    shown = list(costs)
    injected = sum(cost.reading for cost in shown)
    saved = sum(cost.discovery for cost in shown) - injected
    return f"{len(shown)} note{'' if len(shown) == 1 else 's'}, ~{injected:,} tokens in full, est ~{saved:,} saved"


def _stated(note: Note) -> int:
    value = dict(note.extra).get(DISCOVERY_KEY)
    text = str(value).strip() if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    return min(int(text), _MOST_TOKENS) if text.isascii() and text.isdigit() and len(text) < 12 else 0
