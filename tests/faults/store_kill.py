"""kill -9 at every step of everything that writes: no note is lost or torn, and nothing is left behind for good.

    .venv/bin/python tests/faults/store_kill.py [ACTION…]

An action runs in a forked process that kills itself before its first, second, third … call that changes a file, until
it survives. After each kill: every note is whole, as it was before or as it is after; the index comes level by itself;
the action done again ends where it would have ended; and no file is there that an undisturbed run does not leave.
Writes are killed half-way as well. What SQLite and tantivy do inside is not seen from here: that is what
tests/unit/index/test_killed.py and store_import.py kill.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))

from chitta import bounded_log, feedback, leftovers, sessions
from chitta import settings as table
from chitta.capture import keep as keeping
from chitta.cli.main import app
from chitta.curation.supersede import supersede
from chitta.feedback import Judgement
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.session_hooks.flush import enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion
from chitta.settings import Settings

DAY = "2026-01-31"
#: Steps that no action has; more is a loop.
MOST_STEPS = 400
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EVENTS = frozenset(
    {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod"}
)

State = dict[str, bytes]
Act = Callable[[Settings], object]


class Action(NamedTuple):
    """Something that writes. ``again``: done twice it ends in the same notes. ``indexed``: it needs an index before."""

    act: Act
    again: bool = True
    indexed: bool = False


# The shim


def die_at(nth: int, half: bool) -> None:
    """Kill this process before its ``nth`` change of a file; with ``half`` a write is made half before."""
    count = 0

    def step(write: Callable[[], Any] | None = None) -> None:
        nonlocal count
        count += 1
        if count == nth:
            if write is not None:
                write()
            os.kill(os.getpid(), signal.SIGKILL)

    def audited(event: str, args: tuple[Any, ...]) -> None:
        if event in EVENTS or event == "open" and isinstance(args[2], int) and args[2] & WRITING:
            step()

    real_write, real_fsync = os.write, os.fsync

    def write(file: int, data: Any) -> int:
        step((lambda: real_write(file, bytes(data)[: len(data) // 2])) if half else None)
        return real_write(file, data)

    def fsync(file: int) -> None:
        step()
        real_fsync(file)

    os.write, os.fsync = write, fsync  # type: ignore[assignment]
    sys.addaudithook(audited)


def child(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked process; its exit code, negative for a signal."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


# Actions


def chitta(*words: str) -> None:
    """A command as a person types it. Raises ``AssertionError`` where it does not succeed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            app(list(words), prog_name="chitta")
        except SystemExit as end:
            # 1: nothing to do, because a killed run had done it already.
            if end.code not in (0, None) and not (end.code == 1 and "AGAIN" in os.environ):
                raise AssertionError(f"{words[0]}: {said.getvalue()}") from None


def store_of(settings: Settings) -> NoteStore:
    return NoteStore(settings.notes_dir)


def old(number: int) -> Note:
    words = ("redis", "docker", "rails", "git")[number]
    return Note(id=f"old-{number}", title=f"About {words}", text=f"What {words} does.", created="2026-01-01")


def beside(settings: Settings, name: str) -> str:
    """A place outside of the store, that is part of what is looked at."""
    return os.path.join(os.path.dirname(settings.home), name)


def record_session(settings: Settings) -> None:
    with sessions.Held(settings.state_dir, "s") as held:
        held.record(turn=held.session.turn + 1, topic="a new topic", injected=["old-1"], realm="global")


def judged(settings: Settings) -> None:
    feedback.record(settings.state_dir, [Judgement("t", "b", "s", "old-1", feedback.UP, 0.5, 0.5, "hyb")])


def full_log(settings: Settings) -> None:
    """A log that is put aside at its next line."""
    path = Path(settings.state_dir, "searches.jsonl")
    if not path.exists():
        bounded_log.append(settings.state_dir, path.name, {"words": "x" * 200})
    bounded_log.append(settings.state_dir, path.name, {"words": "y"}, most_bytes=100)


