"""Queues, ledgers and other lines on disk: what cannot be read is left out and loses nothing else."""

from __future__ import annotations

from tests.fuzz.kind import Target, must, split
from tests.fuzz.places import scratch

from chitta import bounded_log, feedback, sessions
from chitta.drain import answers, ledger, poison, queue
from chitta.session_hooks import flush
from chitta.wire import codec


def queues(data: bytes) -> None:
    waiting = queue.parse(data)
    lines = [line for each in waiting.lines.values() for line in each]
    must(sorted([*lines, *waiting.damaged]) == sorted(data.split(b"\n")[:-1]), "a line is lost", data)
    must([entry.transcript for entry in waiting.entries] == list(waiting.lines), "entries without lines", waiting)
    state = scratch("queue")
    (state / flush.QUEUE).write_bytes(data)
    must(queue.read(str(state)).entries == waiting.entries, "a file read otherwise", data)
    must(queue.remove(str(state), [*lines, *waiting.damaged]), "not removed")
    left = (state / flush.QUEUE).read_bytes()
    must(left == data.split(b"\n")[-1], "more or less is removed than was asked", data, left)


def ledgers(data: bytes) -> None:
    state = scratch("ledger")
    for name in (ledger.NAME, poison.NAME):
        (state / name).write_bytes(data)
    runs = ledger.read(str(state))
    for run in runs:
        ledger.known(runs, run.transcript)
        moment = ledger.seconds_of(run.ts)
        must(moment == 0 or ledger.stamp(moment) == run.ts or len(run.ts) != 20, "a time that changes", run.ts)
    ledger.cost_of(runs, "2026-01-31")
    ledger.digests(runs)
    poison.read(str(state))
    bounded_log.last(str(state), ledger.NAME)
    if runs:
        (state / ledger.NAME).unlink()
        ledger.append(str(state), runs[0])
        must(ledger.read(str(state)) == [runs[0]], "a line written again is another", runs[0])


def session_files(data: bytes) -> None:
    state = str(scratch("sessions"))
    with sessions.Held(state, "s") as held:
        held.show(["a"], "global")
    path = sessions._path(state, "s")
    with open(path, "wb") as file:
        file.write(data)
    known = sessions.read(state, "s")
    must(known.turn >= 0 and all(isinstance(turn, str) for turn in known.turns), "an odd session", known)
    codec.dumps(known._asdict())


def agent_answers(data: bytes) -> None:
    answer = answers.parse(data)
    must(len(answer.learnings) <= answers.MOST_LEARNINGS, "too many learnings", answer)
    must((answer.kind == answers.VALID) == bool(answer.learnings), "a class that does not fit", answer)
    for one in answer.learnings:
        must(
            len(one.text) <= answers.MOST_CHARS and len(one.title) <= answers.MOST_TITLE_CHARS,
            "a learning too long",
            one,
        )
        must("\x1b" not in one.text + one.title, "a control character is taken", one)
        f"{one.title}{one.text}".encode()


def feedback_logs(data: bytes) -> None:
    first, second = split(data, 2)
    state = scratch("feedback")
    (state / feedback.NAME).write_bytes(first + b"\n" + second)
    feedback.read(str(state))


_ENTRY = b'{"transcript_path":"/t/a.jsonl","session_id":"s","harness":"claude","cwd":"/x","trigger":"Stop","ts":"2026-01-31T10:00:00Z"}\n'
_RUN = (
    b'{"ts":"2026-01-31T10:00:00Z","transcript":"/t/a.jsonl","outcome":"done","start":0,"end":99,"mark":"m","digest":"d",'
    b'"notes":{"kept":2},"why":"","tries":0,"agent":true,"seconds":1.5,"asked":10,"answered":20}\n'
)
_LINES = (
    b"\n",
    b'"ts":',
    b'"tries":',
    b'"notes":{',
    b'"seconds":1e999',
    b"-1",
    b'"transcript":"',
    b'"outcome":"begun"',
    b"\\u0000",
    _RUN,
    _ENTRY,
)

TARGETS = (
    Target("queues", queues, lambda: [_ENTRY * 2, _ENTRY + b"broken\n" + _ENTRY[:40], b"\n\n"], _LINES),
    Target("ledgers", ledgers, lambda: [_RUN * 2, _RUN + _ENTRY, b'{"transcript":"/a","why":"w","at":"t"}\n'], _LINES),
    Target(
        "sessions",
        session_files,
        lambda: [b'{"turn":3,"turns":["a","b"],"injected":{"x":1},"realm":"global"}'],
        (b'"turn":', b'"turns":[', b'"injected":', b'"realm":'),
    ),
    Target(
        "agent-answers",
        agent_answers,
        lambda: [
            b'```json\n{"kind":"fix","title":"T","text":"a text that is long enough"}\n```\n',
            b'{"kind":"none"}\n',
            b"I'm sorry, I can't",
        ],
        (b'{"kind":"fix","title":"T","text":"', b'"}\n', b'{"kind":"none"}\n', b"```\n", b"\\u001b[31m", b"Sorry"),
    ),
    Target(
        "feedback",
        feedback_logs,
        lambda: [b'{"id":"a","block":"b","vote":1,"time":"2026-01-31T10:00:00Z"}\n'],
        (b'"id":', b'"vote":', b'"helpful":true', b"\n"),
    ),
)
