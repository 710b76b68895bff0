"""What a harness may write on the hook's standard input: edge shapes of our own, and recorded ones where they are."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "payloads"
PROMPTS = (
    "please run npm install in the web folder",
    "stripe webhook gives 400 SignatureVerificationError: No signatures found",
    "how do I find deleted code with git log -S, and what does ripgrep skip?",
    "add a dark theme to the swiftui widget",
)


class Payload(NamedTuple):
    """Bytes on standard input; ``asks``: whether they hold a prompt to recall for (None: not known)."""

    name: str
    data: bytes
    asks: bool | None


def usual(prompt: str, **more: object) -> bytes:
    value = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": prompt, **more}
    return json.dumps(value).encode()


def _long(dice: random.Random) -> bytes:
    return usual("npm install " + "lorem ipsum dolor " * 11_000 + "why")


def _code(dice: random.Random) -> bytes:
    return usual(
        'why does foo("a:b/c") AND NOT (x[0] OR *p) -- fail: "unbalanced ^2~ {set +u; $(rm)}` with stripe webhook'
    )


def _bytes(dice: random.Random) -> bytes:
    return bytes(dice.randrange(256) for _ in range(dice.choice((1, 40, 4_000))))


def _cut(dice: random.Random) -> bytes:
    whole = usual(dice.choice(PROMPTS))
    return whole[: dice.randrange(1, len(whole) - 1)]


def _deep(dice: random.Random) -> bytes:
    return b'{"a":' * 5_000 + b"1" + b"}" * 5_000


#: Name, whether it asks, how it is made.
OWN: tuple[tuple[str, bool | None, Callable[[random.Random], bytes]], ...] = (
    ("empty", False, lambda dice: b""),
    ("blank", False, lambda dice: b" \n\t"),
    ("object", False, lambda dice: b"{}"),
    ("list", False, lambda dice: b"[]"),
    ("null", False, lambda dice: b"null"),
    ("number prompt", False, lambda dice: b'{"prompt":7}'),
    ("no session", True, lambda dice: json.dumps({"prompt": PROMPTS[0]}).encode()),
    ("two objects", None, lambda dice: usual("stripe webhook") + b"\n" + usual("npm install")),
    ("cut", None, _cut),
    ("any bytes", None, _bytes),
    ("deep", None, _deep),
    ("long", True, _long),
    ("code", True, _code),
    ("emoji", True, lambda dice: usual("why does the stripe webhook answer 400 \U0001f600 größe 继续 \u202e\u200b")),
    ("surrogate", True, lambda dice: b'{"session_id":"s","prompt":"stripe webhook \\ud83d answers 400, why"}'),
    ("marked", True, lambda dice: b"\xef\xbb\xbf" + usual("why does the stripe webhook answer 400")),
    ("NUL", True, lambda dice: usual("why does the stripe webhook\x00 answer 400")),
    ("latin-1", True, lambda dice: b'{"session_id":"s","prompt":"why does the stripe webhook answer gr\xf6\xdfe"}'),
    ("odd session", True, lambda dice: usual(PROMPTS[0], session_id="../../" + "x" * 5_000)),
    ("odd folder", True, lambda dice: usual(PROMPTS[0], cwd="/no/such\nfolder\x07" + "y" * 5_000)),
    ("odd event", True, lambda dice: usual(PROMPTS[0], hook_event_name='"}{')),
)


def draw(dice: random.Random) -> Payload:
    """Half of the draws are plain prompts, so that faults meet a hook that has work to do."""
    kind = dice.random()
    if kind < 0.55:
        return Payload("plain", usual(dice.choice(PROMPTS)), True)
    if kind < 0.8 or not RECORDED.is_dir():
        name, asks, make = dice.choice(OWN)
        return Payload(name, make(dice), asks)
    files = sorted(RECORDED.glob("*.json"))
    if kind < 0.9 and files:
        file = dice.choice(files)
        return Payload(file.stem, file.read_bytes(), None)
    lines = (RECORDED / "edge_shapes.jsonl").read_text(encoding="utf-8").splitlines()
    at = dice.randrange(len(lines))
    return Payload(f"edge shape {at}", json.loads(lines[at])["stdin"].encode("utf-8", "surrogatepass"), None)
