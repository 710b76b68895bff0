"""Decision records in both forms: status, date, what supersedes what, and what was decided against."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.importing.decisions import detect, read
from chitta.importing.imported import Imported
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"


def nygard(number: int, title: str, status: str) -> str:
    return (
        f"# {number}. {title}\n\nDate: 2021-03-0{number}\n\n## Status\n\n{status}\n\n"
        "## Context\n\nWe need it.\n\n## Decision\n\nWe do it.\n\n## Consequences\n\nIt is done.\n"
    )


@pytest.fixture
def records(tmp_path: Path) -> Path:
    place = tmp_path / "repo" / "docs" / "adr"
    place.mkdir(parents=True)
    (place / "0001-record-decisions.md").write_text(nygard(1, "Record decisions", "Accepted"))
    (place / "0002-use-mysql.md").write_text(
        nygard(2, "Use MySQL", "Superseded by [3. Use Postgres](0003-use-postgres.md)")
    )
    (place / "0003-use-postgres.md").write_text(
        nygard(3, "Use Postgres", "Accepted\n\nSupersedes [2. Use MySQL](0002-use-mysql.md)")
    )
    (place / "0004-use-kafka.md").write_text(nygard(4, "Use Kafka", "Rejected"))
    (place / "0005-go-serverless.md").write_text(nygard(5, "Go serverless", "Proposed"))
    (place / "0000-template.md").write_text("# Title\n\n## Status\n")
    (place / "README.md").write_text("# Decisions\n")
    return place


def imported(path: Path) -> list[Imported]:
    return list(read(path, realm=REALM))


def notes(path: Path) -> dict[str, Note]:
    return {item.note.title: item.note for item in imported(path) if item.note is not None}


def test_each_record_is_a_decision_with_its_date_and_status(records: Path) -> None:
    found = notes(records)
    assert list(found) == [
        "Record decisions",
        "Use MySQL",
        "Use Postgres",
        "Decided against: Use Kafka",
        "Go serverless",
    ]
    assert {note.kind for note in found.values()} == {"decision"}
    assert found["Use Postgres"].created == "2021-03-03"
    assert found["Use Postgres"].source == "decision record docs/adr/0003-use-postgres.md"
    assert found["Use Postgres"].supersedes == (found["Use MySQL"].id,)
    assert found["Use MySQL"].superseded_by == found["Use Postgres"].id
    assert dict(found["Use MySQL"].extra)["status"] == "superseded"
    assert found["Go serverless"].confidence < found["Record decisions"].confidence


def test_what_was_decided_against_is_kept_and_said(records: Path) -> None:
    told = {Path(item.source).name: item.remark or item.problem for item in imported(records)}
    assert told == {
        "0000-template.md": "is a template",
        "0001-record-decisions.md": "",
        "0002-use-mysql.md": "",
        "0003-use-postgres.md": "",
        "0004-use-kafka.md": "was rejected: kept as what was decided against",
        "0005-go-serverless.md": "is only proposed",
        "README.md": "is the index of the folder",
    }


def test_madr_in_front_matter_and_in_lists(tmp_path: Path) -> None:
    place = tmp_path / "docs" / "decisions"
    place.mkdir(parents=True)
    (place / "0001-old.md").write_text(
        "---\nstatus: superseded by ADR-0002\ndate: 2022-05-06\n---\n# Use REST\n\n## Decision Outcome\n\nREST.\n"
    )
    (place / "0002-new.md").write_text(
        "# ADR-0002: Use gRPC\n\n* Status: accepted\n* Date: 2023-01-02\n\n## Decision Outcome\n\ngRPC.\n"
    )
    (place / "0003-lost.md").write_text(
        "# Use SOAP\n\n* Status: superseded by ADR-0099\n* Date: someday\n\n## Decision Outcome\n\nSOAP.\n"
    )
    found = notes(place)
    assert found["Use REST"].superseded_by == found["Use gRPC"].id
    assert [note.created for note in found.values()] == ["2022-05-06", "2023-01-02", ""]
    lost = imported(place)[2]
    assert lost.remark == "names a record that is not here: superseded by ADR-0099" and lost.file_day


def test_they_are_told_by_place_and_form_and_found_below_a_project(records: Path, tmp_path: Path) -> None:
    assert detect(records) and detect(records / "0002-use-mysql.md")
    project = records.parent.parent
    assert not detect(project)
    assert {note.id for note in notes(project).values()} == {note.id for note in notes(records).values()}
    other = tmp_path / "decisions"
    other.mkdir()
    (other / "2024-01-05-lunch.md").write_text("# Lunch\n\nWe decided on soup.\n")
    assert not detect(other)


def test_a_folder_without_any_says_where_it_looked(tmp_path: Path) -> None:
    (item,) = imported(tmp_path)
    assert item.problem == "has no decision records, nor docs/adr, docs/adrs, doc/adr with some"


def test_ids_hold_when_a_record_is_edited_or_read_alone(records: Path) -> None:
    before = notes(records)["Use Postgres"].id
    (records / "0003-use-postgres.md").write_text(nygard(3, "Use PostgreSQL 16", "Accepted"))
    (alone,) = notes(records / "0003-use-postgres.md").values()
    assert alone.id == before


def test_records_deep_in_a_repository_have_one_id_by_whichever_folder(records: Path) -> None:
    repo = records.parent.parent
    make_repository(repo)
    deep = repo / "packages" / "pay" / "docs" / "adr"
    (deep / "old").mkdir(parents=True)
    (deep / "0001-record-decisions.md").write_text(nygard(1, "Record decisions", "Accepted"))
    (deep / "old" / "0002-use-soap.md").write_text(nygard(2, "Use SOAP", "Accepted"))

    def ids(path: Path) -> set[str]:
        return {item.note.id for item in imported(path) if item.note is not None}

    assert ids(repo) == ids(records) | ids(deep) and not ids(records) & ids(deep)
    assert (
        ids(deep)
        == ids(repo / "packages")
        == ids(deep / "old" / "0002-use-soap.md") | ids(deep / "0001-record-decisions.md")
    )


def make_repository(folder: Path) -> None:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
