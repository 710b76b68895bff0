"""A whole drain: what is read, what is kept, what leaves the queue, and what a kill at any step costs."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.capture import keep as keeping
from chitta.drain import answers, extraction, ledger, poison, queue, run, source
from chitta.drain.agent import NoCommand
from chitta.drain.extraction import Extracted
from chitta.drain.ledger import FAILED, POISONED
from chitta.drain.retry import FIRST_WAIT_S, MOST_KILLS
from chitta.drain.run import LEFT, PASSED, READ, Drained, Wanted, drain, retry_poisoned
from chitta.drain.work import Busy, Workplace
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.session_hooks.flush import enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion
from chitta.settings import Settings, load

NOW = 1_800_000_000.0
GOOD = json.dumps({"kind": "fix", "title": "Stale lock", "text": "Remove the stale lock before you build."})


class Killed(BaseException):
    """Stands for a kill: nothing catches it, and nothing is written after it."""


class Place:
    """A store, its queue, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW
        self.environ = {"CHITTA_HOME": str(folder / "home")}

    @property
    def settings(self) -> Settings:
        return load(self.environ)

    def session(self, name: str, size: int = 5_000) -> str:
        path = self.folder / f"{name}.jsonl"
        entry = {
            "type": "user",
            "sessionId": name,
            "cwd": "/w",
            "message": {"role": "user", "content": f"{name} {'x' * size}"},
        }
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        return str(path)

    def queued(self, path: str) -> str:
        occasion = Occasion(FLUSH, "claude", "", Path(path).stem, "/w", transcript=path, why=STOP)
        assert enqueue(occasion, self.settings.state_dir, self.now)
        return path

    def drain(self, **wanted: Any) -> Drained:
        self.now += 1
        return drain(self.settings, Wanted(**wanted), lambda: self.now)

    def agent(self, body: str) -> None:
        path = self.folder / "agent.sh"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.environ["CHITTA_DRAIN_CMD"] = f"'{path}'"

    @property
    def waiting(self) -> list[str]:
        return [one.transcript for one in queue.read(self.settings.state_dir).entries]

    @property
    def notes(self) -> list[str]:
        store = NoteStore(self.settings.notes_dir)
        return sorted(store.read(fact.path).id for fact in store.scan())

    @property
    def runs(self) -> list[ledger.Run]:
        return ledger.read(self.settings.state_dir)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rules find one note in each transcript, named after its last line; the texts they were given."""
    given: list[str] = []

    def by_rules(path: str, origin: extraction.Origin) -> Extracted:
        text = Path(path).read_text(encoding="utf-8")
        given.append(text)
        note = Note(
            f"note-{origin.session}", kind="operational", realm=origin.realm, title="t", text="x", created=origin.day,
            confidence=0.3, authority="captured", source="captured: test", tags=("fix",),
            extra=(("captured", "fix"), ("session", origin.session), ("sessions", [origin.session])),
        )  # fmt: skip
        return Extracted((note,))

    monkeypatch.setattr(extraction, "by_rules", by_rules)
    return given


def outcomes(done: Drained) -> list[tuple[str, str]]:
    return [(Path(one.transcript).stem, one.outcome) for one in done.outcomes]


def test_what_waits_is_read_kept_and_let_go(place: Place, rules: list[str]) -> None:
    place.queued(place.session("a"))
    done = place.drain()
    assert outcomes(done) == [("a", READ)] and done.outcomes[0].kept == {"added": 1} and done.waiting == 0
    assert place.notes == ["note-a"] and place.waiting == []
    begun, started, last = place.runs
    assert (begun.outcome, started.outcome, last.outcome, last.start, last.end) == (
        "begun",
        "started",
        "done",
        0,
        os.stat(done.outcomes[0].transcript).st_size,
    )


def test_only_what_is_new_is_read_next_time_with_a_bit_before_it(place: Place, rules: list[str]) -> None:
    path = place.queued(place.session("a"))
    place.drain()
    size = os.stat(path).st_size
    place.queued(path)
    assert outcomes(place.drain()) == [("a", PASSED)] and place.waiting == []
    place.now += 61
    place.queued(place.session("a", 6_000))
    done = place.drain()
    assert outcomes(done) == [("a", READ)] and done.outcomes[0].new_bytes == os.stat(path).st_size - size
    assert place.runs[-1].start == size and len(rules) == 2 and place.notes == ["note-a"]


def test_the_same_session_under_another_name_is_not_new(place: Place, rules: list[str]) -> None:
    path = place.queued(place.session("a"))
    place.drain()
    other = place.folder / "b.jsonl"
    other.write_bytes(Path(path).read_bytes())
    place.queued(str(other))
    assert outcomes(place.drain()) == [("b", PASSED)] and len(rules) == 1


def test_a_run_and_a_day_have_their_shares(place: Place, rules: list[str]) -> None:
    place.environ |= {"CHITTA_DRAIN_RUN": "2", "CHITTA_DRAIN_DAILY": "3"}
    for name in "abcde":
        place.queued(place.session(name))
    assert outcomes(place.drain()) == [("a", READ), ("b", READ)]
    assert outcomes(place.drain()) == [("c", READ), ("d", LEFT), ("e", LEFT)]
    assert [Path(one).stem for one in place.waiting] == ["d", "e"]
    place.now += 86_400
    assert outcomes(place.drain(limit=1)) == [("d", READ)]


def test_in_a_hurry_rules_may_read_any_number_a_day_and_an_agent_may_not(place: Place, rules: list[str]) -> None:
    place.environ |= {"CHITTA_DRAIN_DAILY": "1"}
    for name in "abc":
        place.queued(place.session(name))
    assert outcomes(place.drain(hurried=True)) == [("a", READ), ("b", READ), ("c", READ)]
    place.agent(f"cat >/dev/null; echo '{GOOD}'")
    for name in "de":
        place.queued(place.session(name))
    assert outcomes(place.drain(hurried=True)) == [("d", READ), ("e", LEFT)]


def test_what_is_no_transcript_of_ours_is_passed_over(place: Place, rules: list[str]) -> None:
    gone, folder, pipe, link, small = (str(place.folder / f"{name}.jsonl") for name in "gfpls")
    os.mkdir(folder)
    os.mkfifo(pipe)
    os.symlink(place.session("real"), link)
    Path(small).write_text("{}\n")
    own = place.session("own")
    with open(own, "a", encoding="utf-8") as file:
        file.write(json.dumps({"text": "chitta-drain-task 1\n…"}) + "\n")
    for path in (gone, folder, pipe, link, small, own):
        place.queued(path)
    done = place.drain()
    assert {outcome for _, outcome in outcomes(done)} == {PASSED} and len(done.outcomes) == 6
    assert all(one.why for one in done.outcomes) and not rules and place.waiting == [] and place.runs == []


def test_a_dry_run_writes_nothing(place: Place, rules: list[str]) -> None:
    path = place.queued(place.session("a"))
    done = place.drain(dry_run=True)
    assert outcomes(done) == [("a", READ)] and len(done.outcomes[0].notes) == 1
    assert (place.notes, place.runs, place.waiting) == ([], [], [path])
    place.agent("touch ran")
    assert outcomes(place.drain(dry_run=True)) == [("a", READ)] and not list(place.folder.rglob("ran"))


def test_a_named_transcript_is_read_whether_it_waits_or_not(place: Place, rules: list[str]) -> None:
    place.queued(place.session("a"))
    path = place.session("b", 300)
    done = place.drain(only=(path,))
    assert outcomes(done) == [("b", READ)] and place.notes == ["note-b"] and len(place.waiting) == 1


def test_damaged_lines_are_dropped_and_counted(place: Place, rules: list[str]) -> None:
    place.queued(place.session("a"))
    with open(Path(place.settings.state_dir, "queue.jsonl"), "ab") as file:
        file.write(b"{half\n\n")
    assert place.drain().damaged == 2
    assert place.drain().damaged == 0


def test_a_transcript_that_grows_while_it_is_read_stays(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place.queued(place.session("a"))

    def by_rules(copy: str, origin: extraction.Origin) -> Extracted:
        place.session("a")
        return Extracted()

    monkeypatch.setattr(extraction, "by_rules", by_rules)
    assert outcomes(place.drain()) == [("a", READ)] and place.waiting == [path]


@pytest.mark.parametrize("step", ["begun", "copy", "extract", "keep", "kept", "done", "removed"])
def test_a_kill_at_any_step_loses_no_entry_and_doubles_no_note(
    place: Place, rules: list[str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    place.queued(place.session("a"))

    def dying(
        function: Callable[..., Any], before: bool, when: Callable[..., bool] = lambda *a: True
    ) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if not when(*given):
                return function(*given, **named)
            if not before:
                function(*given, **named)
            os._exit(9)

        return call

    def outcome_is(name: str) -> Callable[..., bool]:
        return lambda state, line: line.outcome == name

    targets: dict[str, tuple[Any, str, bool, Callable[..., bool]]] = {
        "begun": (ledger, "append", False, outcome_is("begun")),
        "copy": (source.Transcript, "copy", False, lambda *a: True),
        "extract": (extraction, "by_rules", False, lambda *a: True),
        "keep": (keeping, "keep", True, lambda *a: True),
        "kept": (keeping, "keep", False, lambda *a: True),
        "done": (ledger, "append", False, outcome_is("done")),
        "removed": (queue, "remove", False, lambda *a: True),
    }
    owner, name, before, when = targets[step]
    child = os.fork()
    if child == 0:
        setattr(owner, name, dying(getattr(owner, name), before, when))
        place.drain()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert place.waiting or step == "removed"
    place.now += FIRST_WAIT_S + 10
    place.drain()
    assert place.notes == ["note-a"] and place.waiting == []
    store = NoteStore(place.settings.notes_dir)
    assert [store.read(fact.path).proof_count for fact in store.scan()] == [1]


def killed(place: Place, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[], None]) -> None:
    child = os.fork()
    if child == 0:
        prepare()
        place.drain()
        os._exit(0)
    os.waitpid(child, 0)
    place.now += 86_400


def test_a_drain_that_is_killed_before_it_did_anything_was_no_try(
    place: Place, rules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place.queued(place.session("a"))
    for _ in range(4):
        killed(place, monkeypatch, lambda: monkeypatch.setattr(extraction, "by_rules", lambda *a: os._exit(9)))
    assert ledger.known(place.runs, place.waiting[0]).tries == 0
    assert outcomes(place.drain()) == [("a", READ)] and place.notes == ["note-a"]


def test_one_that_always_is_may_be_killed_by_the_transcript(
    place: Place, rules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place.queued(place.session("a"))
    for _ in range(MOST_KILLS):
        killed(place, monkeypatch, lambda: monkeypatch.setattr(extraction, "by_rules", lambda *a: os._exit(9)))
    assert outcomes(place.drain()) == [("a", POISONED)] and place.waiting == []


def test_a_transcript_that_kills_every_drain_is_set_aside(
    place: Place, rules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.queued(place.session("a"))
    for _ in range(3):
        killed(place, monkeypatch, lambda: monkeypatch.setattr(keeping, "keep", lambda *a, **b: os._exit(9)))
    assert outcomes(place.drain()) == [("a", POISONED)] and place.waiting == []
    assert [one.entry.transcript for one in poison.read(place.settings.state_dir)] == [path]


def test_what_fails_waits_longer_each_time_is_set_aside_and_can_be_tried_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, rules: list[str]
) -> None:
    works = extraction.by_rules

    def broken(path: str, origin: extraction.Origin) -> Extracted:
        raise RuntimeError("a shape that nobody has seen")

    monkeypatch.setattr(extraction, "by_rules", broken)
    path = place.queued(place.session("a"))
    assert outcomes(place.drain()) == [("a", FAILED)]
    assert outcomes(place.drain()) == [("a", LEFT)] and place.waiting == [path]
    place.now += FIRST_WAIT_S
    assert outcomes(place.drain()) == [("a", FAILED)]
    place.now += FIRST_WAIT_S + 10
    assert outcomes(place.drain()) == [("a", LEFT)]
    assert outcomes(place.drain(hurried=True)) == [("a", POISONED)] and place.waiting == []
    place.queued(path)
    assert outcomes(place.drain()) == [("a", PASSED)]
    assert retry_poisoned(place.settings, place.now) == 1 and place.waiting == [path]
    assert poison.read(place.settings.state_dir) == [] and retry_poisoned(place.settings, place.now) == 0
    monkeypatch.setattr(extraction, "by_rules", works)
    assert outcomes(place.drain()) == [("a", READ)] and place.notes == ["note-a"]


def test_a_drain_that_is_stopped_by_hand_has_not_failed(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(path: str, origin: extraction.Origin) -> Extracted:
        raise KeyboardInterrupt

    monkeypatch.setattr(extraction, "by_rules", stopped)
    path = place.queued(place.session("a"))
    with pytest.raises(KeyboardInterrupt):
        place.drain()
    assert place.waiting == [path] and place.runs[-1].tries == 0


def test_a_store_that_cannot_be_written_is_no_fault_of_the_transcript(
    place: Place, rules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any, **named: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keeping, "keep", full)
    for name in "ab":
        place.queued(place.session(name))
    done = place.drain()
    assert outcomes(done) == [("a", FAILED)] and "space" in done.problem and len(place.waiting) == 2
    assert place.runs[-1].tries == 0


def test_an_automatic_drain_is_not_again_so_soon_and_two_are_never_at_once(place: Place, rules: list[str]) -> None:
    place.queued(place.session("a"))
    assert outcomes(place.drain(automatic=True)) == [("a", READ)]
    place.queued(place.session("b"))
    assert place.drain(automatic=True) == Drained(problem="the last run was a moment ago")
    with Workplace(place.settings.state_dir), pytest.raises(Busy):
        place.drain()
    assert outcomes(place.drain()) == [("b", READ)]


# With an agent


SIGNAL = "no, use make check instead of pytest"


@pytest.fixture
def asked(place: Place) -> Place:
    """A place where one session with a signal waits."""
    path = place.session("a")
    entry = {"type": "user", "sessionId": "a", "cwd": "/w", "message": {"role": "user", "content": SIGNAL}}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    place.queued(path)
    return place


def test_an_agent_is_given_the_slice_and_its_learnings_are_kept_low(asked: Place) -> None:
    asked.agent(f"cat >'{asked.folder}/prompt'; pwd >'{asked.folder}/cwd'; ls -A >>'{asked.folder}/cwd'; echo '{GOOD}'")
    done = asked.drain()
    assert outcomes(done) == [("a", READ)] and done.outcomes[0].tokens > 0
    assert f"person: {SIGNAL}" in (asked.folder / "prompt").read_text()
    cwd = (asked.folder / "cwd").read_text().splitlines()
    assert (
        len(cwd) == 1 and cwd[0].startswith(os.path.realpath(asked.settings.state_dir)) and not os.path.exists(cwd[0])
    )
    store = NoteStore(asked.settings.notes_dir)
    (note,) = [store.read(fact.path) for fact in store.scan()]
    assert (note.kind, note.authority, note.tags) == ("operational", "captured", ("fix",)) and note.confidence <= 0.3
    assert dict(note.extra)["session"] == "a" and "captured: claude session a" in note.source


@pytest.mark.parametrize(
    ("body", "outcome", "why"),
    [
        ("cat >/dev/null; echo 'I found that you like make.'", FAILED, "prose"),
        ("cat >/dev/null; echo '[]'", FAILED, "format"),
        ("cat >/dev/null; exec yes", FAILED, "CHITTA_DRAIN_ANSWER_BYTES"),
        ("exit 1", FAILED, "exit code 1"),
        ("cat >/dev/null; echo \"I'm sorry, I can't.\"", POISONED, "declined"),
        ('cat >/dev/null; echo \'{"kind": "none"}\'', READ, "nothing"),
    ],
)
def test_each_class_of_answer(asked: Place, body: str, outcome: str, why: str) -> None:
    asked.agent(body)
    done = asked.drain()
    assert outcomes(done) == [("a", outcome)] and why in done.outcomes[0].why and asked.notes == []
    assert bool(asked.waiting) == (outcome == FAILED)
    cost = ledger.cost_of(asked.runs, ledger.stamp(asked.now)[:10])
    assert cost.agent_runs == 1 and cost.tokens > 0


def test_an_agent_that_hangs_is_ended_and_the_rest_is_not_tried(asked: Place) -> None:
    asked.environ["CHITTA_DRAIN_TIME_S"] = "1"
    asked.agent("exec sleep 600")
    asked.queued(asked.session("b"))
    done = asked.drain()
    assert outcomes(done) == [("a", FAILED)] and "CHITTA_DRAIN_TIME_S" in done.problem


def test_a_session_without_a_signal_costs_no_agent(place: Place) -> None:
    place.agent(f"touch '{place.folder}/ran'; echo '{GOOD}'")
    place.queued(place.session("quiet"))
    done = place.drain()
    assert outcomes(done) == [("quiet", READ)] and not (place.folder / "ran").exists() and place.notes == []


def test_a_command_that_is_none_costs_no_transcript_a_try(asked: Place) -> None:
    asked.environ["CHITTA_DRAIN_CMD"] = "no-such-agent-of-anybody"
    with pytest.raises(NoCommand):
        asked.drain()
    assert asked.waiting and asked.runs == []


def test_the_classes_that_come_again_are_all_but_the_settled_ones() -> None:
    assert not {answers.VALID, answers.IDLE, answers.REFUSED} & run._AGAIN
