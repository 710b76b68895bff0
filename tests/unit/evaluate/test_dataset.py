"""Data sets: which files belong together, what a line holds, and what is said of a line that is wrong."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from chitta.evaluate.dataset import MAX_GRADE, BadDataset, Query, read_dataset, read_lines, splits_of

QRELS = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of two documents, each the answer to one query."""
    place = tmp_path / "small"
    place.mkdir()
    lines(place / "corpus.jsonl", {"id": "d1", "title": "One", "text": "first"}, {"id": "d2", "text": "second"})
    lines(place / "queries.jsonl", {"id": "q1", "text": "which is first"}, {"id": "q2", "question": "and second?"})
    (place / "qrels.tsv").write_text(QRELS + "q1\td1\t2\nq2\td2\t1\n")
    return place


def lines(path: Path, *rows: object) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_documents_queries_and_judgements(folder: Path) -> None:
    found = read_dataset(str(folder))
    assert found.name == "small" and (found.unjudged, found.titles_left_out) == (0, False)
    assert [(note.id, note.realm, note.title, note.text) for note in found.notes] == [
        ("d1", "global", "One", "first"),
        ("d2", "global", "", "second"),
    ]
    assert found.queries == (Query("q1", "which is first", None), Query("q2", "and second?", None))
    assert found.judgements == {"q1": {"d1": 2}, "q2": {"d2": 1}}


@pytest.mark.parametrize("key", ["text", "question", "prompt", "query"])
def test_a_query_by_any_of_its_names(folder: Path, key: str) -> None:
    lines(folder / "queries.jsonl", {"id": "q1", key: "asked"})
    assert read_dataset(str(folder)).queries == (Query("q1", "asked", None),)


def test_queries_without_a_judgement_are_left_out_and_counted(folder: Path) -> None:
    (folder / "qrels.tsv").write_text(QRELS + "q1\td1\t1\nq2\td2\t0\n\n")
    found = read_dataset(str(folder))
    assert [query.id for query in found.queries] == ["q1"] and found.unjudged == 1
    assert found.judgements == {"q1": {"d1": 1}}


def test_queries_and_judgements_of_one_name_are_a_split(folder: Path) -> None:
    lines(folder / "queries_dev.jsonl", {"id": "q9", "text": "of dev"})
    (folder / "qrels_dev.tsv").write_text(QRELS + "q9\td1\t1\n")
    lines(folder / "queries_alone.jsonl", {"id": "q8", "text": "without judgements"})
    assert list(splits_of(folder)) == ["", "dev"]
    assert read_dataset(f"{folder}:dev").name == "small-dev"
    with pytest.raises(BadDataset, match="has the splits , dev: say which"):
        read_dataset(str(folder))
    with pytest.raises(BadDataset, match="has no split 'nine'"):
        read_dataset(f"{folder}:nine")


def test_the_split_test_is_taken_where_none_is_named(folder: Path) -> None:
    for split, query in (("test", "q1"), ("train", "q2")):
        lines(folder / f"queries_{split}.jsonl", {"id": query, "text": "x"})
        (folder / f"qrels_{split}.tsv").write_text(QRELS + f"{query}\td1\t1\n")
    found = read_dataset(str(folder))
    assert found.name == "small-test" and [query.id for query in found.queries] == ["q1"]


def test_a_folder_whose_name_holds_a_colon(folder: Path) -> None:
    place = folder.rename(folder.with_name("a:b"))
    assert read_dataset(str(place)).name == "a:b"


def test_without_documents_it_is_asked_of_the_persons_own_notes(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    found = read_dataset(str(folder))
    assert found.notes == () and len(found.queries) == 2
    lines(folder / "notes.jsonl", {"id": "d1", "text": "first", "date": "2026-01-02"})
    assert [(note.id, note.created) for note in read_dataset(str(folder)).notes] == [("d1", "2026-01-02")]


def test_conversations_are_realms_and_each_query_is_asked_in_its_own(folder: Path) -> None:
    lines(folder / "corpus.jsonl", {"id": "d1", "text": "x", "conversation": 7}, {"id": "d2", "text": "y"})
    lines(folder / "queries.jsonl", {"id": "q1", "text": "x?", "conversation": 7}, {"id": "q2", "text": "y?"})
    found = read_dataset(str(folder))
    assert [note.realm for note in found.notes] == ["conversation:7", "global"]
    assert [query.realm for query in found.queries] == ["conversation:7", "global"]


def test_titles_are_left_out_where_most_queries_are_the_titles_of_their_answers(folder: Path) -> None:
    documents = [{"id": f"d{n}", "title": f"Title  {n}", "text": f"# Title {n}\n\nBody {n}"} for n in range(3)]
    lines(folder / "corpus.jsonl", *documents, {"id": "d9", "title": "Other", "text": "# Its heading\n\nBody"})
    (folder / "qrels.tsv").write_text(QRELS + "".join(f"q{n}\td{n}\t1\n" for n in range(3)))
    lines(
        folder / "queries.jsonl", *({"id": f"q{n}", "text": f"Title {n}"} for n in range(2)), {"id": "q2", "text": "?"}
    )
    found = read_dataset(str(folder))
    assert found.titles_left_out and {note.title for note in found.notes} == {""}
    assert [note.text for note in found.notes] == ["Body 0", "Body 1", "Body 2", "# Its heading\n\nBody"]


def test_titles_stay_where_only_half_of_the_queries_are_titles(folder: Path) -> None:
    lines(folder / "queries.jsonl", {"id": "q1", "text": "One"}, {"id": "q2", "text": "and second?"})
    found = read_dataset(str(folder))
    assert not found.titles_left_out and found.notes[0].title == "One"


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("corpus.jsonl", "{", r"corpus.jsonl:3 is not JSON"),
        ("corpus.jsonl", "[1]", r"corpus.jsonl:3 is not a JSON object"),
        ("queries.jsonl", '"q1"', r"queries.jsonl:3 is not a JSON object"),
        ("queries.jsonl", "nothing", r"queries.jsonl:3 is not JSON"),
        ("qrels.tsv", "q1 d1 1", r"qrels.tsv:4 is not `query-id corpus-id score` by tabs"),
        ("qrels.tsv", "q1\td1\tgood", r"qrels.tsv:4 is not"),
        ("qrels.tsv", "q1\td1", r"qrels.tsv:4 is not"),
        ("qrels.tsv", "q1\td1\t1001", r"qrels.tsv:4 has a score above 1000"),
        ("queries.jsonl", '{"text": "x"}', r"queries.jsonl has a query without an id"),
        ("corpus.jsonl", '{"id": "d1", "text": "again"}', r"has two documents with the id d1"),
        ("corpus.jsonl", '{"id": "d3", "text": "x", "conversation": "a/../b"}', r"can have the name 'a/\.\./b'"),
        ("corpus.jsonl", "[" * 100_000, r"corpus.jsonl:3 is not JSON in UTF-8"),
    ],
)
def test_a_malformed_line_is_named(folder: Path, file: str, line: str, said: str) -> None:
    with open(folder / file, "a") as opened:
        opened.write(line + "\n")
    with pytest.raises(BadDataset, match=said):
        read_dataset(str(folder))


