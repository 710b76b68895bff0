"""What a person gave a command to keep, without secrets and private spans; what was taken out is said."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from chitta.cli import output
from chitta.cli.failure import Misuse
from chitta.notes.correction import triggers_for
from chitta.notes.note import Note, one_line

#: What stands in the place of a secret.
_TAKEN_OUT = re.compile(r"\[redacted: [^\]\n]*\]")


def of_note(body: str, title: str, *others: str) -> list[str]:
    """The texts without secrets and private spans, of which one may begin in the title; the person is told what was
    taken out."""
    from chitta.safety.private import without_private, without_private_in
    from chitta.safety.secrets import redact

    given = (title, body, *others)
    title, body = without_private_in((title, body))
    left = (title, body, *map(without_private, others))
    done = [redact(text) for text in (body, title, *left[2:])]
    kinds = dict.fromkeys(kind for one in done for kind in one.found)
    _tell(given, left, kinds)
    if not done[0].text.strip():
        raise Misuse("all of the text is private", "what stands in <private>…</private> is never kept")
    return [one.text.strip() for one in done]


def of_correction(wrong: str, right: str, why: str) -> tuple[str, str, str]:
    """The three without secrets and private spans, each looked for in all of them; the person is told what was taken
    out.
    """
    from chitta.safety.cleaning import without_secrets
    from chitta.safety.private import without_private

    clean, kinds = without_secrets(Note("", text=why, wrong=wrong, right=right))
    given = (wrong, right, why)
    _tell(given, tuple(map(without_private, given)), kinds)
    for name, before, after in (("--wrong", wrong, clean.wrong), ("--right", right, clean.right)):
        if before.strip() and not after.strip():
            raise Misuse(f"all of {name} is private", "what stands in <private>…</private> is never kept")
    return clean.wrong, clean.right, clean.text


def triggers_of(wrong: str) -> tuple[str, ...]:
    """What to listen for where something was taken out, since nobody types what stands in its place; else nothing."""
    return triggers_for(one_line(_TAKEN_OUT.sub(" ", wrong))) if _TAKEN_OUT.search(wrong) else ()


def refuse_telling(name: str) -> None:
    """Raises :class:`Misuse` for an id that holds a secret or a private span: it names the file and stands beside the
    note wherever that is shown.
    """
    from chitta.safety.names import masked
    from chitta.safety.private import without_private

    if without_private(name) != name:
        raise Misuse("what is private has no place in an id", "give --id another name, or leave it out")
    if kinds := masked(name).found:
        raise Misuse(f"that id holds what looks like a secret ({', '.join(kinds)})", "give --id another name")


def _tell(given: Sequence[str], left: Sequence[str], kinds: Collection[str]) -> None:
    """What was taken out: private spans of ``given``, where ``left`` is another, and secrets of these kinds."""
    if tuple(given) != tuple(left):
        output.tell("chitta: left out what is marked as private")
    if kinds:
        output.tell(f"chitta: took out what looks like a secret ({', '.join(kinds)}); --as-is keeps it")
