"""Models of the optional library: its absence, how it is called, and (marked ``torch``) the library itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from chitta import settings as settings_module
from chitta.models import registry
from chitta.models.protocol import ModelUnavailable
from chitta.models.sentence_transformer import SentenceTransformerEmbedder, SentenceTransformerReranker


class TestAbsent:
    @pytest.fixture(autouse=True)
    def not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)

    @pytest.mark.parametrize(
        "load",
        [
            lambda: SentenceTransformerEmbedder("any", name="any"),
            lambda: SentenceTransformerReranker("any", name="any", max_tokens=64),
        ],
    )
    def test_it_is_said_with_a_hint(self, load: Callable[[], object]) -> None:
        with pytest.raises(ModelUnavailable, match="not installed") as caught:
            load()
        assert "shipped" in caught.value.hint


class FakeLibrary(ModuleType):
    """Stands for sentence_transformers: keeps what it was asked, and answers by the length of the texts."""

    def __init__(self) -> None:
        super().__init__("sentence_transformers")
        self.loaded: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[tuple[str, list[Any]]] = []
        self.offline = ""

    def SentenceTransformer(self, model: str, **how: Any) -> Any:
        return self._load(model, how)

    def CrossEncoder(self, model: str, **how: Any) -> Any:
        return self._load(model, how)

    def _load(self, model: str, how: dict[str, Any]) -> Any:
        self.offline = os.environ.get("HF_HUB_OFFLINE", "")
        if model == "broken":
            raise OSError("no such model\nin the cache")
        self.loaded.append((model, how))
        return SimpleNamespace(encode=self._encode("any"), encode_query=self._encode("query"), predict=self._predict)

    def _encode(self, side: str) -> Callable[..., Any]:
        def encode(texts: Sequence[str], **how: Any) -> Any:
            assert how["normalize_embeddings"] and not how["show_progress_bar"]
            self.asked.append((side, list(texts)))
            return np.array([[1.0, 0.0, float(len(text) > 3)] for text in texts])

        return encode

    def _predict(self, pairs: Sequence[tuple[str, str]], **how: Any) -> Any:
        assert how["activation_fn"] == "identity"
        self.asked.append(("pairs", list(pairs)))
        return np.array([float(len(passage)) for _, passage in pairs], np.float32)


class TestCalls:
    @pytest.fixture(params=["cpu", "cuda"])
    def device(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def library(self, monkeypatch: pytest.MonkeyPatch, device: str) -> FakeLibrary:
        library = FakeLibrary()
        torch = ModuleType("torch")
        torch.cuda = SimpleNamespace(is_available=lambda: device == "cuda")  # type: ignore[attr-defined]
        torch.nn = SimpleNamespace(Identity=lambda: "identity")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "sentence_transformers", library)
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        return library

    def test_an_embedder(self, library: FakeLibrary, device: str) -> None:
        embedder = SentenceTransformerEmbedder("name", name="name")
        assert library.loaded == [("name", {"device": device})]
        assert library.offline == "1"
        assert embedder.dim == 3
        library.asked.clear()
        assert embedder.embed_query("\ud800 text").tolist() == [1, 0, 1]
        seen: list[tuple[int, int]] = []
        rows = embedder.embed_notes(["a"] * 70, lambda *at: seen.append(at))
        assert rows.shape == (70, 3) and rows.dtype == np.float32
        assert [side for side, _ in library.asked] == ["query", "any", "any"]  # no encode_document: encode
        assert library.asked[0][1] == ["? text"]
        assert seen == [(64, 70), (70, 70)]
        assert embedder.embed_notes([]).shape == (0, 3)

    def test_a_reranker(self, library: FakeLibrary, device: str) -> None:
        reranker = SentenceTransformerReranker("name", name="name", max_tokens=77)
        assert library.loaded == [("name", {"device": device, "max_length": 77})]
        passages = ["x" * size for size in range(20)]
        assert reranker.score("q", passages) == [float(size) for size in range(20)]
        assert reranker.score("q", passages, deadline=time.monotonic() - 1) == []
        assert reranker.score("q", passages, deadline=time.monotonic() + 600) == [float(size) for size in range(20)]

    def test_a_model_that_is_not_there(self, library: FakeLibrary) -> None:
        for load in (
            lambda: SentenceTransformerEmbedder("broken", name="broken"),
            lambda: SentenceTransformerReranker("broken", name="broken", max_tokens=64),
        ):
            with pytest.raises(ModelUnavailable, match="no such model in the cache") as caught:
                load()
            assert "folder" in caught.value.hint


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory, shipped_folders: dict[str, str]) -> dict[str, Path]:
    reason = "sentence-transformers is not installed"
    pytest.importorskip("sentence_transformers", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    config = transformers.BertConfig(
        vocab_size=30522,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        num_labels=1,
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=os.path.join(shipped_folders["embedder"], "tokenizer.json"),
        unk_token="[UNK]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
    )
    made = {}
    for role, kind in (("embedder", "BertModel"), ("reranker", "BertForSequenceClassification")):
        made[role] = tmp_path_factory.mktemp(role)
        getattr(transformers, kind)(config).save_pretrained(made[role])
        tokenizer.save_pretrained(made[role])
    return made


@pytest.mark.torch
class TestTheLibrary:
    """With the real library, over a tiny untrained model: shapes, lengths and order, not quality."""

    def test_an_embedder_from_a_folder(self, folders: dict[str, Path], own_home: Path) -> None:
        settings = settings_module.load(
            {"CHITTA_HOME": str(own_home / ".chitta"), "CHITTA_EMBED_MODEL": str(folders["embedder"])}
        )
        embedder = registry.load_embedder(settings)
        assert embedder.name == registry.embedder_name(settings)
        assert embedder.dim == 32
        rows = embedder.embed_notes(["one", "two words", ""])
        assert rows.shape == (3, 32) and rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(3), abs=1e-4)
        assert embedder.embed_query("one") == pytest.approx(rows[0], abs=1e-4)

    def test_a_reranker_from_a_folder(self, folders: dict[str, Path], own_home: Path) -> None:
        settings = settings_module.load(
            {"CHITTA_HOME": str(own_home / ".chitta"), "CHITTA_RERANK_MODEL": str(folders["reranker"])}
        )
        reranker = registry.load_reranker(settings)
        assert reranker is not None
        passages = ["one", "two words", "three more words"]
        scores = reranker.score("query", passages)
        assert len(scores) == 3
        assert [reranker.score("query", [passage])[0] for passage in passages] == pytest.approx(scores, abs=1e-4)

    def test_a_name_that_is_not_in_the_cache_asks_no_network(self, own_home: Path) -> None:
        pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
        with pytest.raises(ModelUnavailable, match="cannot be loaded"):
            SentenceTransformerEmbedder("no-such-owner/no-such-model", name="x")
