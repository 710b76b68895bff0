"""The socket side: accept, read whole frames, hand each to a worker, send the reply, know when to leave.

One loop reads all connections without blocking, so that a client that sends nothing, or half a
frame, costs a buffer and never a thread. A whole frame is answered by one of a bounded number of
threads; the rest wait in line. A connection carries one request. The server knows nothing of what
the payloads mean.
"""

from __future__ import annotations

import os
import queue
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from chitta.daemon import lifecycle
from chitta.daemon.lifecycle import Listener
from chitta.daemon.logbook import Logbook
from chitta.wire.codec import MAX_FRAME_BYTES

#: Requests answered at once.
WORKERS = 32
#: Connections open or waiting in line; above it, new ones stay in the socket's backlog.
MAX_CONNECTIONS = 512
#: Seconds after which a client that sends nothing more, or reads nothing, is dropped.
SILENCE_S = 10.0
#: Longest sleep of the loop, and twice the shortest time between looks whether socket and home are still there.
LOOK_EVERY_S = 5.0
#: Seconds without work after which there is time to tidy up.
REST_AFTER_S = 20.0
#: Seconds that requests under way may take once the server is leaving.
GRACE_S = 1.0
_HEADER_BYTES = 4
_CHUNK_BYTES = 256 * 1024


class Answer(NamedTuple):
    """The payload to send, and what to do once it is sent."""

    payload: bytes
    afterwards: Callable[[], None] | None = None


class _Connection:
    """A client whose request is still coming in."""

    __slots__ = ("socket", "buffer", "heard")

    def __init__(self, client: socket.socket, now: float) -> None:
        self.socket = client
        self.buffer = bytearray()
        self.heard = now

    def frame_bytes(self) -> int | None:
        """Size of the payload, once its header is here."""
        if len(self.buffer) < _HEADER_BYTES:
            return None
        return int.from_bytes(self.buffer[:_HEADER_BYTES], "big")


class _Request(NamedTuple):
    client: socket.socket
    payload: bytes
    arrived: float


