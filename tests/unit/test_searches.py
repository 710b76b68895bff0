"""Questions one after the other: what each is to the one before."""

from pathlib import Path

import pytest

from chitta import searches, settings

BEFORE = {"terms": ["deploy"], "ids": ["a", "b"]}


@pytest.mark.parametrize(
    ("terms", "ids", "seconds", "kind"),
    [
        (["deploy"], ["a"], 5.0, searches.RETRY),
        (["deploy"], ["a"], searches.WINDOW_S + 1, searches.NEW),
        (["rollback"], ["c"], 5.0, searches.FOLLOW_UP),
        (["rollback"], ["b", "c"], 5.0, searches.REFINED),
        (["rollback"], [], 5.0, searches.REFINED),
        (["rollback"], ["c"], -5.0, searches.NEW),
    ],
)
def test_kinds(terms: list[str], ids: list[str], seconds: float, kind: str) -> None:
    assert searches.kind_of(terms, ids, BEFORE, seconds) == kind
    assert searches.kind_of(terms, ids, None, 0.0) == searches.NEW


def test_only_questions_of_the_same_session_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = settings.load({"CHITTA_HOME": str(tmp_path)})
    kinds = []
    for session, question, ids in (("one", "how do we ship billing", ["a"]), ("two", "kafka retention", ["b"])) * 2:
        monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
        kinds.append(searches.note(told, question, None, ids, 1_800_000_000.0))
    assert kinds == [searches.NEW, searches.NEW, searches.RETRY, searches.RETRY]
    lines = searches.read(told.state_dir)
    assert [line["kind"] for line in lines] == kinds
    assert "how do we" not in (tmp_path / "state" / searches.NAME).read_text()


def test_nothing_is_kept_where_the_person_wants_none(tmp_path: Path) -> None:
    told = settings.load({"CHITTA_HOME": str(tmp_path), "CHITTA_GAP_LOG": "0"})
    assert searches.note(told, "kafka retention", None, [], 1.0) == ""
    assert not (tmp_path / "state").exists()
