"""A cheap look for secrets in what a person typed, before logs and sessions keep any of it.

Prompts are kept while a person waits, by processes that may not load the library of detectors (0.3 s), so this goes
by shape and by name alone and would rather take a commit's digest for a key than keep a key. Notes and captures go
through :mod:`chitta.safety.secrets`. docs/security.md says what each finds.
"""

from __future__ import annotations

import re

from chitta.safety.private import without_private
from chitta.safety.shown import shown

GONE = "…"
_KEPT = rf"\1{GONE}"
_KEY = re.compile(r"-----BEGIN[^\n]*(?:PRIVATE|SECRET)[^\n]*(?:.*?-----END[^\n]*|.*)", re.DOTALL)
_LOGIN = re.compile(r"(?<=://)[^\s/@]{1,500}@|(?<=-u )\S+|(?<=--user[ =])\S+|(?<=hooks\.slack\.com/)\S+")
#: A value that is given to a name: with a sign between them, by "is", or directly where it has a digit.
_NAMED = re.compile(
    r"((?:token|secret|passw(?:or)?d|passwd|pwd|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|authorization|bearer)s?[\w.-]{0,20}[\"'`\]]{0,2}"
    r"(?:\s{0,4}(?:[:=]{1,2}>?|\b(?:is|was|to)\b)\s{0,4}(?:bearer\s|basic\s|token\s)?|\s(?=\S{0,40}\d))\s{0,2}[\"'`]?)"
    r"[^\s\"'`,;]{4,}",
    re.IGNORECASE,
)
#: The same in a sentence, where the value is none of a word's letters: "the password for the box is hUnter2".
_SAID = re.compile(
    r"((?i:passw(?:or)?d|passphrase|passcode|key|token|passwort|kennwort|mot de passe|contrase(?:ñ|n\u0303|n)a)"
    r"(?:'s|(?:\s[^\n.,;:…]{1,60}?)?\s(?:is|was|are|to|ist|lautet|est|es)):?\s[\"'`*]*)"
    r"(?=\S{0,80}[A-Z\d])[^\s\"'`,;]{5,}"
)
#: Commands that take a password behind one letter, up to their end, and there what follows that letter.
_COMMAND = re.compile(
    r"\b(?:mysql\w*|mariadb[\w-]*|sshpass|redis-cli|mongo\w*|smbclient|(?:docker|podman|az|oc|skopeo|nerdctl) login)"
    r"\s[^\n;|]*"
)
_BEHIND_LETTER = re.compile(r"(\s-[paU]\s?[\"']?)[^\s\"'-][^\s\"']{3,}")
_HTPASSWD = re.compile(r"\bhtpasswd\s[^\n;|]*")
_LAST_WORD = re.compile(r"(\s)\S{4,}(?=\s{0,20}\Z)")
_OPTION = re.compile(
    r"(--from-literal[= ][\"']?[\w.-]{1,80}="
    r"|--[\w-]{0,40}(?:pass(?:word|wd|phrase)?|token|key|secret)[ =][\"']?)[^\s\"'-][^\s\"']{3,}"
)
_COOKIE = re.compile(r"(?i:\bcookie: ?)[^\n\"']*")
_COOKIE_VALUE = re.compile(r"(=)[^\s;]{4,}")
_VENDOR = re.compile(r"\b(?:hf|npm|gh[pousr]|gsk|r8|xox[abeoprs]|sk|rk)[-_](?=[\w-]{0,60}[A-Z\d])[\w-]{16,}")
#: What only a key looks like: sixteen letters and digits in a row that are neither a word nor a number, and what they
#: are a part of.
_LONG = re.compile(
    r"(?<![\w+/=.~%-])[\w+/=.~%-]{0,300}?(?<![A-Za-z0-9])(?=[A-Za-z]{0,60}\d)(?=\d{0,60}[A-Za-z])[A-Za-z0-9]{16,}"
    r"[\w+/=.~%-]*"
)
#: The same in pieces: twenty characters and more without a slash, of which four are digits.
_PIECES = re.compile(r"(?<![\w+=.~%-])(?=(?:[A-Za-z_+=.~%-]{0,60}\d){4})(?=[\w+=.~%-]{0,60}[A-Za-z])[\w+=.~%-]{20,}")


def screened(text: str) -> str:
    """``text`` with an ellipsis for everything that looks like a secret. Pure, never raises; twice is once.

    Unseen characters that a secret has in it go from the whole text.
    """
    done, plain = _screened(text), shown(text)
    if plain == text:
        return done
    left, plain = shown(done), _screened(plain)
    if left == plain:
        return done  # nothing was hidden, so what joins letters or emoji stays
    return min(plain, _screened(left), key=len)  # unseen characters part one secret, and keep two words apart


def _screened(text: str) -> str:
    if "-----BEGIN" in text:
        text = _KEY.sub(GONE, text)
    text = _COMMAND.sub(lambda found: _BEHIND_LETTER.sub(_KEPT, found[0]), _LOGIN.sub(GONE, text))
    text = _COOKIE.sub(lambda found: _COOKIE_VALUE.sub(_KEPT, found[0]), text)
    text = _HTPASSWD.sub(lambda found: _LAST_WORD.sub(_KEPT, found[0]), text)
    text = _VENDOR.sub(GONE, _NAMED.sub(_KEPT, _SAID.sub(_KEPT, _OPTION.sub(_KEPT, text))))
    return _PIECES.sub(GONE, _LONG.sub(GONE, text))


def keepable(text: str) -> str:
    """``text`` as a log may hold it: no private span, nothing that looks like a secret."""
    return screened(without_private(text))
