"""A daemon under tens of thousands of mixed requests: its memory, descriptors and threads stay what they were.

    tests/run soak -- [--requests N] [--seed S] [--with-model]

Turns, lanes, merges, questions, syncs after edits, frames that are none, halves of frames, and clients that leave:
all against one real daemon over a small store of its own. The figures are taken while nobody is asking. After the
warm-up, a quarter of the requests, memory may grow by a tenth and descriptors not at all.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))

from chitta import daemon_client
from chitta import settings as table
from chitta.daemon import lifecycle
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings
from chitta.wire import codec

REQUESTS = 20_000
LEAST = 400
#: Askers at once: about what two prompts of one person's sessions make.
ASKERS = 8
#: Share of the requests that are warm-up, and the share by which memory may have grown since.
WARM_UP, GROWTH = 0.25, 0.10
#: Points at which figures are taken; a multiple of the warm-up's parts.
POINTS = 20
NOTES = 200
PATIENCE_S = 60.0
LANES = ("keyword", "semantic", "context", "hybrid", "cross-realm", "correction", "correction-key")
TOPICS = (
    "redis cache eviction", "docker compose network", "rails routes", "git rebase conflict", "ssh tunnel port",
    "postgres vacuum", "stripe webhook signature", "nginx reverse proxy", "kafka consumer lag", "python packaging wheel",
)  # fmt: skip


class Figures(NamedTuple):
    """The daemon at one moment: requests so far, resident bytes, open descriptors, threads."""

    requests: int
    rss: int
    descriptors: int
    threads: int


class Soak:
    """One daemon, its store, and those who ask it."""

    def __init__(self, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.notes = NoteStore(settings.notes_dir)
        self.done: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.kinds: tuple[tuple[str, int, Callable[[random.Random], str]], ...] = (
            ("lane", 560, self.lane),
            ("turn", 140, self.turn),
            ("merge", 100, self.merge),
            ("recall", 50, self.recall),
            ("ping", 20, lambda chance: self.expect("call", ("ping",), {}, "000")),
            ("sync", 10, self.sync),
            ("bad frame", 40, self.bad_frame),
            ("half frame", 40, self.half_frame),
            ("disconnect", 40, self.disconnect),
        )

    def burst(self, first: int, count: int) -> None:
        """So many requests by all askers together; returns when the last one has its answer."""
        threads = [
            threading.Thread(target=self._ask, args=(number, first, count // ASKERS + (number < count % ASKERS)))
            for number in range(ASKERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _ask(self, number: int, first: int, count: int) -> None:
        chance = random.Random(f"{self.seed} {first} {number}")
        weights = [weight for _, weight, _ in self.kinds]
        for _ in range(count):
            name, _, ask = chance.choices(self.kinds, weights)[0]
            try:
                problem = ask(chance)
            except Exception as failure:  # whatever it is, it is an error of this run
                problem = f"{type(failure).__name__}: {failure}"
            with self._lock:
                self.done[name] += 1
                if problem:
                    self.errors[f"{name}: {problem}"] += 1

    # Requests; each gives "" or what was wrong with the answer

    def words(self, chance: random.Random) -> str:
        return f"how do I fix {chance.choice(TOPICS)} number {chance.randrange(2_000)}"

    def request(self, chance: random.Random) -> dict[str, Any]:
        realm = chance.choice(("global", "project:h/o/n"))
        session = f"s{chance.randrange(60)}"
        return {"v": 1, "prompt": self.words(chance), "session": session, "realm": realm, "deadline_ms": 30_000}

    def lane(self, chance: random.Random) -> str:
        return self.expect("lane", (chance.choice(LANES),), self.request(chance), "000", "111")

    def turn(self, chance: random.Random) -> str:
        asked = {"hook_event_name": "UserPromptSubmit", "prompt": self.words(chance), "cwd": "/tmp"}
        return self.expect("turn", ("claude", "%2Ftmp"), {**asked, "session_id": f"s{chance.randrange(60)}"}, "000")

    def merge(self, chance: random.Random) -> str:
        request = self.request(chance)
        code, rows = self.answer("lane", ("keyword",), codec.dumps(request))
        if code != "000":
            return f"its lane: {code} {rows[:80]!r}"
        body = codec.encode_part("request", codec.dumps(request), {"total_ms": "30.0"})
        body += codec.encode_part("lane", rows, {"name": "keyword", "state": "ok", "ms": "20.0"})
        body += codec.encode_part("lane", b"", {"name": "hybrid", "state": "late", "ms": "20.0"})
        code, answer = self.answer("merge", (), body)
        return "" if code == "000" else f"{code} {answer[:80]!r}"

    def recall(self, chance: random.Random) -> str:
        return self.expect("call", ("recall",), {"query": self.words(chance), "realm": "global"}, "000", "075")

    def sync(self, chance: random.Random) -> str:
        number = chance.randrange(NOTES)
        if chance.random() < 0.2:
            self.notes.remove(f"note-{number:03d}", "global")
        else:
            self.notes.write(note(number)._replace(text=f"{self.words(chance)} and what came of it"))
        return self.expect("call", ("sync",), {"patience_s": 0.5}, "000")

    def bad_frame(self, chance: random.Random) -> str:
        junk = chance.randbytes(chance.randrange(1, 2_000))
        whole = chance.choice(
            (
                len(junk).to_bytes(4, "big") + junk,
                b"\xff\xff\xff\xff" + junk,
                (0).to_bytes(4, "big"),
                framed(b"lane keyword v9\n\n{}"),
                framed(b"lane no-such-lane v1\nCHITTA_HOME=/elsewhere\n\n{}"),
                framed(b"call recall v1\n\n[1,2"),
                framed(b"merge v1\n\nrequest 99999999 total_ms=1\n{}"),
            )
        )
        answer = self.send(whole)
        return "" if not answer or answer[:3] in (b"100", b"111") else f"answered {answer[:60]!r}"

    def half_frame(self, chance: random.Random) -> str:
        whole = framed(payload("lane", ("keyword",), codec.dumps(self.request(chance))))
        with self.connection() as connection:
            connection.sendall(whole[: chance.randrange(1, len(whole))])
        return ""

    def disconnect(self, chance: random.Random) -> str:
        with self.connection() as connection:
            if chance.random() < 0.8:
                connection.sendall(framed(payload("lane", ("hybrid",), codec.dumps(self.request(chance)))))
        return ""

    # The wire

    def expect(self, verb: str, arguments: tuple[str, ...], body: dict[str, Any], *codes: str) -> str:
        code, answer = self.answer(verb, arguments, codec.dumps(body))
        if code not in codes or b"the daemon failed" in answer[:100]:
            return f"{code} {answer[:120]!r}"
        return ""

    def answer(self, verb: str, arguments: tuple[str, ...], body: bytes) -> tuple[str, bytes]:
        whole = self.send(framed(payload(verb, arguments, body)))
        return whole[:3].decode("ascii", "replace"), whole[4:]

    def send(self, whole: bytes) -> bytes:
        """The answer's payload, or nothing where the daemon hangs up."""
        with self.connection() as connection:
            try:
                connection.sendall(whole)
                connection.shutdown(socket.SHUT_WR)
                parts = []
                while part := connection.recv(1 << 20):
                    parts.append(part)
            except (BrokenPipeError, ConnectionResetError):
                return b""
        return b"".join(parts)[4:]

    def connection(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(PATIENCE_S)
        connection.connect(os.path.join(self.settings.run_dir, lifecycle.SOCKET_NAME))
        return connection

    # Figures

    def figures(self, pid: int, requests: int, settled: int = 0) -> Figures:
        """Taken at rest; where ``settled`` descriptors are known to be right, after waiting for those to be back."""
        end = time.monotonic() + 15.0
        while True:
            time.sleep(0.3)
            found = self._figures(pid, requests)
            if not settled or found.descriptors == settled or time.monotonic() > end:
                return found

    @staticmethod
    def _figures(pid: int, requests: int) -> Figures:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        rss, threads = int(facts["VmRSS"].split()[0]) * 1024, int(facts["Threads"])
        return Figures(requests, rss, len(os.listdir(f"/proc/{pid}/fd")), threads)


def payload(verb: str, arguments: tuple[str, ...], body: bytes) -> bytes:
    return codec.encode_request_payload(verb, arguments, body, {})


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def note(number: int) -> Note:
    topic = TOPICS[number % len(TOPICS)]
    realm = "global" if number % 3 else "project:h/o/n"
    kind = "correction" if number % 20 == 0 else "insight"
    made = Note(id=f"note-{number:03d}", kind=kind, realm=realm, title=topic, text=f"{topic} part {number}. " * 5)
    return made._replace(triggers=(topic,), wrong=topic, right="another") if kind == "correction" else made


def run(requests: int, seed: int, with_model: bool) -> int:
    """The exit code; the last line is for tests/run."""
    home = tempfile.mkdtemp(prefix="chitta-soak.", dir="/tmp")
    os.environ["CHITTA_HOME"] = f"{home}/h"
    os.environ["CHITTA_RERANK_MODEL"] = "none"
    if not with_model:
        os.environ["CHITTA_EMBED_MODEL"] = "/no/such/model"
    settings = table.load()
    try:
        soak = Soak(settings, seed)
        for number in range(NOTES):
            soak.notes.write(note(number))
        daemon_client.ensure(settings, PATIENCE_S)
        daemon_client.call(settings, "sync", {"patience_s": PATIENCE_S}, PATIENCE_S * 2)
        return report(soak, measure(soak, requests), requests)
    finally:
        daemon_client.stop(settings)
        shutil.rmtree(home, ignore_errors=True)


def measure(soak: Soak, requests: int) -> list[Figures]:
    pid = int(daemon_client.call(soak.settings, "ping")["pid"])
    found: list[Figures] = []
    print(f"seed {soak.seed}, {requests:,} requests, {ASKERS} askers, {NOTES} notes, process {pid}")
    print(f"{'requests':>9} {'MB':>7} {'descriptors':>12} {'threads':>8} {'errors':>7} {'seconds':>8}", flush=True)
    began = time.monotonic()
    for point in range(POINTS):
        first, last = requests * point // POINTS, requests * (point + 1) // POINTS
        soak.burst(first, last - first)
        warm = warm_of(found, requests)
        found.append(soak.figures(pid, last, warm.descriptors if warm and last == requests else 0))
        now = found[-1]
        took = time.monotonic() - began
        line = f"{last:>9,} {now.rss / 1e6:>7.1f} {now.descriptors:>12} {now.threads:>8}"
        print(f"{line} {soak.errors.total():>7} {took:>8.1f}", flush=True)
    if int(daemon_client.call(soak.settings, "ping")["pid"]) != pid:
        soak.errors["the daemon is another one by now"] += 1
    return found


def warm_of(found: list[Figures], requests: int) -> Figures | None:
    """The figures at the end of the warm-up."""
    return next((one for one in found if one.requests >= requests * WARM_UP), None)


def report(soak: Soak, found: list[Figures], requests: int) -> int:
    warm, last = warm_of(found, requests) or found[0], found[-1]
    growth = last.rss / warm.rss - 1
    print(", ".join(f"{name} {count:,}" for name, count in sorted(soak.done.items())))
    for problem, count in soak.errors.most_common(20):
        print(f"  {count} × {problem}")
    checks = {
        f"memory grew by {growth:+.1%} after the warm-up (at most {GROWTH:.0%})": growth <= GROWTH,
        f"descriptors {warm.descriptors} and {last.descriptors}": warm.descriptors == last.descriptors,
        f"threads {warm.threads} and {last.threads}": last.threads <= warm.threads + 2,
        f"{soak.errors.total()} errors": not soak.errors,
    }
    for words, good in checks.items():
        print(f"{'ok  ' if good else 'FAIL'} {words}")
    failed = sum(not good for good in checks.values())
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Ask one daemon many times, and see that it stays as it was.")
    parser.add_argument("--requests", type=int, default=REQUESTS, help=f"how many (least {LEAST})")
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--with-model", action="store_true", help="load the shipped embedder: slower, and larger")
    asked = parser.parse_args()
    if not sys.platform.startswith("linux"):
        print("skipped: memory and descriptors of a process are read from /proc")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    return run(max(asked.requests, LEAST), asked.seed, asked.with_model)


if __name__ == "__main__":
    sys.exit(main())
