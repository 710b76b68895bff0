"""Secrets taken out of text, by kingfisher-secret-scanner (MongoDB's scanner as a library).

The library brings the detectors (about 490, those of the successor of gitleaks among them), entropy limits and
allow-lists; ``secret_rules.yml`` adds eleven in its own format. It works in this process and is never asked to
check a secret against its service, so nothing leaves the machine. It was chosen by measurement: docs/security.md.

Loading it takes 0.3 s once a process (3 s the first time ever, until its compiled rules are kept on disk); scanning
takes some 110 µs a kB. A text without anything that could be a secret does not load it at all.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chitta.safety.shown import shown

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

#: Passes over a text until no secret is found: what stood between two of them may be one itself, and a chain of values
#: behind colons gives up one a pass.
MAX_PASSES = 20
#: Bytes that are scanned at once, and how much of them is scanned again with the next: the library's time grows faster
#: than the text where much is found. No private key is longer than the overlap.
WINDOW, OVERLAP = 64 << 10, 16 << 10
_RULES = Path(__file__).with_name("secret_rules.yml")
# Below what no detector can fire: a run of eight characters that has a digit, a password in an address, a private key,
# a long run of letters after a vendor's prefix.
_POSSIBLE = re.compile(
    r"(?=\S{8})[^\s\d]{0,7}\d|://[^\s/@]{0,128}:[^\s/@]|-----BEGIN|(?i:Authorization:)|A(?:KI|SI|BI|CC)A[A-Z]{16}"
    r"|[a-z][_.-][A-Za-z_-]{20}"
    r"|(?i:passw|passphrase|passcode|bearer|cookie|sshpass|redis-cli|(?:key|token) is"
    r"|[- ]-(?:pass|token|secret|[a-z-]{0,20}key)"
    r"|passwort|kennwort|mot de passe|contrase|login|mysql|mariadb|mongo|curl|wget|--from-literal)"
)
# Values that documentation writes where a secret would stand, whatever shape they have.
_PLACEHOLDER = re.compile(
    r"^[$<{%(\[]|[>}]$|\$\{|\{\{"
    r"|(.)\1{4,}|(..)\2{4,}"
    r"|example|placeholder|change.?me|replace.?me|dummy|sample|redacted|random|your[-_. ]|my[-_](?:pass|secret"
    r"|token|key)"
    r"|\.\.\.$|…|put[-_]|insert|goes[-_]?here"
    r"|^sk_test_(?:BQokikJOvBiI2HlWgH4olfQ2|4eC39HqLyjWDarjtT1zdp7dc)$",  # Stripe's own, in all of its documentation
    re.IGNORECASE,
)
# Values that were typed along the keys: no secret where a name alone says that they are one, but where a vendor's key
# has exactly that shape nobody can tell, so there they are taken out.
_SEQUENCE = re.compile(r"0123456789|123456789|abcdefgh|qwerty|deadbeef|abc123", re.IGNORECASE)
# Names whose value is no secret whatever else they are called: `credentialsId`, `token_path`, `publicKey`.
_OPEN_NAME = re.compile(
    r"(?:ids?|path|file|dir|folder|name|user|source|length|size|url|uri|host|type|version|expiry|hint|class)"
    r"[\"'`\]]?\s{0,3}[:=]{1,2}>?\s{0,3}[\"'`]?\Z"
    r"|public[-_. ]?(?:key|token)[\"'`\]]?\s{0,3}[:=]{1,2}>?\s{0,3}[\"'`]?\Z",
    re.IGNORECASE,
)
_NAMED_RULES = frozenset({"assigned-secret", "service-key"})
# Rules of shapes that nothing but a key has; all others may meet a value that only stands for one.
_SHAPED_RULES = frozenset({"aws-access-key-id", "vendor-key"})
# Rules of places where any word may stand: there a value is one that a person or a program made up.
_PLACED_RULES = frozenset({"command-secret", "htpasswd-secret", "header-secret", "spoken-secret"})
# What stands there and is none: names of variables and members, words joined or in camel case, paths, addresses,
# options, versions, and what codes and protocols are called.
_NAME = re.compile(
    r"[A-Z0-9]+(?:_[A-Z0-9]+)*|[A-Za-z_]+(?:\.[A-Za-z_]+)+|[A-Za-z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*(?:[A-Z]{2,3})?"
    r"|[A-Za-z]{2,}(?:[-_/][A-Za-z]{2,})+|v?\d+(?:\.\d+)+|(?:[a-z]+:)?/.*|-.*|[A-Z]+(?:-[A-Z0-9]+)+"
    r"|(?i:base|sha|md|utf|aes|rsa|wpa|tls|hs|rs|oauth|argon|pbkdf|ipv?|http|auth|python|x)-?\d+(?:[-/_a-z]{0,12}\d{0,3})"
)
_KEBAB = re.compile(r"[a-z]+(?:-[a-z]+)+\d?")  # names of things on a command line: `--plugin-secret datasette-auth0`
_NAME_BYTES = 64
# Passwords of addresses in documentation: a word for what is to stand there, the user's own name, or any lower-case
# word where the host is this machine or one that belongs to nobody.
_WORD = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_ADDRESS_WORD = re.compile(
    r"(?:(?:db|my|the|user|admin|root|some|super|api|access|auth|test)?[-_.]?(?:pass(?:word|wd|code|phrase)?|pwd?|psw"
    r"|secret|token|key)|user(?:name)?|admin|root|guest|test|postgres|mysql|redis|rabbit|foo|bar|baz|x-oauth-basic)",
    re.IGNORECASE,
)
_ADDRESS_USER = re.compile(r"://([^\s/@:]*):\Z")
_NO_ONES_HOST = re.compile(
    r"@(?:localhost|127\.|0\.0\.0\.0|\[::1|(?:[\w-]+\.)*(?:example|host(?:name)?|server)\b)", re.IGNORECASE
)
_ADDRESS_RULES = frozenset({"generic-credential-uri", "address-password"})


#: Kinds and the secrets themselves.
Told = tuple[tuple[str, str], ...]


class Redacted(NamedTuple):
    """The text without its secrets, and the kinds of what was replaced, in order and once each."""

    text: str
    found: tuple[str, ...]


def redact(text: str) -> Redacted:
    """``text`` with each secret replaced by ``[redacted: <kind>]``; a private key as a whole, whatever its lines.

    Placeholders stay. Time is linear in the text. Raises ``ImportError`` where the library is missing, so that
    nothing is kept unexamined.
    """
    return redact_and_tell(text)[0]


def redact_and_tell(text: str) -> tuple[Redacted, Told]:
    """The same, and ``(kind, secret)`` of what was replaced, to look for it elsewhere; never to be shown or kept.

    Where a secret has unseen characters in it, these go from the whole text.
    """
    done, told = _redacted(text)
    plain = shown(text)
    if plain == text:
        return done, told
    plain_done, plain_told = _redacted(plain)
    if shown(done.text) == plain_done.text:
        return done, told  # nothing was hidden, so what joins letters or emoji stays
    if all(any(shown(value) in longer for _, longer in plain_told) for _, value in told):
        return plain_done, plain_told
    again, more = _redacted(shown(done.text))  # what is unseen ended a secret, or had swallowed its beginning
    return Redacted(again.text, tuple(dict.fromkeys((*done.found, *again.found)))), told + more


def _redacted(text: str) -> tuple[Redacted, Told]:
    told: list[tuple[str, str]] = []
    for _ in range(MAX_PASSES):
        spans = _secrets(text)
        if not spans:
            break
        told += [(kind, text[start:end]) for start, end, kind in spans]
        text = _replaced(text, spans)
    return Redacted(text, tuple(dict.fromkeys(kind for kind, _ in told))), tuple(told)


def values(text: str) -> Told:
    """``(kind, secret)`` of each secret of ``text``, to look for it elsewhere; never to be shown or kept."""
    texts = dict.fromkeys((text, shown(text)))
    return tuple((kind, one[start:end]) for one in texts for start, end, kind in _secrets(one))


def _secrets(text: str) -> list[tuple[int, int, str]]:
    """``(start, end, kind)`` of every secret in characters, in order, none overlapping another."""
    if not _POSSIBLE.search(text):
        return []
    # A NUL makes the library read the bytes as UTF-16; a blank takes as much room.
    data = text.replace("\0", " ").encode("utf-8", "surrogatepass")
    spans: list[tuple[int, int, str]] = []
    for begin in range(0, max(1, len(data) - OVERLAP), WINDOW - OVERLAP):
        spans += _in_window(data, begin)
    return _in_characters(data, _joined(spans))


def _in_window(data: bytes, begin: int) -> Iterator[tuple[int, int, str]]:
    for finding in _scanner().scan(data[begin : begin + WINDOW]):
        kind = finding.rule_id.rpartition(".")[2]
        place = finding.location
        start, end = begin + place["start_offset"], begin + place["end_offset"]
        if not finding.visible or end <= start:
            continue
        before = data[max(0, start - _NAME_BYTES) : start].decode("utf-8", "replace")
        if _is_placeholder(kind, finding.secret, before, data[end : end + _NAME_BYTES].decode("utf-8", "replace")):
            continue
        if kind not in _NAMED_RULES or not _OPEN_NAME.search(before):
            yield start, end, kind


def _is_placeholder(kind: str, value: str, before: str, after: str) -> bool:
    if "-----BEGIN" in value:
        return False
    if kind in _ADDRESS_RULES:
        user = _ADDRESS_USER.search(before)
        if _ADDRESS_WORD.fullmatch(value) or (user and user[1].lower() == value.lower()):
            return True
        if _WORD.fullmatch(value) and _NO_ONES_HOST.match(after):
            return True
    if kind in _PLACED_RULES and not _made_up(kind, value):
        return True
    if kind not in _SHAPED_RULES and _SEQUENCE.search(value):
        return True
    return bool(_PLACEHOLDER.search(value))


def _made_up(kind: str, value: str) -> bool:
    """Whether a value has digits, or letters of both cases, as no word and no name has them."""
    if kind == "command-secret" and _KEBAB.fullmatch(value):
        return False
    if _NAME.fullmatch(value) and not (kind == "spoken-secret" and value.isdecimal()):
        return False
    if kind == "header-secret" and (login := _login(value)) is not None:
        return bool(login) and not _ADDRESS_WORD.fullmatch(login)
    if any(sign.isdigit() for sign in value):
        return kind == "spoken-secret" or not value.isdecimal()
    return value != value.lower() and value[1:] != value[1:].lower() and value != value.upper()


def _login(value: str) -> str | None:
    """The password of a header's ``user:password`` in base64; None where it is no such thing."""
    import base64

    try:
        said = base64.b64decode(value, validate=True).decode("ascii").strip()
    except ValueError:
        return None
    return said.partition(":")[2] if ":" in said and said.isprintable() else None


