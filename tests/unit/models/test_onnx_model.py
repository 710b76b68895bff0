"""Loading a model from a folder: what is run, and what is said of a folder that holds none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from chitta.models.onnx_model import MODEL_FILE, TOKENIZER_FILE, OnnxModel
from chitta.models.protocol import ModelUnavailable


@pytest.fixture(scope="module")
def model(shipped_folders: dict[str, str]) -> OnnxModel:
    return OnnxModel(shipped_folders["embedder"], threads=1, max_tokens=16)


def test_a_text_gives_one_row_a_token(model: OnnxModel) -> None:
    encoding = model.encode("one two three")
    assert model.run(encoding).shape == (5, model.output_width)


def test_a_text_is_cut_to_what_the_model_reads(model: OnnxModel) -> None:
    assert len(model.encode("word " * 500).ids) == 16
    assert len(model.encode("word " * 500, "other " * 500).ids) == 16


def test_a_pair_is_told_apart_by_its_types(model: OnnxModel) -> None:
    assert set(model.encode("question", "answer").type_ids) == {0, 1}


@pytest.mark.parametrize("text", ["", "\ud800 lone", "\x00", "🙂", "日本語"])
def test_any_text_can_be_read(model: OnnxModel, text: str) -> None:
    assert model.run(model.encode(text)).shape[1] == model.output_width


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    for other in {MODEL_FILE, TOKENIZER_FILE} - {name}:
        (tmp_path / other).write_bytes(b"")
    with pytest.raises(ModelUnavailable, match=name) as caught:
        OnnxModel(str(tmp_path), threads=1, max_tokens=16)
    assert caught.value.hint


@pytest.mark.parametrize("name", [MODEL_FILE, TOKENIZER_FILE])
def test_a_file_cut_short_is_unavailable(tmp_path: Path, shipped_folders: dict[str, str], name: str) -> None:
    for each in (MODEL_FILE, TOKENIZER_FILE):
        shutil.copyfile(Path(shipped_folders["embedder"]) / each, tmp_path / each)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        OnnxModel(str(tmp_path), threads=1, max_tokens=16)
    assert "\n" not in str(caught.value)
