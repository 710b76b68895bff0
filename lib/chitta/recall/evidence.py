"""Absolute evidence: what a note itself shows for a prompt, apart from how others rank.

Ranks and stretched scores say which note is best; they are as high for nonsense as for a true
match. The signals here are absolute, so that a calibration can turn them into a probability.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

NO_COSINE = -1.0


class Evidence(NamedTuple):
    """One note's evidence for one prompt.

    ``cos``: cosine of prompt and note, -1 when not measured. ``lift``: that cosine less the
    cosine of the prompt with the store's mean note, so that notes close to everything get no
    free pass. ``bm25``: keyword score. ``density``: keyword score per unit of the prompt's idf
    mass. ``coverage``: idf-weighted share of the prompt's terms found in the note. ``title``:
    idf-weighted share of the title's terms found in the prompt. ``shared``: count of the
    prompt's distinctive tokens found in the note.
    """

    cos: float = NO_COSINE
    lift: float = 0.0
    bm25: float = 0.0
    density: float = 0.0
    coverage: float = 0.0
    title: float = 0.0
    shared: int = 0


def weighted_share(wanted: Collection[str], held: Collection[str], weight: Mapping[str, float]) -> float:
    """Share (0–1) of the weight of ``wanted`` that is in ``held``; 0 when nothing is wanted."""
    total = sum(weight.get(term, 0.0) for term in wanted)
    if total <= 0.0:
        return 0.0
    return sum(weight.get(term, 0.0) for term in wanted if term in held) / total


def note_signals(evidence: Evidence) -> dict[str, float]:
    """The row signals by name, as the calibration's weights name them."""
    measured = evidence.cos != NO_COSINE
    return {
        "cos": evidence.cos if measured else 0.0,
        "lift": evidence.lift if measured else 0.0,
        "density": evidence.density,
        "coverage": evidence.coverage,
        "title": evidence.title,
        "shared": min(evidence.shared, 5) / 5.0,
    }


def prompt_signals(evidence: Sequence[Evidence], idf_mass: float, terms: int) -> dict[str, float]:
    """Signals of the whole page, in fused order: does the store hold anything for this prompt?"""
    if not evidence:
        return {}
    cosines = sorted((e.cos for e in evidence if e.cos != NO_COSINE), reverse=True)
    first = evidence[0]
    three = cosines[:3]
    return {
        "best_cos": cosines[0] if cosines else 0.0,
        "mean_three_cos": sum(three) / len(three) if three else 0.0,
        "first_cos": first.cos if cosines else 0.0,
        "best_lift": max(e.lift for e in evidence) if cosines else 0.0,
        "best_density": max(e.density for e in evidence),
        "first_density": first.density,
        "best_coverage": max(e.coverage for e in evidence),
        "first_coverage": first.coverage,
        "best_title": max(e.title for e in evidence[:3]),
        "agreement": float(bool(cosines) and first.cos == cosines[0] and first.bm25 == max(e.bm25 for e in evidence)),
        "terms": min(terms, 30) / 30.0,
        "idf_mass": min(idf_mass, 200.0) / 200.0,
    }