def _joined(spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Overlapping spans as one, of the kind of the longest."""
    joined: list[tuple[int, int, str]] = []
    longest = 0
    for start, end, kind in sorted(
        spans, key=lambda span: (span[0], -span[1], span[2].startswith("assigned"), span[2])
    ):
        if joined and start < joined[-1][1]:
            first, last, name = joined[-1]
            name, longest = (kind, end - start) if end - start > longest else (name, longest)
            joined[-1] = (first, max(last, end), name)
        else:
            joined.append((start, end, kind))
            longest = end - start
    return joined


def _in_characters(data: bytes, spans: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    counted, at, placed = 0, 0, []
    for start, end, kind in spans:
        first = counted + len(data[at:start].decode("utf-8", "surrogatepass"))
        counted = first + len(data[start:end].decode("utf-8", "surrogatepass"))
        at = end
        placed.append((first, counted, kind))
    return placed


def _replaced(text: str, spans: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, kind in spans:
        parts += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return "".join(parts) + text[at:]


def make_ready() -> None:
    """Load the library and its rules, which takes a third of a second, before a text has to wait for them.

    Raises ``ImportError`` without the library.
    """
    _scanner()


@lru_cache(maxsize=1)
def _scanner() -> Scanner:
    from kingfisher_sdk import Rules, Scanner

    folder = _cache_folder()
    return Scanner(Rules([_RULES], cache=bool(folder), cache_dir=folder or None))


def _cache_folder() -> str:
    """Where the compiled rules are kept: beside the installation, else in the state folder; else nowhere."""
    from chitta import settings

    for above in (sys.prefix, settings.load().state_dir):
        if os.path.isdir(above) and os.access(above, os.W_OK):
            return os.path.join(above, "secret-rules")
    return ""
