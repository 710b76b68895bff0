"""Calibrations as files: written in one step, with what they were fitted on and how true they are."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from chitta.admission.calibration import VERSION, Calibration, Logistic


def as_fields(
    fit: Calibration, *, date: str, data: str, counts: dict[str, int], quality: dict[str, float]
) -> dict[str, Any]:
    """The file's fields in the order that people read them; :func:`chitta.admission.calibration.read` takes them."""
    bias, slope = fit.display
    return {
        "version": VERSION,
        "name": fit.name,
        "date": date,
        "model": fit.model,
        "data": data,
        "counts": counts,
        "quality": {name: round(value, 4) for name, value in quality.items()},
        "note": _logistic(fit.note),
        "note_words_only": _logistic(fit.note_words_only),
        "prompt": _logistic(fit.prompt),
        "threshold": fit.threshold,
        "display": {"bias": bias, "slope": slope},
    }


def write(path: Path, fields: dict[str, Any]) -> None:
    """Replace the file in one step. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_text(json.dumps(fields, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _logistic(fit: Logistic) -> dict[str, Any]:
    return {"bias": fit.bias, "weights": fit.weights}
