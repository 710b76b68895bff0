"""BM25: scores by the formula, filters that change no score, ties by id, any prompt, any damage."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from chitta.index import IndexDamaged, keyword
from chitta.index.keyword import EXACT_WEIGHT, SCORE_DIGITS, KeywordIndex, KeywordWriter, note_terms
from chitta.index.terms import Terms, analyse
from chitta.notes.note import Note


def build(folder: Path, notes: Sequence[Note]) -> KeywordIndex:
    writer = KeywordWriter(str(folder))
    for note in notes:
        writer.put(note)
    writer.commit()
    writer.close()
    return KeywordIndex.open(str(folder))


def ids(index: KeywordIndex, prompt: str, **how: object) -> list[str]:
    return [hit.id for hit in index.search(analyse(prompt), **how)]  # type: ignore[arg-type]


def test_the_score_is_bm25(tmp_path: Path) -> None:
    """Robertson and Zaragoza (2009): idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean)), k1 1.2, b 0.75."""
    texts = {"a": "docker " * 3 + "zig", "b": "docker zig vim", "c": "vim macro"}
    index = build(tmp_path, [Note(id=name, text=text) for name, text in texts.items()])
    lengths = {name: len(note_terms(Note(id=name, text=text))) for name, text in texts.items()}
    mean = sum(lengths.values()) / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    hits = index.search(analyse("docker"))
    assert [hit.id for hit in hits] == ["a", "b"]
    for hit in hits:
        tf = 3 if hit.id == "a" else 1
        norm = 1 - 0.75 + 0.75 * lengths[hit.id] / mean
        assert hit.score == pytest.approx(idf * tf * 2.2 / (tf + 1.2 * norm), rel=0.01)


def test_idf_is_the_weight_of_bm25(tmp_path: Path) -> None:
    index = build(
        tmp_path, [Note(id="a", text="docker zig"), Note(id="b", text="docker vim"), Note(id="c", text="zig")]
    )
    weights = index.idf(["docker", "vim", "absent"])
    for term, holding in (("docker", 2), ("vim", 1), ("absent", 0)):
        assert weights[term] == pytest.approx(math.log(1 + (3 - holding + 0.5) / (holding + 0.5)))


def test_an_exact_form_weighs_half_a_word(tmp_path: Path) -> None:
    index = build(tmp_path, [Note(id="a", text="zig"), Note(id="b", text="vim")])
    as_word = index.search(Terms(words=("zig",), exact=()))[0].score
    as_form = index.search(Terms(words=(), exact=("zig",)))[0].score
    assert as_form == pytest.approx(as_word * EXACT_WEIGHT, abs=10**-SCORE_DIGITS)


def test_a_title_counts_more_than_the_text(tmp_path: Path) -> None:
    index = build(tmp_path, [Note(id="text", title="vim", text="docker"), Note(id="title", title="docker", text="vim")])
    assert ids(index, "docker") == ["title", "text"]


def test_fault_14_one_common_word_is_enough(tmp_path: Path) -> None:
    index = build(tmp_path, [Note(id="a", title="Rotate the signing keys")])
    assert ids(index, "somebody asked yesterday whether our signing process ever handles old tokens") == ["a"]


def test_filters_leave_notes_out_and_scores_alone(tmp_path: Path, some_notes: list[Note]) -> None:
    index = build(tmp_path, some_notes)
    everywhere = {hit.id: hit.score for hit in index.search(analyse("git rebase works"), limit=50)}
    here = index.search(analyse("git rebase works"), realm="global", kinds=["correction"], limit=50)
    assert [hit.id for hit in here] == ["note-03"]
    assert here[0].score == everywhere["note-03"]
    assert ids(index, "git", realm="project:none") == []
    assert ids(index, "git", kinds=[]) == []
    assert ids(index, "git", limit=0) == []


def test_ties_are_broken_by_id_also_at_the_cut(tmp_path: Path) -> None:
    names = [f"n{number:03d}" for number in range(120)]
    index = build(tmp_path, [Note(id=name, text="docker compose") for name in reversed(names)])
    assert ids(index, "docker", limit=5) == names[:5]
    assert ids(index, "docker", limit=200) == names


@pytest.mark.parametrize(
    "identifier",
    ["get_user_by_id", "getUserById", "src/app/main.py", "--force-with-lease", "ERR_SSL_PROTOCOL", "v0.3.4", "C++"],
)
def test_an_identifier_finds_its_note_first(tmp_path: Path, identifier: str) -> None:
    others = ["user", "main", "force", "protocol version 0.3.5", "c and d", "get by", "app py src"]
    notes = [Note(id=f"other-{number}", text=text) for number, text in enumerate(others)]
    index = build(tmp_path, [*notes, Note(id="wanted", text=f"We call {identifier} here, and more.")])
    assert ids(index, f"why does {identifier} fail?")[0] == "wanted"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("get_user_by_id", "user"),
        ("getUserById", "user"),
        ("src/app/main.py", "main.py"),
        ("src/app/main.py", "app"),
        ("--force-with-lease", "lease"),
        ("ERR_SSL_PROTOCOL", "ssl"),
        ("v0.3.4", "0.3"),
        ("getUserById", "get_user_by_id"),
        ("数据库连接池的配置", "连接池"),
        ("パスワードを変更する", "パスワード"),
        ("비밀번호를 변경한다", "비밀번호"),
    ],
)
def test_a_part_finds_the_whole(tmp_path: Path, text: str, part: str) -> None:
    index = build(tmp_path, [Note(id="wanted", text=text), Note(id="other", text="nothing of it")])
    assert ids(index, part) == ["wanted"]


@pytest.mark.parametrize(
    "prompt",
    [
        "(" * 3000,
        ")" * 3000,
        '"' * 99,
        "a AND b OR NOT c",
        "title:redis^9~2",
        "[a TO b]",
        "\\",
        "*",
        "-redis",
        "it's",
        "\ud800",
    ],
)
def test_fault_13_no_prompt_is_a_syntax_error(tmp_path: Path, prompt: str) -> None:
    index = build(tmp_path, [Note(id="a", text="redis a b c")])
    assert ids(index, prompt + " redis") == ["a"]
    index.search(analyse(prompt))


def test_a_note_is_replaced_and_dropped(tmp_path: Path) -> None:
    build(tmp_path, [Note(id="a", text="redis"), Note(id="b", text="redis")])
    writer = KeywordWriter(str(tmp_path))
    writer.put(Note(id="a", text="docker"))
    writer.drop("b")
    assert ids(KeywordIndex.open(str(tmp_path)), "redis") == ["a", "b"]  # nothing before the commit
    writer.commit()
    writer.close()
    index = KeywordIndex.open(str(tmp_path))
    assert (index.count, ids(index, "redis"), ids(index, "docker")) == (1, [], ["a"])


def test_an_open_index_keeps_its_state(tmp_path: Path) -> None:
    index = build(tmp_path, [Note(id="a", text="redis")])
    build(tmp_path, [Note(id="b", text="redis")])
    assert ids(index, "redis") == ["a"]


def test_whole_notes_can_be_had_from_it(tmp_path: Path, some_notes: list[Note]) -> None:
    index = build(tmp_path, some_notes)
    assert index.notes(["note-03", "absent"]) == {"note-03": some_notes[3]}
    assert index.notes([]) == {}
    assert index.select(realms=["global"], kind="correction", limit=10**9) == [some_notes[3]]
    assert index.select(realms=None, kind=None, limit=10**9) == some_notes


def test_an_empty_index_answers(tmp_path: Path) -> None:
    index = build(tmp_path, [])
    assert (index.count, ids(index, "redis")) == (0, [])
    assert index.idf(["redis"])["redis"] == pytest.approx(math.log(2))


@pytest.mark.parametrize("harm", ["truncate", "halve", "remove", "zero"])
def test_damage_to_any_file_is_noticed(tmp_path: Path, some_notes: list[Note], harm: str) -> None:
    build(tmp_path / "whole", some_notes)
    for name in sorted(os.listdir(tmp_path / "whole")):
        if name.endswith(".lock") or name == ".managed.json":
            continue
        shutil.rmtree(tmp_path / "harmed", ignore_errors=True)
        shutil.copytree(tmp_path / "whole", tmp_path / "harmed")
        file = tmp_path / "harmed" / name
        size = file.stat().st_size
        if harm == "remove":
            file.unlink()
        elif harm == "zero":
            file.write_bytes(bytes(size))
        else:
            os.truncate(file, 0 if harm == "truncate" else size // 2)
        with pytest.raises(IndexDamaged):
            KeywordIndex.open(str(tmp_path / "harmed")).search(analyse("redis"))


def test_a_missing_index_is_damage(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged):
        KeywordIndex.open(str(tmp_path / "absent"))


def test_what_is_kept_of_ids_and_weights_is_bounded_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [Note(id=f"n{number:02d}", title="redis", text=f"word{number} docker") for number in range(20)]
    index = build(tmp_path, notes)
    terms = ["redis", "docker", "absent", *(f"word{number}" for number in range(20))]
    hits, weights = index.search(analyse("redis docker"), limit=20), index.idf(terms)
    assert index.search(analyse("redis docker"), limit=20) == hits
    assert index.idf(terms) == weights
    monkeypatch.setattr(keyword, "KEPT_NAMES", 3)
    monkeypatch.setattr(keyword, "KEPT_WEIGHTS", 3)
    small = KeywordIndex.open(str(tmp_path))
    for _ in range(2):
        assert small.search(analyse("redis docker"), limit=20) == hits
        assert small.idf(terms) == weights
        assert len(small._names) <= 3 and len(small._weights) <= 3


def test_half_characters_in_names_find_nothing_and_do_no_harm(tmp_path: Path) -> None:
    writer = KeywordWriter(str(tmp_path / "k"))
    writer.put(Note("a", title="tabs"))
    writer.commit()
    writer.close()
    index = KeywordIndex.open(str(tmp_path / "k"))
    assert index.notes(["\ud800", "a"]).keys() == {"a"}
    assert index.search(analyse("tabs"), realm="\ud800", kinds=["\udfff"]) == []
    assert index.select(realms=["\ud800"], kind=None, limit=3) == []


def test_what_only_records_what_happened_makes_no_word_common(tmp_path: Path) -> None:
    notes = [Note(id=f"n{number}", text="gasket" if number < 2 else "flange") for number in range(6)]
    alone = build(tmp_path / "alone", notes).idf(["gasket", "flange", "nothing"])
    captured = [Note(id=f"c{number}", kind="episode", text="gasket gasket") for number in range(40)]
    assert build(tmp_path / "both", [*notes, *captured]).idf(["gasket", "flange", "nothing"]) == alone
