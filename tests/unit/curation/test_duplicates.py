from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chitta.curation.duplicates import CONTRARY, NEAR, SAME, twins
from chitta.notes.note import Note
from chitta.recall.diversify import DOUBLE_COSINE

SAID = "Run database migrations with alembic upgrade head, then restart every worker, queue and web service by systemd"
NEW = Note("new", title=SAID, text=SAID)


def hows(new: Note, *others: Note, cosines: dict[str, float] | None = None) -> dict[str, str]:
    return {twin.note.id: twin.how for twin in twins(new, others, cosines)}


def test_the_same_text_is_the_same_whatever_its_title_and_white_space() -> None:
    other = Note("old", title="Migrations", text=SAID.replace(" ", "\n"))
    (found,) = twins(NEW, [other])
    assert (found.note, found.how, found.likeness) == (other, SAME, 1.0)


def test_near_by_words_alone() -> None:
    assert hows(NEW, Note("old", text=f"{SAID} always")) == {"old": NEAR}
    assert hows(NEW, Note("old", text=f"{SAID} on Mondays with pytest and mypy and ruff installed")) == {}


def test_near_by_meaning_from_the_threshold_on() -> None:
    other = Note("old", title="Alembic", text="Bring the schema level, then ship it.")
    assert hows(NEW, other, cosines={"old": DOUBLE_COSINE}) == {"old": NEAR}
    assert hows(NEW, other, cosines={"old": DOUBLE_COSINE - 0.001}) == {}


def test_a_negated_title_is_the_contrary_however_near_it_is() -> None:
    new, old = Note("new", title="Always squash release commits"), Note("old", title="Never squash release commits")
    assert hows(new, old, cosines={"old": 0.99}) == {"old": CONTRARY}
    assert hows(new, old._replace(title="Never sign release commits")) == {}


def test_itself_and_what_is_retired_are_no_twins() -> None:
    gone = (NEW._replace(id="a", superseded_by="b"), NEW._replace(id="c", extra=(("status", "archived"),)))
    assert hows(NEW, NEW, *gone) == {}
    assert hows(NEW, NEW._replace(realm="project:x.org/a")) == {"new": SAME}, "an id of another realm is another note"


def test_the_likest_comes_first_and_each_once() -> None:
    same, near = NEW._replace(id="z"), NEW._replace(id="a", text=f"{SAID} always", title=f"{SAID} always")
    assert [twin.note.id for twin in twins(NEW, [near, same, near])] == ["z", "a"]


@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60), st.floats(0, 1))
def test_whatever_is_said_likeness_is_bounded_and_the_order_does_not_matter(
    texts: list[str], text: str, cosine: float
) -> None:
    others = [Note(f"n{number}", text=one) for number, one in enumerate(texts)]
    found = twins(Note("x", text=text), others, {"n0": cosine})
    assert all(0 <= twin.likeness <= 1 for twin in found)
    assert found == twins(Note("x", text=text), list(reversed(others)), {"n0": cosine})
