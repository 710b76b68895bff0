"""The settings of one request: the caller's ``CHITTA_*`` variables over this store's ``chitta.toml``.

The daemon was started by somebody's prompt; what that process had in its environment must not
become everybody's. So the daemon's own variables serve the daemon alone, and each request brings
its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping

from chitta import settings as table
from chitta.settings import Settings

_KEPT = 64
_Key = tuple[tuple[tuple[str, str], ...], tuple[int, int]]


class OtherStore(ValueError):
    """The caller speaks of another store than the one this daemon serves."""


class Environment:
    """Makes and remembers settings. ``environ`` is the daemon's own, ``folder`` where it was started."""

    def __init__(self, environ: Mapping[str, str], folder: str) -> None:
        self._folder = folder
        own = table.load(environ)
        self.home = os.path.join(folder, own.home)
        self.run_dir = os.path.join(folder, own.run_dir)
        self._default_home = own.text("CHITTA_HOME") == str(table.BY_NAME["CHITTA_HOME"].default)
        self._own = {name: value for name, value in environ.items() if name in table.BY_NAME}
        self._lock = threading.Lock()
        self._made: dict[_Key, Settings] = {}

    def own(self) -> Settings:
        """The daemon's own settings: its idle time, and its models until a request names others."""
        return self._settings(self._own)

    def of(self, variables: Mapping[str, str]) -> Settings:
        """The settings of a request that came with ``variables``. Raises :class:`OtherStore`."""
        self._check_home(variables.get("CHITTA_HOME", ""))
        return self._settings(variables)

    def _check_home(self, given: str) -> None:
        """A caller without ``CHITTA_HOME`` means the default one; it found us there, or through a shared run folder."""
        if not given and (self._default_home or os.path.dirname(self.run_dir) == self.home):
            return
        asked = table.Settings({"CHITTA_HOME": given or str(table.BY_NAME["CHITTA_HOME"].default)}).home
        if asked != self.home and os.path.realpath(asked) != os.path.realpath(self.home):
            raise OtherStore("this daemon serves another store")

    def _settings(self, variables: Mapping[str, str]) -> Settings:
        known = {name: value for name, value in variables.items() if name in table.BY_NAME}
        known |= {"CHITTA_HOME": self.home, "CHITTA_RUN_DIR": self.run_dir}
        key = (tuple(sorted(known.items())), self._file_stamp())
        with self._lock:
            found = self._made.get(key)
        if found is None:
            found = table.load(known)
            with self._lock:
                if len(self._made) >= _KEPT:
                    self._made.clear()
                self._made[key] = found
        return found

    def _file_stamp(self) -> tuple[int, int]:
        try:
            found = os.stat(os.path.join(self.home, "chitta.toml"))
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_size)
