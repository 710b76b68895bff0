"""A stand-in for the model: a server on the loopback that answers four interfaces and keeps every request.

It answers the same text to whatever it is asked. With a planned :class:`~dialects.ToolCall`, the
first request that offers that tool gets the call instead; that is how a client is brought to start a
subagent.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import dialects
from dialects import Answer, Json, ToolCall

#: What the model says, always.
TEXT = "The stand-in has answered."
#: Seconds in which a subagent, whose start runs hooks, must have asked.
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Request:
    """One request as it arrived: ``body`` is its JSON, empty where there was none."""

    method: str
    path: str
    host: str
    body: Json

    def texts(self) -> list[str]:
        """Every string of the conversation in it, in order; what the tools are described with is left out."""
        told = {key: value for key, value in self.body.items() if key != "tools"}
        return list(_strings(told))

    def holds(self, text: str) -> bool:
        return any(text in part for part in self.texts())

    def offers(self, tool: str) -> bool:
        """Whether a tool of that name is among those the model may call; ``name@namespace`` for one inside a group."""
        name, _, namespace = tool.partition("@")
        return any(found == (name, namespace) for found in _tools(self.body.get("tools") or [], ""))


class StandIn(ThreadingHTTPServer):
    """Listens on a free port of 127.0.0.1 from its making until :meth:`close`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[Request] = []
        self._plan: ToolCall | None = None
        self._called = ""
        self._helped = False
        self._lock = threading.Condition()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join(timeout=5)

    def plan_call(self, call: ToolCall | None) -> None:
        """Answer the next request that offers this tool with a call of it, once; None for text alone."""
        with self._lock:
            self._plan, self._called, self._helped = call, "", False

    def asked(self) -> list[Request]:
        """The requests that asked the model for an answer, in order of arrival."""
        with self._lock:
            return [request for request in self.requests if request.method == "POST" and _asks(request.path)]

    def take(self, request: Request) -> tuple[Answer, int]:
        """Keep a request; the answer for it and its number.

        What follows the planned call in the same conversation is kept waiting until the subagent has asked, at most
        :data:`PATIENCE_S`: a client that does not wait for its subagents would end with the answer.
        """
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            if self._plan is not None and request.offers(self._plan.tool):
                call, self._plan = self._plan, None
                self._called = f"call_{number}"
                return call, number
            if self._called and not request.holds(self._called):
                self._helped = True
                self._lock.notify_all()
            elif self._called:
                self._lock.wait_for(lambda: self._helped, timeout=PATIENCE_S)
        return TEXT, number


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._stand_in.take(self._request(b""))
        self._send(200, "application/json", json.dumps({"object": "list", "data": [], "models": []}))

    def do_POST(self) -> None:
        request = self._request(self._body())
        path = request.path.split("?")[0]
        if not _asks(path):
            self._stand_in.requests.append(request)
            return self._send(200, "application/json", json.dumps({"totalTokens": 1, "input_tokens": 1}))
        answer, number = self._stand_in.take(request)
        if path.endswith("/responses"):
            body = dialects.responses(answer, number)
        elif path.endswith("/chat/completions"):
            body = dialects.chat_completions(answer, number)
        elif path.endswith("/messages"):
            body = dialects.messages(answer, number)
        else:
            stream = path.endswith(":streamGenerateContent")
            body = dialects.generate_content(answer, stream=stream)
            if not stream:
                return self._send(200, "application/json", body)
        self._send(200, "text/event-stream", body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error: the requests are kept."""

    @property
    def _stand_in(self) -> StandIn:
        return cast(StandIn, self.server)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _request(self, body: bytes) -> Request:
        try:
            value = json.loads(body) if body else {}
        except ValueError:
            value = {"unread": body.decode("utf-8", "replace")}
        content = value if isinstance(value, dict) else {"value": value}
        return Request(self.command, self.path, self.headers.get("Host", ""), content)

    def _send(self, code: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _asks(path: str) -> bool:
    ends = ("/responses", "/chat/completions", "/messages", ":generateContent", ":streamGenerateContent")
    return path.split("?")[0].endswith(ends)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _tools(items: list[Json], namespace: str) -> Iterator[tuple[str, str]]:
    """``(name, namespace)`` of every tool, in any of the four interfaces' lists."""
    for item in items:
        function = item.get("function")
        name = item.get("name") or (function.get("name") if isinstance(function, dict) else "")
        if item.get("type") == "namespace":
            yield from _tools(item.get("tools") or [], str(name))
        elif name:
            yield str(name), namespace
        yield from _tools(item.get("functionDeclarations") or [], namespace)
