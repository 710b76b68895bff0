"""A list of things to do that is done: one note for the list, not for each of its things."""

from __future__ import annotations

from collections.abc import Sequence

from chitta.capture.draft import TODO, Draft, whole_words
from chitta.capture.events import Todo
from chitta.capture.own_block import cut

#: Things that make a list worth a note: one alone is said by its commit.
LEAST = 2
_SHOWN = 20


class Lists:
    """The last list that was noted, so that one which is written twice is noted once."""

    def __init__(self, last: str = "") -> None:
        self.last = last

    def take(self, todos: Sequence[Todo]) -> Draft | None:
        """The note of a list where this made it whole."""
        draft = finished(todos)
        if draft is None or draft.key == self.last:
            return None
        self.last = draft.key
        return draft


def finished(todos: Sequence[Todo]) -> Draft | None:
    """The note of a list of :data:`LEAST` things or more that are all done."""
    texts = [whole_words(cut(todo.text), 160) for todo in todos]
    texts = list(dict.fromkeys(text for text in texts if text))
    if len(texts) < LEAST or not all(todo.done for todo in todos):
        return None
    title = f"Done: {texts[0]} (and {len(texts) - 1} more)"
    lines = "\n".join(f"- {text}" for text in texts[:_SHOWN])
    return Draft(TODO, title, f"Finished in one session:\n{lines}", "\n".join(sorted(texts)))
