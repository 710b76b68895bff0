"""A daemon under tens of thousands of mixed requests: its memory, descriptors and threads stay what they were.

    tests/run soak -- [--requests N] [--seed S] [--with-model]

Turns, lanes, merges, questions, syncs after edits, frames that are none, halves of frames, and clients that leave:
all against one real daemon over a small store of its own. The figures are taken while nobody is asking. After the
warm-up, a quarter of the requests, memory may grow by a tenth and descriptors not at all. SQLite keeps a few closed
descriptors of the catalog until nobody has a lock on it, so those are counted apart and bounded.
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
from chitta.daemon.server import REST_AFTER_S
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
#: Bytes that bounded caches may come to hold besides: names of notes 6 MB, weights of words 3 MB, titles, vectors of
#: prompts and questions' answers. Every request here has words that no request had before, which fills them all.
CACHES = 20_000_000
#: Points at which figures are taken; a multiple of the warm-up's parts.
POINTS = 20
#: Most descriptors of the catalog and most threads at rest: workers, and what the keyword index's readers have.
MOST_OF_CATALOG, MOST_THREADS = 16, 32 + ASKERS
NOTES = 200
PATIENCE_S = 60.0
LANES = ("keyword", "semantic", "context", "hybrid", "cross-realm", "correction", "correction-key")
TOPICS = (
    "redis cache eviction", "docker compose network", "rails routes", "git rebase conflict", "ssh tunnel port",
    "postgres vacuum", "stripe webhook", "nginx reverse proxy", "kafka consumer lag", "python packaging wheel",
)  # fmt: skip


class Figures(NamedTuple):
    """The daemon at one moment: requests so far, resident bytes, open descriptors (the catalog's apart), threads."""

    requests: int
    rss: int
    descriptors: int
    of_catalog: int
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

    def figures(self, pid: int, requests: int, rest_s: float = 0.3) -> Figures:
        """Taken after ``rest_s`` seconds without a request."""
        time.sleep(rest_s)
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            facts = dict(line.split(":", 1) for line in file)
        rss, threads = int(facts["VmRSS"].split()[0]) * 1024, int(facts["Threads"])
        names = [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]
        of_catalog = sum("catalog.sqlite" in name for name in names)
        return Figures(requests, rss, len(names) - of_catalog, of_catalog, threads)


def payload(verb: str, arguments: tuple[str, ...], body: bytes) -> bytes:
    """A request with this run's models in its environment: the daemon takes a caller's settings, not its own, and
    the reranker, loaded in the middle, would count as growth."""
    models = {name: os.environ[name] for name in ("CHITTA_RERANK_MODEL", "CHITTA_EMBED_MODEL") if name in os.environ}
    return codec.encode_request_payload(verb, arguments, body, models)


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
        return report(soak, *measure(soak, requests))
    finally:
        daemon_client.stop(settings)
        shutil.rmtree(home, ignore_errors=True)


def measure(soak: Soak, requests: int) -> tuple[Figures, Figures]:
    """The figures at the end of the warm-up and at the end of all, each after the daemon has tidied up."""
    pid = int(daemon_client.call(soak.settings, "ping")["pid"])
    rested: list[Figures] = []
    print(f"seed {soak.seed}, {requests:,} requests, {ASKERS} askers, {NOTES} notes, process {pid}")
    print(f"{'requests':>9} {'MB':>7} {'descriptors':>12} {'threads':>8} {'errors':>7} {'seconds':>8}")
    began = time.monotonic()
    for point in range(1, POINTS + 1):
        first, last = requests * (point - 1) // POINTS, requests * point // POINTS
        soak.burst(first, last - first)
        show(soak, soak.figures(pid, last), began)
        if point in (POINTS * WARM_UP, POINTS):
            rested.append(soak.figures(pid, last, REST_AFTER_S + 7.0))
            show(soak, rested[-1], began, "after a rest")
    if int(daemon_client.call(soak.settings, "ping")["pid"]) != pid:
        soak.errors["the daemon is another one by now"] += 1
    return rested[0], rested[1]


def show(soak: Soak, now: Figures, began: float, word: str = "") -> None:
    descriptors = f"{now.descriptors} + {now.of_catalog}"
    line = f"{now.requests:>9,} {now.rss / 1e6:>7.1f} {descriptors:>12} {now.threads:>8} {soak.errors.total():>7}"
    print(f"{line} {time.monotonic() - began:>8.1f}  {word}".rstrip(), flush=True)


def report(soak: Soak, warm: Figures, last: Figures) -> int:
    growth = last.rss / warm.rss - 1
    print(", ".join(f"{name} {count:,}" for name, count in sorted(soak.done.items())))
    for problem, count in soak.errors.most_common(20):
        print(f"  {count} × {problem}")
    checks = {
        f"memory grew by {growth:+.1%}, {(last.rss - warm.rss) / 1e6:+.1f} MB, after the warm-up "
        f"(at most {GROWTH:.0%} or {CACHES / 1e6:.0f} MB)": growth <= GROWTH or last.rss - warm.rss <= CACHES,
        f"descriptors {warm.descriptors} and {last.descriptors}": warm.descriptors == last.descriptors,
        f"of the catalog {last.of_catalog} (at most {MOST_OF_CATALOG})": last.of_catalog <= MOST_OF_CATALOG,
        f"threads {warm.threads} and {last.threads} (at most {MOST_THREADS})": last.threads <= MOST_THREADS,
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