@pytest.mark.parametrize(
    "row",
    [
        {"text": "no id"},
        {"id": " ", "text": "x"},
        {"id": "a\tb", "text": "x"},
        {"id": "d3"},
        {"id": "d3", "text": 3},
    ],
)
def test_a_document_without_id_or_text(folder: Path, row: object) -> None:
    lines(folder / "corpus.jsonl", row)
    with pytest.raises(BadDataset, match=r"small has a document without an id or a text"):
        read_dataset(str(folder))


@pytest.mark.parametrize("row", [{"id": "q1"}, {"id": "q1", "text": " "}, {"id": "q1", "text": 5}])
def test_a_query_without_words(folder: Path, row: object) -> None:
    lines(folder / "queries.jsonl", row)
    with pytest.raises(BadDataset, match="a query without text, question, prompt, query"):
        read_dataset(str(folder))


def test_what_is_no_data_set(folder: Path, tmp_path: Path) -> None:
    for place in (str(tmp_path / "none"), f"{tmp_path}/none:test"):
        with pytest.raises(BadDataset, match="is no folder"):
            read_dataset(place)
    (folder / "qrels.tsv").write_text(QRELS + "q7\td1\t1\n")
    with pytest.raises(BadDataset, match="have no query in common"):
        read_dataset(str(folder))
    (folder / "qrels.tsv").unlink()
    with pytest.raises(BadDataset, match=r"has no queries\*.jsonl with a qrels\*.tsv"):
        read_dataset(str(folder))


def test_a_folder_whose_documents_are_none_is_not_asked_of_the_persons_own_notes(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text("\n")
    with pytest.raises(BadDataset, match=r"corpus.jsonl holds no documents"):
        read_dataset(str(folder))


def test_every_file_of_documents_is_read(folder: Path) -> None:
    lines(folder / "corpus_2.jsonl", {"id": "d3", "text": "third"})
    lines(folder / "notes.jsonl", {"id": "d4", "text": "only where there is no corpus"})
    assert [note.id for note in read_dataset(str(folder)).notes] == ["d1", "d2", "d3"]
    lines(folder / "corpus_2.jsonl", {"id": "d2", "text": "again"})
    with pytest.raises(BadDataset, match="two documents with the id d2"):
        read_dataset(str(folder))


def test_a_byte_order_mark_is_no_matter(folder: Path) -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        (folder / name).write_bytes(codecs.BOM_UTF8 + (folder / name).read_bytes())
    found = read_dataset(str(folder))
    assert len(found.notes) == 2 and found.judgements == {"q1": {"d1": 2}, "q2": {"d2": 1}}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("corpus.jsonl", r"corpus.jsonl:1 is not JSON in UTF-8"),
        ("queries.jsonl", r"queries.jsonl:1 is not JSON in UTF-8"),
        ("qrels.tsv", r"qrels.tsv cannot be read"),
    ],
)
def test_what_is_not_utf_8_is_named(folder: Path, file: str, said: str) -> None:
    (folder / file).write_bytes(b'{"id": "d\xe4", "text": "x"}\n')
    with pytest.raises(BadDataset, match=said):
        read_dataset(str(folder))


def test_judgements_without_a_heading(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("q1\td1\t2\nq2\td2\t-1\n")
    assert read_dataset(str(folder)).judgements == {"q1": {"d1": 2}}
    (folder / "qrels.tsv").write_text(QRELS + f"q1\td1\t{MAX_GRADE}\n")
    assert read_dataset(str(folder)).judgements == {"q1": {"d1": MAX_GRADE}}


def test_without_a_score_above_0_there_is_nothing_to_find(folder: Path) -> None:
    (folder / "qrels.tsv").write_text(QRELS + "q1\td1\t0\n")
    with pytest.raises(BadDataset, match=r"qrels.tsv has no score above 0"):
        read_dataset(str(folder))


def test_empty_lines_are_passed_over_and_still_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"a": 1}\n  \n{"b": 2}\n')
    assert list(read_lines(tmp_path / "a.jsonl")) == [{"a": 1}, {"b": 2}]
    (tmp_path / "a.jsonl").write_text('\n{"a": 1}\n  \nb\n')
    with pytest.raises(BadDataset, match=r"a.jsonl:4 "):
        list(read_lines(tmp_path / "a.jsonl"))