class Server:
    """Serves one listening socket until :meth:`leave` is called or there is a reason of its own.

    ``answer(payload, arrived)`` is called in worker threads with the monotonic time at which the
    request was whole. ``idle_s()`` gives the seconds without work after which to leave, ``busy()``
    whether work that outlasts its request is going on, ``home_is_there()`` whether there is
    still something to serve. ``at_rest()`` is called once when nobody has asked for a while.
    """

    def __init__(
        self,
        listener: Listener,
        answer: Callable[[bytes, float], Answer],
        *,
        log: Logbook,
        idle_s: Callable[[], float],
        busy: Callable[[], bool] = lambda: False,
        home_is_there: Callable[[], bool] = lambda: True,
        at_rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._listener = listener
        self._answer = answer
        self._log = log
        self._idle_s = idle_s
        self._busy = busy
        self._home_is_there = home_is_there
        self._at_rest = at_rest
        self._selector = selectors.DefaultSelector()
        self._incoming: dict[int, _Connection] = {}
        self._line: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers = 0
        self._idle_workers = 0
        self._under_way = 0
        self._last_work = time.monotonic()
        self._looked_at = self._last_work
        self._rested_at = float("-inf")
        self._accepting = False
        self._reason = ""
        self._wake_read, self._wake_write = os.pipe()
        for end in (self._wake_read, self._wake_write):
            os.set_blocking(end, False)

    def leave(self, reason: str) -> None:
        """Stop serving; callable from any thread and from a signal handler."""
        self._reason = self._reason or reason
        self._wake()

    def _wake(self) -> None:
        try:
            os.write(self._wake_write, b"\0")
        except OSError:
            pass  # the pipe is full of wakes already, or the loop has ended

    def serve(self) -> str:
        """Serve until it is time to leave; returns why. The socket and pid files are gone then."""
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._accept_more(True)
        while not self._reason:
            self._turn(self._sleep_s())
            self._rest()
            own_reason = self._own_reason()
            if own_reason:
                self.leave(own_reason)
        self._finish()
        return self._reason

    def _finish(self) -> None:
        """Take no more requests, answer the ones that are here, close."""
        lifecycle.clear(self._listener)
        if self._accepting:
            self._accept()
        self._accept_more(False)
        end = time.monotonic() + GRACE_S
        while (self._under_way or self._half_heard()) and time.monotonic() < end:
            self._turn(min(0.05, max(0.0, end - time.monotonic())))
        for connection in list(self._incoming.values()):
            self._drop(connection)
        self._listener.socket.close()
        self._selector.close()
        os.close(self._wake_read)

    def _half_heard(self) -> bool:
        """Whether a client is about to have sent its whole request."""
        recent = time.monotonic() - 0.2
        return any(connection.heard > recent for connection in self._incoming.values())

    # The loop

    def _turn(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            if key.fileobj is self._listener.socket:
                self._accept()
            elif key.fileobj == self._wake_read:
                self._drain_wake()
            else:
                self._read(key.data)
        self._drop_silent()
        self._accept_more(not self._reason and len(self._incoming) + self._under_way < MAX_CONNECTIONS)

    def _sleep_s(self) -> float:
        now = time.monotonic()
        sleep = LOOK_EVERY_S
        if not self._under_way:
            sleep = min(sleep, self._last_work + self._idle_s() - now)
        if self._incoming:
            oldest = min(connection.heard for connection in self._incoming.values())
            sleep = min(sleep, oldest + SILENCE_S - now)
        return max(0.0, sleep)

    def _own_reason(self) -> str:
        """Why to leave without being told, or an empty text."""
        if self._under_way or self._busy():
            self._last_work = time.monotonic()
        elif time.monotonic() - self._last_work >= self._idle_s():
            return "idle"
        now = time.monotonic()
        if now - self._looked_at < LOOK_EVERY_S / 2:
            return ""
        self._looked_at = now
        if not lifecycle.is_ours(self._listener):
            return "the socket file is gone or another's"
        if not self._home_is_there():
            return "the home is gone"
        return ""

    def _rest(self) -> None:
        """Tidy up, once after work."""
        now = time.monotonic()
        if self._rested_at < self._last_work <= now - REST_AFTER_S and not self._under_way and not self._busy():
            self._rested_at = now
            self._at_rest()

    def _drain_wake(self) -> None:
        try:
            while os.read(self._wake_read, 4096):
                pass
        except OSError:
            pass

    def _accept_more(self, wanted: bool) -> None:
        if wanted and not self._accepting:
            self._selector.register(self._listener.socket, selectors.EVENT_READ)
        elif not wanted and self._accepting:
            self._selector.unregister(self._listener.socket)
        self._accepting = wanted

    def _accept(self) -> None:
        while len(self._incoming) + self._under_way < MAX_CONNECTIONS:
            try:
                client, _ = self._listener.socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as problem:
                self._log.fault("accept", problem)
                time.sleep(0.05)
                return
            if not lifecycle.peer_is_us(client):
                self._log.note("foreign-peer")
                client.close()
                continue
            client.setblocking(False)
            connection = _Connection(client, time.monotonic())
            self._incoming[client.fileno()] = connection
            self._selector.register(client, selectors.EVENT_READ, connection)
            self._read(connection)  # most requests are whole by now

    def _read(self, connection: _Connection) -> None:
        try:
            chunk = connection.socket.recv(_CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._drop(connection)
            return
        connection.heard = time.monotonic()
        connection.buffer += chunk
        size = connection.frame_bytes()
        if size is None:
            return
        if size > MAX_FRAME_BYTES:
            self._log.note("frame-too-long", bytes=size)
            self._drop(connection)
        elif len(connection.buffer) >= _HEADER_BYTES + size:
            self._forget(connection)
            payload = bytes(memoryview(connection.buffer)[_HEADER_BYTES : _HEADER_BYTES + size])
            self._hand_over(_Request(connection.socket, payload, connection.heard))

    def _drop_silent(self) -> None:
        if not self._incoming:
            return
        before = time.monotonic() - SILENCE_S
        for connection in [c for c in self._incoming.values() if c.heard <= before]:
            self._drop(connection)

    def _forget(self, connection: _Connection) -> None:
        self._selector.unregister(connection.socket)
        del self._incoming[connection.socket.fileno()]

    def _drop(self, connection: _Connection) -> None:
        self._forget(connection)
        connection.socket.close()

    # The workers

    def _hand_over(self, request: _Request) -> None:
        with self._lock:
            self._under_way += 1
            need_worker = self._idle_workers <= 0 and self._workers < WORKERS
            if need_worker:
                self._workers += 1
            else:
                self._idle_workers -= 1
        if need_worker:
            threading.Thread(target=self._work, name=f"worker-{self._workers}", daemon=True).start()
        self._line.put(request)

    def _work(self) -> None:
        while True:
            request = self._line.get()
            try:
                self._serve_one(request)
            except Exception as problem:
                self._log.fault("worker", problem)
            finally:
                with self._lock:
                    self._under_way -= 1
                    self._idle_workers += 1
                    self._last_work = time.monotonic()
                if not self._accepting:
                    self._wake()

    def _serve_one(self, request: _Request) -> None:
        with request.client as client:
            answer = self._answer(request.payload, request.arrived)
            payload = answer.payload
            client.settimeout(SILENCE_S)
            try:
                client.sendall(len(payload).to_bytes(_HEADER_BYTES, "big") + payload)
            except OSError:
                pass  # the client has left; what it asked for is done all the same
        if answer.afterwards is not None:
            answer.afterwards()
