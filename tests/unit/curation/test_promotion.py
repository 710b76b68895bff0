from __future__ import annotations

import pytest

from chitta.curation.promotion import as_waiting, is_captured, kept, released, suggested_kind, waiting
from chitta.notes.note import KNOWLEDGE_KINDS, Note


def captured(name: str, what: str = "fix", session: str = "s1", **fields: object) -> Note:
    extra = (("captured", what), ("session", session), ("sessions", [session]))
    note = Note(name, kind="operational", authority="captured", confidence=0.3, created="2025-01-01", extra=extra)
    return note._replace(**fields)  # type: ignore[arg-type]


def test_captured_quarantined_and_doubted_notes_wait_and_no_others() -> None:
    held = Note("q", quarantine=True, extra=(("suspected", ["asks to ignore rules"]),))
    states = {
        one.note.id: (one.state, one.reasons) for one in waiting([captured("c"), held, Note("d", authority="doubted")])
    }
    assert states == {"c": ("captured", ()), "q": ("quarantined", ("asks to ignore rules",)), "d": ("doubted", ())}
    assert waiting([Note("a"), captured("b", superseded_by="a")]) == []


def test_the_newest_session_comes_first_and_together_or_the_most_proved() -> None:
    notes = [
        captured("a", session="old", created="2025-01-01"),
        captured("b", session="new", created="2025-01-02", proof_count=2),
        captured("c", session="old", created="2025-01-03", proof_count=4),
        captured("d", session="newest", created="2025-01-04"),
    ]
    assert [one.note.id for one in waiting(notes)] == ["d", "c", "a", "b"]
    assert [one.note.id for one in waiting(notes, proved_first=True)] == ["c", "b", "d", "a"]


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("fix", "bug-fix"),
        ("correction", "correction"),
        ("preference", "preference"),
        ("todo", "episode"),
        ("commit", "episode"),
    ],
)
def test_keeping_makes_it_knowledge_of_ones_own(what: str, kind: str) -> None:
    note = captured("a", what, text="t", tags=("x",))
    new = kept(note, suggested_kind(note), "2025-02-01")
    assert (new.kind, new.authority, new.confidence, new.updated) == (kind, "advisory", 0.6, "2025-02-01")
    assert new.kind in (*KNOWLEDGE_KINDS, "episode") and (new.text, new.tags, new.extra) == ("t", ("x",), note.extra)
    assert as_waiting(new) is None and is_captured(new)


def test_a_kept_correction_fires() -> None:
    note = captured("a", "correction", wrong="npm install", right="pnpm install")
    assert kept(note, "correction", "2025-02-01").triggers == ("npm install",)
    assert kept(note._replace(triggers=("npm i",)), "correction", "2025-02-01").triggers == ("npm i",)


def test_release_takes_only_the_quarantine() -> None:
    note = captured("a", quarantine=True)
    held = note._replace(extra=(*note.extra, ("suspected", ["x"])))
    assert released(note) == note._replace(quarantine=False)
    trusted = (*note.extra, ("trusted", True))
    assert released(held) == note._replace(quarantine=False, extra=trusted), "else the next indexing holds it again"
    assert not kept(held, "insight", "2025-02-01").quarantine


def test_a_kind_of_knowledge_is_suggested_as_it_is() -> None:
    assert suggested_kind(Note("a", kind="decision", quarantine=True)) == "decision"
