from __future__ import annotations

from chitta.curation.proof import MOST_SESSIONS, proved, sessions_of
from chitta.notes.note import Note

NOTE = Note("a", created="2025-01-01", extra=(("captured", "fix"), ("session", "s1"), ("sessions", ["s1"])))


def test_another_session_is_a_proof_and_the_same_is_none() -> None:
    twice = proved(NOTE, "s2", "2025-02-01")
    assert (twice.proof_count, twice.updated, sessions_of(twice)) == (2, "2025-02-01", ["s1", "s2"])
    assert proved(twice, "s1", "2025-03-01") == proved(twice, "s2", "2025-03-01") == twice
    assert proved(NOTE, "", "2025-03-01") == NOTE


def test_all_else_stays() -> None:
    kept = NOTE._replace(kind="bug-fix", authority="advisory", confidence=0.8, text="mine")
    new = proved(kept, "s2", "2025-02-01")
    back = new._replace(proof_count=1, updated="", extra=(*kept.extra[:2], ("sessions", ["s1"])))
    assert back == kept


def test_proofs_are_counted_past_the_sessions_that_are_kept() -> None:
    note = Note("a", proof_count=3)
    for number in range(30):
        note = proved(note, f"s{number}", "2025-02-01")
    assert note.proof_count == 33 and sessions_of(note) == [f"s{number}" for number in range(10, 30)]
    assert len(sessions_of(note)) == MOST_SESSIONS