def queued(settings: Settings) -> None:
    occasion = Occasion(FLUSH, "claude", "", "s", "/w", transcript="/w/s.jsonl", why=STOP)
    enqueue(occasion, settings.state_dir, time.time())


def captured() -> Note:
    extra = (("captured", "fix"), ("session", "s2"), ("sessions", ["s2"]))
    return old(1)._replace(id="new", authority="captured", extra=extra)


def synced(settings: Settings) -> None:
    from chitta.index.indexer import sync

    store_of(settings).write(old(1)._replace(text="Other words."))
    sync(settings, None, full=True)


ACTIONS: dict[str, Action] = {
    "write": Action(lambda s: store_of(s).write(Note(id="new", realm="project:h/o/n", text="x"))),
    "rewrite": Action(lambda s: store_of(s).write(old(0)._replace(text="Other words."))),
    "remove": Action(lambda s: store_of(s).remove("old-0")),
    "remember": Action(lambda s: chitta("remember", "A note on kafka consumer lag"), indexed=True),
    "import": Action(lambda s: chitta("import", beside(s, "notes.jsonl")), indexed=True),
    "sync-index": Action(synced),
    "forget": Action(lambda s: chitta("forget", "old-0", "--yes"), indexed=True),
    "capture": Action(lambda s: keeping.keep(store_of(s), captured(), state_dir=s.state_dir)),
    "supersede": Action(lambda s: supersede(store_of(s), old(0), old(0)._replace(id="newer", text="New."), DAY)),
    "supersede-same-id": Action(
        lambda s: supersede(store_of(s), old(0), old(0)._replace(text="New."), DAY), again=False
    ),
    "merge": Action(lambda s: chitta("merge", "old-0", "old-1"), again=False, indexed=True),
    "archive": Action(lambda s: chitta("archive", "old-0"), indexed=True),
    "feedback": Action(judged),
    "session": Action(record_session),
    "log": Action(full_log),
    "queue": Action(queued),
    "export-jsonl": Action(lambda s: chitta("export", beside(s, "out.jsonl"), "--all"), indexed=True),
    "export-folder": Action(lambda s: chitta("export", beside(s, "out"), "--all"), indexed=True),
}


#: Those that write by a call of their own, which may be done half.
HALF = frozenset({"feedback", "session", "log", "queue"})


# Looking


def prepare(place: str, action: Action) -> Settings:
    settings = table.load()
    store = store_of(settings)
    for number in range(4):
        store.write(old(number))
    record_session(settings)
    judged(settings)
    lines = "".join(f'{{"id": "in-{n}", "title": "t{n}", "text": "Imported text {n}."}}\n' for n in range(4))
    Path(place, "notes.jsonl").write_text(lines, encoding="utf-8")
    if action.indexed:
        from chitta.index.indexer import sync

        sync(settings, None)
    return settings


def notes_in(settings: Settings) -> State:
    """Every note by its place. Raises for one that cannot be read."""
    store = store_of(settings)
    found = {}
    for fact in store.scan():
        store.read(fact.path)
        found[str(fact.path.relative_to(store.root))] = fact.path.read_bytes()
    return found


def files_in(place: str, settings: Settings) -> set[str]:
    """Every file but those inside the index's generations, and locks, which are empty and of one name."""
    found = set()
    for folder, below, files in os.walk(place):
        if folder == settings.index_dir:
            below[:] = []
            files = [name for name in files if name != "current"]
        found |= {os.path.relpath(os.path.join(folder, name), place) for name in files if "lock" not in name}
    return found


def whole(before: State, after: State, settings: Settings) -> None:
    """Each note as it was or as it will be; none of those that stay is missing."""
    now = notes_in(settings)
    for path, content in now.items():
        assert content in (before.get(path), after.get(path)), f"{path} is torn: {content[:200]!r}"
    missing = (before.keys() & after.keys()) - now.keys()
    assert not missing, f"lost: {missing}"
    log = os.path.join(settings.state_dir, "feedback.jsonl")
    assert os.path.exists(log) and len(feedback.read(settings.state_dir)) == 1
    assert sessions.read(settings.state_dir, "s").turn in (1, 2)


