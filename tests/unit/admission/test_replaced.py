"""What was replaced stands below what replaced it, whichever lanes they come from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chitta.admission.replaced import replaced_below
from chitta.admission.verdict import Admitted
from chitta.wire.rows import Row

OLD = Admitted(
    Row("old", 1.0, title="Always squash branches before the merge", created="2026-01-02", tags=("git",)), "kw", "bm25"
)
NEW = Admitted(
    Row("new", 1.0, title="Never squash branches before the merge", created="2026-05-02", tags=("git",)), "sem", "cos"
)
OTHER = Admitted(Row("other", 1.0, title="Colours of the shed", created="2026-03-01"), "hyb", "cos")


def names(rows: tuple[Admitted, ...]) -> list[str]:
    return [item.row.id for item in rows]


def test_the_newer_of_two_that_contradict_each_other_is_above() -> None:
    assert names(replaced_below([OLD, OTHER, NEW])) == ["other", "new", "old"]
    assert names(replaced_below([NEW, OTHER, OLD])) == ["new", "other", "old"]


def test_rows_that_agree_keep_their_order() -> None:
    assert names(replaced_below([OLD, OTHER])) == ["old", "other"]
    assert replaced_below([]) == () and replaced_below([NEW]) == (NEW,)


@given(st.permutations([OLD, NEW, OTHER]))
def test_nothing_is_lost_and_the_loser_is_never_above(rows: list[Admitted]) -> None:
    found = names(replaced_below(rows))
    assert sorted(found) == ["new", "old", "other"]
    assert found.index("new") < found.index("old")
