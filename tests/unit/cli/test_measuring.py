"""What the measuring commands share: the extra, the settings to try, the stores to measure."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from chitta.cli import measuring as shared
from chitta.cli.failure import Failure, Misuse, Unavailable
from chitta.cli.measuring import forget_own_settings, golden_store, make_ready, measuring, tried
from chitta.cli.progress import Meter
from chitta.evaluate import bench_store
from chitta.evaluate.dataset import BadDataset
from chitta.evaluate.fitting import TooFew
from chitta.index.indexer import sync
from chitta.models.registry import ModelUnavailable
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in ("scipy", "sklearn") else real(name))
    with pytest.raises(Unavailable, match=r"not installed \(scipy, sklearn\)") as raised, measuring():
        pytest.fail("nothing is measured")
    assert "./install.sh --extra eval" in raised.value.hint and raised.value.code == 111


def test_every_package_of_the_extra_is_looked_for() -> None:
    assert all(importlib.util.find_spec(name) for name in shared.PACKAGES)
    with measuring():
        pass


@pytest.mark.parametrize(
    ("problem", "kind", "code", "said"),
    [
        (BadDataset("a.jsonl:3 is not JSON"), Misuse, 2, "a.jsonl:3 is not JSON"),
        (TooFew("only 3 answerable prompts"), Failure, 1, "nothing can be fitted: only 3 answerable prompts"),
        (ModelUnavailable("no model", "a hint"), Unavailable, 111, "no model"),
    ],
)
def test_what_measuring_raises_becomes_a_sentence(problem: Exception, kind: type, code: int, said: str) -> None:
    with pytest.raises(Failure) as raised, measuring():
        raise problem
    assert type(raised.value) is kind and (raised.value.code, raised.value.message) == (code, said)


def test_any_other_fault_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), measuring():
        raise ZeroDivisionError


# Settings


def test_a_persons_settings_are_forgotten_but_for_which_models_there_are(
    monkeypatch: pytest.MonkeyPatch, own_home: Path
) -> None:
    for name in bench_store.KEPT_VARIABLES:
        monkeypatch.setenv(name, "/kept")
    monkeypatch.setenv("CHITTA_FUSION_ALPHA", "0.25")
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    own = forget_own_settings()
    assert own.home == str(own_home / ".chitta") and own.real("CHITTA_FUSION_ALPHA") == 0.25
    left = {name: value for name, value in os.environ.items() if name.startswith("CHITTA_")}
    assert left == {**dict.fromkeys(bench_store.KEPT_VARIABLES, "/kept"), "CHITTA_IDLE_TIMEOUT": str(shared.IDLE_S)}


def test_models_of_the_persons_file_are_kept_and_nothing_else_of_it(own_home: Path) -> None:
    (own_home / ".chitta").mkdir()
    (own_home / ".chitta" / "chitta.toml").write_text(
        'embed_model = "/a/model"\nrerank_model = "none"\nfusion_alpha = 0.25\n'
    )
    own = forget_own_settings()
    assert own.real("CHITTA_FUSION_ALPHA") == 0.25
    assert {name: value for name, value in os.environ.items() if name.startswith("CHITTA_")} == {
        "CHITTA_EMBED_MODEL": "/a/model",
        "CHITTA_RERANK_MODEL": "none",
        "CHITTA_IDLE_TIMEOUT": str(shared.IDLE_S),
    }


def test_a_polite_kill_lets_measurements_clean_up() -> None:
    forget_own_settings()
    cleaned = False
    with pytest.raises(SystemExit) as raised:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            signal.pause()
        finally:
            cleaned = True
    assert raised.value.code == 128 + signal.SIGTERM and cleaned


def test_settings_to_try() -> None:
    assert tried(None) == tried([]) == {}
    assert tried(["CHITTA_FUSION_ALPHA=0.3", "CHITTA_ABLATE_LANES=kw,sem", "CHITTA_FUSION_ALPHA=0.4"]) == {
        "CHITTA_FUSION_ALPHA": "0.4",
        "CHITTA_ABLATE_LANES": "kw,sem",
    }


@pytest.mark.parametrize("text", ["CHITTA_NO_SUCH=1", "CHITTA_FUSION_ALPHA", "0.3", "", "=1"])
def test_what_is_no_setting_is_refused(text: str) -> None:
    with pytest.raises(Misuse, match="is no setting and value") as raised:
        tried([text])
    assert "--set CHITTA_FUSION_ALPHA=0.3" in raised.value.hint


@pytest.mark.parametrize("text", ["CHITTA_FUSION_ALPHA=much", "CHITTA_MAX_MEMORIES=1.5", "CHITTA_FUSION_ALPHA=7"])
def test_what_is_no_value_of_a_setting_is_refused(text: str) -> None:
    with pytest.raises(Misuse, match=text.partition("=")[0]):
        tried([text])


@pytest.mark.parametrize(
    "name",
    [
        "CHITTA_HOME",
        "CHITTA_RUN_DIR",
        "CHITTA_PYTHON",
        "CHITTA_REALM",
        "CHITTA_NO_DAEMON",
        "CHITTA_IDLE_TIMEOUT",
    ],
)
def test_where_and_how_a_measurement_runs_is_not_for_trying(name: str) -> None:
    with pytest.raises(Misuse, match=f"{name} is not for trying") as raised:
        tried(["CHITTA_FUSION_ALPHA=0.3", f"{name}=1"])
    assert "a store, a realm and a daemon of its own" in raised.value.hint


def test_folders_for_results_are_made_before_the_work(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    make_ready(None, there, tmp_path / "a" / "new")
    assert (tmp_path / "a" / "new").is_dir()
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(Misuse, match="cannot be made"):
            make_ready(place)


# Stores


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Which stores were asked for, instead of building them."""
    found: list[tuple[str, list[str]]] = []

    def build(name: str, notes: Any, progress: object) -> Any:
        found.append((name, [note.id for note in notes]))
        return load({"CHITTA_HOME": "/built"})

    monkeypatch.setattr(bench_store, "build_store", build)
    return found


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    folder = tmp_path / "golden"
    folder.mkdir()
    (folder / "unanswerable.jsonl").write_text('{"id": "u", "prompt": "ok thanks"}\n')
    return folder