def recovered(settings: Settings) -> None:
    """The index comes level by itself, and stays so."""
    from chitta.index.indexer import needs_sync, sync
    from chitta.index.snapshot import open_snapshot

    sync(settings, None)
    assert not needs_sync(settings)
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None and snapshot.problems == [], snapshot and snapshot.problems
    assert snapshot.catalog.count() == len(notes_in(settings))
    snapshot.close()


def battery(name: str, half: bool) -> int:
    """Kill one action at each of its steps; how many there were. Raises ``AssertionError``."""
    action = ACTIONS[name]
    top = tempfile.mkdtemp(prefix="chitta-kill.")
    try:
        model = os.path.join(top, "model")
        at(model)
        assert child(lambda: prepare(model, action)) == 0
        before = notes_in(at(model))
        done = copied(model, os.path.join(top, "done"))
        assert child(lambda: action.act(at(done))) == 0, "it fails undisturbed"
        after, files = notes_in(at(done)), files_in(done, at(done))
        assert fingerprint(done) != fingerprint(model), "it changes nothing undisturbed"
        for nth in range(1, MOST_STEPS):
            place = copied(model, os.path.join(top, "killed"))
            settings = at(place)

            def dying(settings: Settings = settings, nth: int = nth) -> None:
                die_at(nth, half)
                action.act(settings)

            code = child(dying)
            if code == 0:
                return nth - 1
            assert code == -signal.SIGKILL, f"step {nth}: exit code {code}"
            where = f"{name}, killed at step {nth}"
            whole(before, after, settings)
            if action.indexed:
                assert child(partial(recovered, settings)) == 0, f"{where}: the index did not recover"
            assert child(partial(once_more, action, settings)) == 0, f"{where}: it fails when done again"
            if action.again:
                again = notes_in(settings)
                assert again == after, f"{where}: done again it ends elsewhere: {again.keys() ^ after.keys()}"
            leftovers.sweep(settings, time.time() + 2 * leftovers.ABANDONED_S)
            extra = {path for path in files_in(place, settings) - files if not path.endswith(".md")}
            assert not extra, f"{where}: left behind: {extra}"
        raise AssertionError(f"{name} does not end")
    finally:
        shutil.rmtree(top, ignore_errors=True)


def once_more(action: Action, settings: Settings) -> None:
    """The action again, an hour later: what the killed one left is old by then."""
    os.environ["AGAIN"] = "1"
    leftovers.ABANDONED_S = -60.0
    action.act(settings)


def fingerprint(place: str) -> State:
    return {os.path.relpath(path, place): path.read_bytes() for path in Path(place).rglob("*") if path.is_file()}


def copied(source: str, target: str) -> str:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def at(place: str) -> Settings:
    """The settings of the store at this place."""
    os.environ["CHITTA_HOME"] = os.path.join(place, "h")
    os.environ["HOME"] = place
    os.makedirs(place, exist_ok=True)
    os.chdir(place)
    return table.load()


def main(names: list[str]) -> int:
    os.environ |= {"CHITTA_NO_DAEMON": "1", "CHITTA_EMBED_MODEL": "/no/such/model"}
    os.umask(0o077)
    if strange := [name for name in names if name not in ACTIONS]:
        print(f"usage: store_kill.py [ACTION…]; {strange[0]} is none of {', '.join(ACTIONS)}", file=sys.stderr)
        return 2
    total = failed = 0
    for name in names or list(ACTIONS):
        for half in (False, True) if name in HALF else (False,):
            kind = "half-way" if half else "before"
            try:
                total += 1
                print(f"ok   {name}: killed {kind} each of {battery(name, half)} steps", flush=True)
            except AssertionError as problem:
                failed += 1
                print(f"FAIL {name}: killed {kind} a step: {problem}", flush=True)
    print(f"{total} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
