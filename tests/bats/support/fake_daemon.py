"""A daemon with no memory and any manners, on a real socket, for tests of its clients.

As a program: ``fake_daemon.py RUN_DIR MANNER`` serves until it is ended, and prints ``ready``. The
wire is written out here by hand, so that a test compares two readings of docs/lane-contract.md.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

SOCKET_NAME = "daemon.sock"
Answer = Callable[[str, bytes], tuple[int, bytes]]

#: What a daemon can do to a client other than answer.
MANNERS = ("polite", "silent", "half", "lying", "foreign", "hangup", "dripping", "failing")


def polite(verb: str, body: bytes) -> tuple[int, bytes]:
    """Well-formed answers: one row a lane, launch facts and a request, ``{"merged": "NAME…"}``."""
    words = verb.split(" ")
    if words[0] == "lane":
        row = {"id": f"note-of-{words[1]}", "score": 1.0, "title": "a title", "text": "some words"}
        return 0, json.dumps({"v": 1, "lane": words[1], "n": 1}).encode() + b"\n" + json.dumps(row).encode() + b"\n"
    if words[0] == "turn":
        prompt = json.loads(body)["prompt"]
        facts = b"go=1\nbudget_ms=60000\nlimit_ms=20000\nlimit.hybrid=30000\nskip=\n"
        return 0, facts + b"\n" + json.dumps({"v": 1, "prompt": prompt, "query": prompt}).encode() + b"\n"
    if words[0] == "merge":
        parts = [line.split() for line in body.split(b"\n") if line.startswith(b"lane ")]
        names = [word[5:].decode() for part in parts for word in part if word.startswith(b"name=")]
        text = json.dumps({"merged": " ".join(names)}).encode()
        return 0, b"out %d\n%serr 0\n" % (len(text), text)
    return 100, b"no such verb"


class FakeDaemon:
    """Serves ``folder`` in a thread until the ``with`` block ends; ``seen`` holds (head, body) of each request."""

    def __init__(self, folder: str, manner: str = "polite", answer: Answer = polite) -> None:
        self.seen: list[tuple[list[str], bytes]] = []
        self._manner = manner
        self._answer = answer
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        here = os.getcwd()
        os.chdir(folder)  # an address may be shorter than the folder's path
        try:
            if os.path.lexists(SOCKET_NAME):
                os.unlink(SOCKET_NAME)
            self._listener.bind(SOCKET_NAME)
        finally:
            os.chdir(here)
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeDaemon:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        except OSError:
            pass
        self._listener.close()
        self._thread.join(5)

    def join(self) -> None:
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._one, args=(client,), daemon=True).start()

    def _one(self, client: socket.socket) -> None:
        with client:
            try:
                self._behave(client)
            except OSError:
                pass

    def _behave(self, client: socket.socket) -> None:
        if self._manner == "hangup":
            return
        payload = _exactly(client, int.from_bytes(_exactly(client, 4), "big"))
        head, _, body = payload.partition(b"\n\n")
        lines = head.decode("utf-8", "surrogateescape").split("\n")
        self.seen.append((lines, body))
        if self._manner == "silent":
            time.sleep(600)
        if self._manner == "foreign":
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        code, reply = self._answer(lines[0].removesuffix(" v1"), body)
        if self._manner == "failing":
            code, reply = 111, b"the store is on fire"
        if self._manner == "lying":
            reply = b"\x00 no rows at all \xff" * 3
        frame = b"%03d\n" % code + reply
        frame = len(frame).to_bytes(4, "big") + frame
        if self._manner == "half":
            client.sendall(frame[: len(frame) // 2])
        elif self._manner == "dripping":
            for at in range(len(frame)):
                client.sendall(frame[at : at + 1])
                time.sleep(0.2)
        else:
            client.sendall(frame)


def _exactly(client: socket.socket, size: int) -> bytes:
    parts = b""
    while len(parts) < size:
        part = client.recv(size - len(parts))
        if not part:
            raise ConnectionError("cut short")
        parts += part
    return parts


if __name__ == "__main__":
    with FakeDaemon(sys.argv[1], sys.argv[2]) as fake:
        print("ready", flush=True)
        fake.join()
