"""Which files instruct agents, what their front matter says, which files they import, and what in them is no memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.importing.imported import NOT_OURS, Imported, is_markdown, leads_outside, place_of, walk
from chitta.importing.sections import Section, prose
from chitta.notes.frontmatter import parts_of
from chitta.notes.note import one_line
from chitta.notes.realms import GLOBAL

#: Imports of imports are followed so deep (the agent's own limit).
MAX_DEPTH = 5
#: Words that refer to what came before: an item that begins so is not understood alone.
REFERRING = frozenset(
    "it its this that these those they them he she also then otherwise and but or so else instead however same".split()
)

_NAMES = frozenset(
    {
        *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"),
        *(".cursorrules", ".windsurfrules", ".clinerules"),
    }
)
_IMPORTING = frozenset({"CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"})
_HIDDEN = frozenset({".cursor", ".github", ".windsurf"})
_RULE_FOLDERS = {(".cursor", "rules"): (".mdc", ".md"), (".windsurf", "rules"): (".md",)}
#: Folders below a person's home whose instructions hold in every project.
_OWN = (".claude", ".codex", ".gemini", ".copilot")
_IMPORT = re.compile(r"(?<![\w`@./-])@((?:~/|\.{1,2}/|/)?[\w.-]+(?:/[\w.-]+)*)")
_SPAN = re.compile(r"`[^`\n]*`")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)")
_CONTENTS = frozenset({"table of contents", "contents", "toc", "inhaltsverzeichnis", "sommaire"})
_ANCHOR = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[[^\]]*\]\(#[^)]*\)\s*")
_BADGES = re.compile(r"\s*(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?\s*)+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INTRODUCTION = re.compile(
    r"this (?:file|document) (?:provides|contains|gives) (?:guidance|instructions?) (?:to|for) .{1,200}", re.I
)


class Front(NamedTuple):
    """Front matter of rules. ``lines`` is how many lines of the file it takes, ``globs`` the files it is about."""

    fields: dict[str, object]
    body: str
    lines: int
    problem: str = ""

    @property
    def description(self) -> str:
        value = self.fields.get("description")
        return value.strip() if isinstance(value, str) else ""

    @property
    def globs(self) -> str:
        """The patterns of files, each in backticks; empty where the rules hold for all of them."""
        return ", ".join(f"`{pattern}`" for pattern in _patterns(self.fields) if pattern not in ("*", "**", "**/*"))

    @property
    def extra(self) -> dict[str, object]:
        found: dict[str, object] = {}
        if _patterns(self.fields):
            found["globs"] = _patterns(self.fields)
        always = self.fields.get("alwaysApply")
        if always is not None:
            found["always_apply"] = str(always).lower() == "true"
        return found


class Imports(NamedTuple):
    """Files that a text imports, and sentences on those that are not followed."""

    paths: list[Path]
    remarks: list[str]


def detect(path: Path) -> bool:
    """Whether this is a file of instructions, or a folder that holds such files at their usual places."""
    if not path.is_dir():
        return is_instructions(path)
    if path.name in _HIDDEN or path.parent.name in _HIDDEN:
        return any(True for _ in find(path, []))
    places = [path / name for name in sorted(_NAMES)]
    places += [path / ".github" / "copilot-instructions.md", path / ".github" / "instructions"]
    places += [path.joinpath(*folder) for folder in _RULE_FOLDERS]
    return any(place.exists() for place in places)


def default_paths() -> tuple[Path, ...]:
    """The person's own instructions, and the project that the command is run in."""
    home = Path.home()
    own = (home / ".claude/CLAUDE.md", home / ".codex/AGENTS.md", home / ".gemini/GEMINI.md")
    here = Path.cwd()
    return (*own, top(here)) if here != home and detect(top(here)) else own


def is_instructions(path: Path) -> bool:
    """Whether a file is one by its name and place."""
    above = Path(os.path.abspath(path)).parent
    if path.name in _NAMES:
        return True
    if path.name == "copilot-instructions.md":
        return above.name == ".github"
    if path.name.endswith(".instructions.md"):
        return any(part.name == "instructions" and part.parent.name == ".github" for part in (above, *above.parents))
    if path.suffix == ".mdc":
        return True
    for (outer, inner), suffixes in _RULE_FOLDERS.items():
        if path.suffix in suffixes:
            if any(part.name == inner and part.parent.name == outer for part in (above, *above.parents)):
                return True
    return False


def find(path: Path, problems: list[Imported]) -> Iterator[Path]:
    """The file, or the folder's files of instructions: those that are links to others come last.

    One link that is given by itself stands for the file of instructions that it leads to.
    """
    if not path.is_dir():
        real = Path(os.path.realpath(path))
        led = path.is_symlink() and is_instructions(real) and not leads_outside(path, top(path.parent))
        yield path.parent / os.path.relpath(real, os.path.realpath(path.parent)) if led else path
        return
    files = walk(path, problems, keep=_may_be, hidden=_HIDDEN, without=NOT_OURS)
    found = [file for file in files if is_instructions(file)]
    folders = {folder: at for at, folder in enumerate(dict.fromkeys(file.parent for file in found))}
    # In a folder CLAUDE.md and its like first: other files are mostly copies of them.
    links = {file for file in found if file.is_symlink()}
    yield from sorted(
        found,
        key=lambda file: (file in links, folders[file.parent], file not in links and file.name not in _IMPORTING),
    )


