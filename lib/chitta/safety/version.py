"""Which rules a note went through on its way from a file into the index; by other rules it has to go again."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

#: The library of detectors as pinned in requirements/; to be raised with it.
_SCANNER = "kingfisher-secret-scanner 1.5"
_PACKAGE = Path(__file__).resolve().parents[1]
#: What reads a note, what cleans it and says what is unseen, and the scanner's own rules, below the package.
_FILES = (
    *(f"notes/{name}.py" for name in ("frontmatter", "ids", "note", "realms", "store")),
    *(
        f"safety/{name}.py"
        for name in "cleaning instructions languages names plain preferences private secrets shown".split()
    ),
    *(f"render/{name}.py" for name in ("lookalikes", "neutral")),
    "safety/secret_rules.yml",
)


@lru_cache(maxsize=1)
def rules_version() -> str:
    """16 hexadecimal digits of sha256 over those files: nobody has to remember to raise a number. 1 ms, once."""
    digest = hashlib.sha256(_SCANNER.encode())
    for name in _FILES:
        digest.update((_PACKAGE / name).read_bytes())
    return digest.hexdigest()[:16]