def test_the_store_is_built_of_the_notes_beside_the_prompts(golden: Path, built: list[tuple[str, list[str]]]) -> None:
    (golden.parent / "til").mkdir()
    (golden.parent / "til" / "notes.jsonl").write_text('{"id": "a", "text": "words"}\n')
    cases, store = golden_store(golden, None, None, "", Meter())
    assert built == [("til", ["a"])] and store.home == "/built" and [case.id for case in cases.cases] == ["u"]


def test_or_of_those_that_are_given(golden: Path, tmp_path: Path, built: list[tuple[str, list[str]]]) -> None:
    given = tmp_path / "mine"
    given.mkdir()
    (given / "a-note.md").write_text("---\nid: a\n---\nwords\n")
    golden_store(golden, given, None, "", Meter())
    assert built == [("mine", ["a"])]


def test_without_notes_there_is_nothing_to_measure(golden: Path, built: list[Any]) -> None:
    with pytest.raises(Misuse, match="says nothing of its notes") as raised:
        golden_store(golden, None, None, "", Meter())
    assert "--own-store" in raised.value.hint and built == []


def test_the_persons_own_store_is_not_built(golden: Path, built: list[Any], own_home: Path) -> None:
    own = load()
    with pytest.raises(Failure, match="your store has no index yet"):
        golden_store(golden, None, own, "", Meter())
    os.makedirs(own.index_dir)
    assert golden_store(golden, None, own, "", Meter())[1] is own and built == []


@pytest.fixture
def own(own_home: Path) -> Settings:
    """The person's own store, with one note in it."""
    store = load()
    NoteStore(store.notes_dir).write(Note("here", title="Here", text="words"))
    sync(store, None)
    return store


def test_gold_notes_that_the_store_does_not_hold_are_refused(golden: Path, own: Settings) -> None:
    path = golden / "answerable.jsonl"
    path.write_text('{"id": "a", "prompt": "x", "gold": ["here"]}\n')
    assert golden_store(golden, None, own, "", Meter())[1] is own
    path.write_text('{"id": "a", "prompt": "x", "gold": {"here": 2, "b": 1}, "maybe": ["d", "c", "e"]}\n')
    with pytest.raises(Misuse, match="4 gold notes are not in the store: b, c, d …"):
        golden_store(golden, None, own, "", Meter())


def test_gold_notes_are_looked_for_without_an_index(golden: Path, built: list[Any]) -> None:
    (golden / "notes.jsonl").write_text('{"id": "a", "text": "words"}\n')
    (golden / "answerable.jsonl").write_text('{"id": "a", "prompt": "x", "gold": ["a"]}\n')
    with pytest.raises(Misuse, match="1 gold notes are not in the store: a$"):
        golden_store(golden, None, None, "", Meter())


def test_the_realm_in_which_prompts_are_typed(
    golden: Path, own: Settings, built: list[Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (golden / "notes.jsonl").write_text('{"id": "a", "text": "words"}\n')
    for store, asked, realm in (
        (None, "", "global"),
        (None, "project:x", "project:x"),
        (own, "", "project:work-"),
        (own, "project:x", "project:x"),
    ):
        cases, _ = golden_store(golden, None, store, asked, Meter())
        assert cases.realm.startswith(realm)
        assert (f"prompts are typed in the realm {cases.realm}" in capsys.readouterr().err) == (store is not None)
