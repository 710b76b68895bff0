"""sha256 of model files, kept between runs: hashing hundreds of megabytes takes a second."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from chitta.folders import make_private

FILE_NAME = "model-digests.json"


class Digests:
    """Digests by path, good as long as the file's size and time are the same."""

    def __init__(self, state_dir: str) -> None:
        self._path = os.path.join(state_dir, FILE_NAME)
        self._known = self._read()

    def of(self, path: str) -> str:
        """The file's sha256 in hex. Raises ``OSError``."""
        path = os.path.realpath(path)
        status = os.stat(path)
        mark = [status.st_size, status.st_mtime_ns]
        known = self._known.get(path)
        if isinstance(known, list) and known[:2] == mark and len(known) == 3:
            return str(known[2])
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        self._known[path] = [*mark, digest.hexdigest()]
        self._write()
        return digest.hexdigest()

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, encoding="utf-8") as file:
                known = json.load(file)
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _write(self) -> None:
        """Keep what was learned; a home that cannot be written learns it again next time."""
        part = f"{self._path}.{os.getpid()}.part"
        try:
            make_private(os.path.dirname(self._path))
            with open(part, "w", encoding="utf-8") as file:
                json.dump(self._known, file)
            os.replace(part, self._path)
        except OSError:
            return
