"""The alphas of the boosts and the priors of kinds: the settings, and what the store's ``scoring.json`` says."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from typing import NamedTuple

from chitta.recall.score import Alphas, read_alphas, read_priors
from chitta.settings import BY_NAME, Settings

FILE_NAME = "scoring.json"
#: The setting of each alpha.
_SETTINGS = {
    "confidence": "CHITTA_CONFIDENCE_ALPHA",
    "recency": "CHITTA_RECENCY_ALPHA",
    "tags": "CHITTA_TAG_ALPHA",
    "proof": "CHITTA_PROOF_ALPHA",
    "project": "CHITTA_PROJECT_ALPHA",
    "domain": "CHITTA_DOMAIN_ALPHA",
    "authority": "CHITTA_AUTHORITY_ALPHA",
    "speculative": "CHITTA_SPECULATIVE_ALPHA",
}
_LARGEST = 64 * 1024  # bytes of the file that are read


class Scoring(NamedTuple):
    """How far boosts swing, the priors of kinds that the store's file gives, and what is wrong with that file."""

    alphas: Alphas
    priors: dict[str, float]
    problems: tuple[str, ...] = ()


def load(settings: Settings) -> Scoring:
    """A setting that was changed wins over the file, which wins over the defaults. Never raises."""
    from_settings = Alphas(**{name: settings.real(variable) for name, variable in _SETTINGS.items()})
    path = os.path.join(settings.home, FILE_NAME)
    try:
        found = os.stat(path)
    except OSError:
        return Scoring(from_settings, {})
    if not stat.S_ISREG(found.st_mode):  # opening a pipe would wait for whoever writes into it
        return Scoring(from_settings, {}, (f"{path} cannot be read: it is no file",))
    from_file, priors, problems = _read(path, (found.st_mtime_ns, found.st_ctime_ns, found.st_size))
    changed = {
        name: value for name, value in from_settings._asdict().items() if value != BY_NAME[_SETTINGS[name]].default
    }
    return Scoring(from_file._replace(**changed), priors, problems)


@lru_cache(maxsize=8)
def _read(path: str, stamp: tuple[int, ...]) -> tuple[Alphas, dict[str, float], tuple[str, ...]]:
    try:
        with open(path, "rb") as file:
            raw = file.read(_LARGEST)
    except OSError as problem:
        return Alphas(), {}, (f"{path} cannot be read: {problem.strerror}",)
    priors, problems = read_priors(raw)
    alphas, more = read_alphas(raw)
    return alphas, priors, tuple(f"{path}: {problem}" for problem in dict.fromkeys((*problems, *more)))