def top(folder: Path) -> Path:
    """The folder that paths are told from: the repository's, else the one that holds the rules' own folders."""
    folder = Path(os.path.abspath(folder))
    home = Path.home()
    for above in (folder, *folder.parents):
        if above == home:
            break
        if (above / ".git").exists():
            return above
    for above in (folder, *folder.parents):
        if above.name in _HIDDEN:
            return above.parent
    return folder


def label(file: Path, root: Path, realm: str) -> str:
    """The file as its notes name it: below its repository (:func:`chitta.importing.imported.place_of`), else below
    ``root``; in the realm ``global``, which has no folder, whole.
    """
    whole = Path(os.path.abspath(file))
    if realm != GLOBAL:
        return place_of(whole, root, realm)
    try:
        return "~/" + whole.relative_to(Path.home()).as_posix()
    except ValueError:
        return whole.as_posix()


def realm_of_file(file: Path, realm: str) -> str:
    """The realm of a file's notes: what is in a person's own agent folder holds everywhere."""
    whole, home = Path(os.path.abspath(file)), Path.home()
    return GLOBAL if any(whole.parent == home / name for name in _OWN) else realm


def front_of(text: str) -> Front:
    """Front matter and the text below it. Patterns that YAML cannot read (``globs: **/*.ts``) are read as written."""
    parts = parts_of(text)
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if parts.problem and clean.startswith("---\n"):
        head, closed, body = clean[4:].partition("\n---\n")
        lines = [line for line in head.split("\n") if line.strip()]
        found = [_FIELD.fullmatch(line) for line in lines]
        if closed and all(found):
            fields: dict[str, object] = {each[1]: each[2].strip().strip("'\"") for each in found if each}
            return Front(fields, body, head.count("\n") + 3)
    return Front(parts.fields, parts.body, clean.count("\n") - parts.body.count("\n"), parts.problem)


def has_imports(name: str, depth: int) -> bool:
    """Whether ``@path`` in a file of this name, or in one that was imported, stands for another file."""
    return depth > 0 or name in _IMPORTING


def imports_of(text: str, file: Path, home: Path, depth: int) -> Imports:
    """What the text imports: files below ``home``, the folder of the first file; the rest becomes remarks.

    ``@name`` without a file of that name (a person, a package) is no import.
    """
    found = Imports([], [])
    for word in dict.fromkeys(match[1].rstrip(".,;:") for match in _IMPORT.finditer(_SPAN.sub("", prose(text)))):
        target = Path(os.path.expanduser(word)) if word.startswith("~") else file.parent / word
        shaped = word.startswith(("~/", "./", "../", "/")) or word.lower().endswith(
            (".md", ".markdown", ".mdc", ".txt")
        )
        try:
            there = target.is_file()
            outside = leads_outside(target, home)
        except (OSError, ValueError):
            continue
        if outside and (shaped or there):
            found.remarks.append(f"imports {word}, which is outside of its folder: not followed")
        elif there and depth >= MAX_DEPTH:
            found.remarks.append(f"imports {word} more than {MAX_DEPTH} deep: not followed")
        elif there:
            found.paths.append(target)
        elif shaped:
            found.remarks.append(f"imports {word}, which is not there")
    return found


def skipped(section: Section) -> str:
    """Why a section holds nothing to remember; "" where it does."""
    text = section.text.strip()
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return "is empty"
    if section.headings and section.headings[-1].casefold() in _CONTENTS:
        return "is a table of contents"
    if len(lines) > 1 and all(_ANCHOR.fullmatch(line) for line in lines):
        return "is a table of contents"
    if all(_BADGES.fullmatch(line) for line in lines):
        return "has only badges and pictures"
    if not _COMMENT.sub("", text).strip():
        return "has only comments"
    if _INTRODUCTION.fullmatch(one_line(text)):
        return "only says what the file is for"
    if all(_IMPORT.sub("", line).strip(" -*+\t") == "" for line in lines):
        return "only imports other files"
    return ""


def _may_be(name: str) -> bool:
    return name in _NAMES or is_markdown(name) or name.endswith(".mdc")


def _patterns(fields: dict[str, object]) -> list[str]:
    value = next((fields[key] for key in ("globs", "applyTo", "glob") if fields.get(key)), None)
    if isinstance(value, str):
        value = value.strip("[]").split(",")
    items = value if isinstance(value, list) else []
    return [text for text in (str(item).strip().strip("'\"") for item in items) if text]
