"""Files that are written whole or not at all, for their owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from chitta.folders import make_private
from chitta.leftovers import PREFIX


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path`` in one step, with mode 0600 and missing folders 0700. Raises ``OSError``."""
    make_private(str(path.parent))
    handle, temporary = tempfile.mkstemp(prefix=PREFIX, suffix=".tmp", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # else a power cut may leave the new name with nothing in it
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def lies_in(path: Path, folder: Path) -> bool:
    """Whether ``path`` is ``folder`` or below it, wherever links on the way lead."""
    real = path.resolve()
    return folder.resolve() in (real, *real.parents)
