"""Faults of places: index, notes, disk, home, temporary folder, settings, log, environment."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.faults.catalogue import Spoil, fault, named
from tests.faults.process_faults import _hold
from tests.faults.world import HALF_A_LINE, NotHere, Run, mount

# Index and notes


def _index_files(run: Run) -> list[Path]:
    return sorted(path for path in (run.store / "index").rglob("*") if path.is_file())


def _spoiled_file(spoil: Callable[[Path, Run], object]) -> Spoil:
    def of_one(run: Run) -> None:
        for path in run.dice.sample(_index_files(run), run.dice.choice((1, 1, 1, 3))):
            spoil(path, run)
        run.degrades = None

    return of_one


def _cut(path: Path, run: Run) -> None:
    os.truncate(path, run.dice.randrange(max(path.stat().st_size, 1)))


def _scramble(path: Path, run: Run) -> None:
    raw = bytearray(path.read_bytes())
    for _ in range(1 + len(raw) // 50):
        if raw:
            raw[run.dice.randrange(len(raw))] = run.dice.randrange(256)
    path.write_bytes(raw)


def _replace_by_folder(path: Path, run: Run) -> None:
    path.unlink()
    path.mkdir()


def _replace_by_fifo(path: Path, run: Run) -> None:
    path.unlink()
    os.mkfifo(path)


named(
    "index",
    {
        "a file cut": _spoiled_file(_cut),
        "a file empty": _spoiled_file(lambda path, run: os.truncate(path, 0)),
        "a file scrambled": _spoiled_file(_scramble),
        "a file missing": _spoiled_file(lambda path, run: path.unlink()),
        "a file is a folder": _spoiled_file(_replace_by_folder),
        "a file is a FIFO": _spoiled_file(_replace_by_fifo),
        "missing": lambda run: shutil.rmtree(run.store / "index"),
        "two generations, the later one empty": lambda run: (run.store / "index" / "gen-000002").mkdir(),
    },
)


def _another_version(run: Run) -> None:
    catalog = sqlite3.connect(next((run.store / "index").rglob("catalog.sqlite")))
    with catalog:
        catalog.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    catalog.close()
    run.degrades = None


def _another_model(run: Run) -> None:
    run.set("CHITTA_EMBED_MODEL", run.dice.choice(("/nowhere", "no such model", "a" * 500)))
    run.checkout.put_lanes(("keyword", "correction-key", "hybrid", "semantic"))
    run.degrades = None


named("index", {"another version": _another_version, "another model": _another_model}, 3)


def _notes(change: Callable[[Path, Run], object]) -> Spoil:
    return lambda run: _unit(change(run.store / "notes", run))


def _unit(value: object) -> None:
    return None


def _a_file_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x")


def _a_link_instead(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to("/proc/nowhere/at/all")


def _note(raw: bytes) -> Spoil:
    return _notes(lambda notes, run: (notes / "global" / "odd.md").write_bytes(raw))


def _large(notes: Path, run: Run) -> None:
    with open(notes / "global" / "large.md", "wb") as file:
        file.write(b"---\nid: large\n---\n")
        file.truncate(50_000_000)


def _many(notes: Path, run: Run) -> None:
    for number in range(100_000):
        (notes / "global" / f"many-{number}.md").write_bytes(b"---\nid: many-%d\n---\nwords\n" % number)


named(
    "notes",
    {
        "no UTF-8": _note(b"---\nid: odd\ntitle: \xff\xfe\n---\n\x80\x81"),
        "half a front matter": _note(b"---\nid: [odd\ntitle: {"),
        "missing": _notes(lambda notes, run: shutil.rmtree(notes)),
        "a file": _notes(lambda notes, run: _a_file_instead(notes)),
        "unreadable": _notes(lambda notes, run: notes.chmod(0)),
        "50 MB": _notes(_large),
        "a FIFO": _notes(lambda notes, run: os.mkfifo(notes / "global" / "pipe.md")),
        "a link to itself": _notes(lambda notes, run: (notes / "global" / "loop").symlink_to(".")),
    },
    3,
)
fault("notes", "100,000", weight=1, long=True)(_notes(_many))


# Disk, home, temporary folder


def _full(folder: Path, run: Run) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    mount(run, folder, "-t", "tmpfs", "-o", "size=16k,mode=700", "tmpfs")
    try:
        (folder / "filler").write_bytes(b"x" * 16_384)
    except OSError:
        pass


@fault("disk", "full for state")
def full_state(run: Run) -> None:
    _full(run.store / "state", run)
    run.logs = False


@fault("disk", "full for temporary files")
def full_temporary(run: Run) -> None:
    _full(run.temporary, run)
    run.degrades = None


@fault("temporary folder", "none is named and the one in memory is full, missing or read-only")
def no_memory_folder(run: Run) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir():
        raise NotHere("there is no folder in memory")
    sizes = ("size=16k", "size=300k", "size=340k", "nr_inodes=3,size=1m", "nr_inodes=20,size=1m", "ro,size=16k")
    size = run.dice.choice(sizes)
    mount(run, memory, "-t", "tmpfs", "-o", size, "tmpfs")
    run.swept.append(memory)
    run.env.pop(b"TMPDIR")
    run.degrades = None  # with room for some files and not for all, nothing can be done


@fault("disk", "read-only home")
def read_only_home(run: Run) -> None:
    mount(run, run.home, "--bind", str(run.home))
    mount_again = ["-o", "remount,ro,bind"]
    mount(run, run.home, *mount_again)
    run.undo.pop()
    run.logs = False


def _own_slash_tmp(run: Run, *options: str) -> None:
    if str(run.folder).startswith("/tmp/"):
        raise NotHere("the battery itself stands in /tmp")
    mount(run, Path("/tmp"), *options)


@fault("temporary folder", "missing, another is found")
def no_tmpdir(run: Run) -> None:
    other = run.folder / "slash-tmp"
    other.mkdir(mode=0o1777)
    _own_slash_tmp(run, "--bind", str(other))
    run.swept.append(other)
    run.set("TMPDIR", run.dice.choice((run.folder / "no such", "/dev/null", "relative/no")))


@fault("temporary folder", "no /tmp")
def no_tmp(run: Run) -> None:
    _own_slash_tmp(run, "-t", "tmpfs", "-o", "ro,size=4k", "tmpfs")
    run.set("TMPDIR", "/nowhere")


@fault("temporary folder", "a name with spaces and quotes")
def odd_tmpdir(run: Run) -> None:
    folder = run.folder / "a 'temporary' $folder\nof mine"
    folder.mkdir()
    run.swept.append(folder)
    run.set("TMPDIR", folder)


def _home(change: Callable[[Run], object], logs: bool = False) -> Spoil:
    def spoil(run: Run) -> None:
        change(run)
        run.logs = run.logs and logs
        run.degrades = None

    return spoil


def _home_is_file(run: Run) -> None:
    (run.folder / "file").write_text("x")
    run.set("HOME", run.folder / "file")
    run.env.pop(b"CHITTA_HOME")


named(
    "home",
    {
        "unset, the store is named": _home(lambda run: run.env.pop(b"HOME"), logs=True),
        "empty": _home(lambda run: run.set("HOME", ""), logs=True),
        "a file": _home(_home_is_file),
        "the store is a file": _home(lambda run: _a_file_instead(run.store)),
        "the store is missing": _home(lambda run: shutil.rmtree(run.store), logs=True),
        "the store is a link to nowhere": _home(lambda run: _a_link_instead(run.store)),
    },
)


def _gone_cwd(run: Run) -> None:
    leave = 'f=gone.$$; /bin/mkdir $f; cd $f; /bin/rmdir ../$f; exec "$@"'
    run.command = ["/bin/sh", "-c", leave, "-", *run.command]


named("folder", {"a working folder that is gone": _gone_cwd})


# Settings, log, sessions


def _toml(make: Callable[[Path], object]) -> Spoil:
    return lambda run: _unit(make(run.store / "chitta.toml"))


def _large_toml(path: Path) -> None:
    path.write_text("# nothing but words\n" * 1_000_000)


named(
    "settings",
    {
        "broken": _toml(lambda path: path.write_text("budget = [1, {")),
        "no UTF-8": _toml(lambda path: path.write_bytes(b"\xff\xfe\x00")),
        "nested": _toml(lambda path: path.write_text("a = " + "[" * 20_000 + "]" * 20_000)),
        "wrong kinds": _toml(
            lambda path: path.write_text('hook_budget_ms = "soon"\nlane_limit_ms = -5\n[merge]\nx = 1\n')
        ),
        "a folder": _toml(lambda path: path.mkdir()),
        "a FIFO": _toml(os.mkfifo),
        "20 MB": _toml(_large_toml),
        "a device without end": _toml(lambda path: path.symlink_to("/dev/zero")),
    },
    3,
)


def _log(make: Callable[[Path], object], logs: bool = False) -> Spoil:
    def spoil(run: Run) -> None:
        make(run.state() / "recall-log.jsonl")
        run.logs = run.logs and logs

    return spoil


named(
    "log",
    {
        "a FIFO": _log(os.mkfifo),
        "a folder": _log(lambda path: path.mkdir()),
        "a full device": _log(lambda path: path.symlink_to("/dev/full")),
        "8 MB": _log(lambda path: path.write_bytes(b'{"x":1}\n' * 1_000_001), logs=False),
        "half a line": _log(lambda path: path.write_bytes(HALF_A_LINE)),
    },
)


def _session(make: Callable[[Path], object]) -> Spoil:
    def spoil(run: Run) -> None:
        from hashlib import sha256

        folder = run.state() / "sessions"
        folder.mkdir()
        make(folder / f"{sha256(b's').hexdigest()[:24]}.json")
        run.degrades = None

    return spoil


named(
    "session",
    {
        "garbage": _session(lambda path: path.write_bytes(b"\x00{{{")),
        "another version": _session(lambda path: path.write_text('{"v":99,"turns":7}')),
        "a folder": _session(lambda path: path.mkdir()),
        "a FIFO": _session(os.mkfifo),
        "the folder is a file": _session(lambda path: _a_file_instead(path.parent)),
    },
    3,
)


@fault("session", "locks are held")
def locks_held(run: Run) -> None:
    for name in ("state/sessions/lock", "state/recall-log.lock", "index/write.lock"):
        _hold(run, run.store / name)


# The environment


def _environment(**values: str) -> Spoil:
    def spoil(run: Run) -> None:
        for name, value in values.items():
            run.set(name, value)

    return spoil


def _noisy(run: Run) -> None:
    path = run.folder / "noisy"
    path.write_text('echo noise; echo noise >&2; printf "\\033[31m"; set -e; rm() { echo noise; }; exit 7\n')
    for name in ("BASH_ENV", "ENV", "PYTHONSTARTUP"):
        run.set(name, path)


def _functions(run: Run) -> None:
    for name in ("mktemp", "printf", "wait", "cd", "readlink", "rm", "[[", "trap", "kill", "local"):
        run.set(f"BASH_FUNC_{name}%%", "() { echo noise; return 1; }")


def _many_variables(run: Run) -> None:
    for number in range(1_000):
        run.set(f"CHITTA_X{number}", "a\nb" if number % 2 else "y" * 100)
    run.set("LARGE", "z" * 100_000)


def _shims(run: Run) -> None:
    folder = run.folder / "shims"
    folder.mkdir()
    for name in ("python3", "python", "git", "date", "jq", "timeout", "bash", "env"):
        (folder / name).write_text("#!/bin/sh\necho noise\nexit 1\n")
        (folder / name).chmod(0o755)
    run.set("PATH", f"{folder}:/usr/bin:/bin")


def _few_descriptors(run: Run) -> None:
    run.before = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    run.degrades = None


named(
    "PATH",
    {
        "minimal": _environment(PATH="/usr/bin:/bin"),
        "empty": _environment(PATH=""),
        "nowhere": _environment(PATH="/nowhere"),
    },
)
named("PATH", {"unset": lambda run: _unit(run.env.pop(b"PATH")), "noisy shims first": _shims})
named(
    "environment",
    {
        "LC_ALL=C": _environment(LC_ALL="C", LANG="C", PYTHONIOENCODING="cp1252"),
        "languages of nowhere": _environment(LANGUAGE="\udcff", LC_MESSAGES="", LC_TIME="C"),
        "colours": _environment(FORCE_COLOR="1", CLICOLOR_FORCE="1", PY_COLORS="1", TERM="xterm-256color"),
        "noisy profile": _noisy,
        "exported functions": _functions,
        "CDPATH and IFS": _environment(CDPATH="/:/usr", IFS="/.=:0123456789 ", GLOBIGNORE="*", PS4="$(echo noise)"),
        "shell options": _environment(
            SHELLOPTS="xtrace:verbose:errexit:noclobber:noglob", BASHOPTS="failglob:nullglob", POSIXLY_CORRECT="1"
        ),
        "Python's variables": _environment(
            PYTHONPATH="/nowhere", PYTHONHOME="/nowhere", PYTHONWARNINGS="error", PYTHONVERBOSE="1", PYTHONUTF8="0"
        ),
        "settings that are none": _environment(
            CHITTA_LANE_LIMIT_MS="-5", CHITTA_STDIN_WAIT_MS="nan", CHITTA_ABLATE_LANES="*", CHITTA_REALM="\udcff/../x"
        ),
        "a thousand variables": _many_variables,
        "an unknown harness": lambda run: setattr(run, "harness", '"$(x)'),
    },
)
named("descriptors", {"twenty-four": _few_descriptors}, 2)


@fault("none", "nothing is wrong", weight=6)
def nothing(run: Run) -> None:
    pass
