"""The shipped models, loaded once, and skipped with a reason where they are not installed."""

from __future__ import annotations

import pytest

from chitta import settings as settings_module
from chitta.models.onnx_embedder import OnnxEmbedder
from chitta.models.onnx_reranker import OnnxReranker
from chitta.models.registry import describe
from chitta.settings import Settings


@pytest.fixture
def settings() -> Settings:
    return settings_module.load()


@pytest.fixture(scope="session")
def shipped_folders() -> dict[str, str]:
    """The folder of each shipped model by role."""
    facts = describe(settings_module.load({"CHITTA_HOME": "/nonexistent"}))
    missing = [fact.problem for fact in facts if fact.problem]
    if missing:
        pytest.skip("; ".join(missing))
    return {fact.role: fact.place for fact in facts}


@pytest.fixture(scope="session")
def embedder(shipped_folders: dict[str, str]) -> OnnxEmbedder:
    return OnnxEmbedder(shipped_folders["embedder"], name="bge-small-en")


@pytest.fixture(scope="session")
def reranker(shipped_folders: dict[str, str]) -> OnnxReranker:
    return OnnxReranker(shipped_folders["reranker"], name="ms-marco-minilm-l12")
