"""Which memories of a store of all of a person's projects belong to the realm they are imported into.

Such a store names a project by its folder, a realm by where the project comes from. The rule:

- into ``global`` (or any realm that is no project's): all of them, with the project as a tag;
- into a project's realm: the memories of that project (the name of its repository or folder), and those
  of no project; where the store knows one project only, that one, with a remark if the name is another;
- the others are passed over, in one sentence that counts them. Importing in their folders brings them.
"""

from __future__ import annotations

import re
from collections import Counter

from chitta.notes.note import one_line

_PREFIX = "project:"
_HASH = re.compile(r"-[0-9a-f]{8}$")
_NAMED = 5  # projects that the sentence names


def project_name(value: str) -> str:
    """The name of a project that is given by name or by path."""
    return one_line(value.replace("\\", "/").rstrip("/").rpartition("/")[2], 100)


class Projects:
    """The projects of one store, by the number of memories that each has."""

    def __init__(self, counts: Counter[str], realm: str) -> None:
        self._counts = Counter({name: count for name, count in counts.items() if name})
        self._realm = realm
        self._names = _names_of(realm)
        self._only = len(self._counts) == 1

    def takes(self, project: str) -> bool:
        """Whether memories of this project (as :func:`project_name` gives it) are imported."""
        return not self._names or not project or project.lower() in self._names or self._only

    def remark(self, project: str) -> str:
        """What is to be said of a memory that was taken though the realm has another name."""
        if not self._names or not project or project.lower() in self._names:
            return ""
        return f"is of the project {project}, imported into {self._realm}"

    def passed_over(self) -> str:
        """The sentence that counts what was not taken; "" where all was."""
        left = [(name, count) for name, count in self._counts.items() if not self.takes(name)]
        if not left:
            return ""
        left.sort(key=lambda each: (-each[1], each[0]))
        named = ", ".join(f"{name} ({count:,})" for name, count in left[:_NAMED])
        more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
        total = sum(count for _, count in left)
        return (
            f"holds {total:,} of other projects, passed over: {named}{more}; "
            "import in their folders, or all of them with --global"
        )


def _names_of(realm: str) -> frozenset[str]:
    """The names, in lower case, that a project's folder may have; none where the realm is no project's."""
    if not realm.startswith(_PREFIX):
        return frozenset()
    name = realm[len(_PREFIX) :].rpartition("/")[2].lower()
    return frozenset({name, _HASH.sub("", name)})
