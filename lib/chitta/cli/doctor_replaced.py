"""Notes that nothing shows, since what replaced them is not there: which, and how they come back."""

from __future__ import annotations

from collections.abc import Iterator

from chitta.cli import output, replaced
from chitta.cli.finding import WARN, Finding
from chitta.recall.filters import named
from chitta.settings import Settings

#: Notes that the check names one by one, and characters of their ids.
_SHOWN = 10
_ID_CHARS = 80


def lone(settings: Settings) -> Iterator[Finding]:
    """A warning for each of the first, and one for the rest; nothing where all that was replaced has a successor."""
    notes = replaced.without_heir(settings)
    for note in notes[:_SHOWN]:
        name, heir = (output.one_line(one, _ID_CHARS) for one in (note.id, named(note.superseded_by)))
        todo = f"`chitta archive --restore {name}` brings it back, `chitta forget {name}` removes it"
        yield Finding("replaced", WARN, f"nothing shows {name}: it was replaced by {heir}, which is not there", todo)
    if len(notes) > _SHOWN:
        more = output.plural(len(notes) - _SHOWN, "more note")
        verb = "was" if len(notes) == _SHOWN + 1 else "were"
        yield Finding("replaced", WARN, f"{more} {verb} replaced by what is not there", "the same for each of them")
