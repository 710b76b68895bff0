"""A harness's settings file: chitta's entries go in and out, and everything else keeps its bytes."""

from __future__ import annotations

import json

from tests.fuzz.kind import Target, choice, must, text_of

from chitta.wiring import edit, json_text
from chitta.wiring.harness import TABLE, Harness


def settings_files(data: bytes) -> None:
    which, data = choice(data, 4 * len(TABLE))
    row, capture, known = TABLE[which % len(TABLE)], which // len(TABLE) % 2 == 1, which // len(TABLE) >= 2
    try:
        text = data.decode()  # as files are read
    except UnicodeDecodeError:
        return
    try:
        before = edit.entries(row, text) if text.strip() else []
        installed = edit.install(row, text, "/opt/chitta", capture)
    except edit.Refused as problem:
        must(str(problem), "no reason")
        return
    _installed(row, installed, capture)
    if before or not text.strip():
        edit.uninstall(row, installed)
        return
    undone = edit.uninstall(row, installed, text)
    must(undone == text, "undone it is another", text, installed, undone)
    if known:
        edit.uninstall(row, installed)


def _installed(row: Harness, text: str, capture: bool) -> None:
    text.encode()  # a file can hold it
    json.loads(text, parse_constant=_no_constant)
    found = [(one.event, one.ours.script) for one in edit.entries(row, text)]
    wanted = [(event.name, event.script) for event in row.wired(capture)]
    must(len(found) == len(set(found)), "an entry twice", found)
    must(set(wanted) <= set(found), "an entry is missing", found)
    must(edit.install(row, text, "/opt/chitta", capture) == text, "installed twice it is another", text)


def _no_constant(word: str) -> object:
    raise AssertionError(f"no JSON: {word}")


def json_texts(data: bytes) -> None:
    text = text_of(data)
    try:
        value = json_text.parse(text)
    except json_text.Broken:
        return
    must(repr(value) == repr(json.loads(text)), "read otherwise than by the standard library", text)
    if not isinstance(value, dict | list):
        return
    top = json_text.root(text)
    style = json_text.style_of(text)
    for key in ("new", "") if isinstance(value, dict) else ("",):
        if isinstance(value, dict) and (not key or key in value):
            continue
        more = json_text.appended(text, top, key, {"a": [1]}, style)
        place = json_text.root(more)
        must(len(place.members) == len(top.members) + 1, "not one member more", text, more)
        if top.members:
            must(json_text.removed(more, place, len(top.members)) == text, "taken out again it is another", text, more)


def _seeds() -> list[bytes]:
    found: list[bytes] = []
    for number, row in enumerate(TABLE):
        plain = {"model": "x", "hooks": {row.events[0].name: []}, "nested": {"a": [1, 2.50, "é"]}, **row.top}
        other = (
            {"hooks": [{"type": "command", "command": "echo hi", "timeout": 5}]}
            if row.grouped
            else {"command": "echo hi"}
        )
        foreign = {"hooks": {row.events[0].name: [other], "Odd": []}, **row.top}
        texts = [json.dumps(plain, indent=2), json.dumps(foreign), json.dumps(foreign, indent="\t"), "{}", "{ }\n", ""]
        texts.append(edit.install(row, json.dumps(foreign, indent=4), "/old/chitta", True))
        texts += [json.dumps(foreign, indent=2).replace("\n", "\r\n")]
        found += [bytes([number + len(TABLE) * (at % 4)]) + text.encode() for at, text in enumerate(texts)]
    return found


_WORDS = (
    *(
        b'"hooks":',
        b'"hooks": {}',
        b"[]",
        b"{}",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b", ",
        b"\n  ",
        b"\r\n",
        b"\t",
        b"1e999",
        b'"x": 1,',
    ),
    *(
        b'"UserPromptSubmit": []',
        b'"type":"command"',
        b'"matcher":"*"',
        b'"\\ud800"',
        b"12345678901234567890",
        b"//",
        b"1.10",
    ),
    *(
        b'"command":"/opt/chitta/hooks/prompt-core.sh"',
        b'"disabled":true',
        b"\xef\xbb\xbf",
        b'"\\u0061"',
        b'""',
        b'"": 0,',
    ),
)

TARGETS = (
    Target("settings-files", settings_files, _seeds, _WORDS),
    Target(
        "json-texts", json_texts, lambda: [seed[1:] for seed in _seeds()[:9]] + [b"[1, 2]", b'[\n  {"a": 1}\n]'], _WORDS
    ),
)
