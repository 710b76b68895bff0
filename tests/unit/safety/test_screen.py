from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.safety.screen import keepable, screened

Growth = Callable[[Callable[[int], object], int], float]

SAMPLES = Path("/work/shared/data/adversarial/secret_samples_gitleaks.jsonl")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my key is sk-ant-api03-Zx81kQw0Lr7Tn3Vb5Yc9Md2Hs6Pf4Jg0", "Zx81kQw0"),
        ("psql postgres://app:hunter2secret@db.local/app", "hunter2secret"),
        ("password: sunshine", "sunshine"),
        ("curl -u kevin:sVc0iJ5m6S2rVqJ2 example.org", "sVc0iJ5m"),
        ("Authorization: Bearer abcdefgh.ijkl", "abcdefgh"),
        ("mysql -u root -p" + "Xk92mQplz7 app", "Xk92"),
        ("docker login registry.io -u kev -p " + "Xk92mQplz7", "Xk92"),
        ("sshpass -p '" + "Xk92mQplz7' ssh a@b", "Xk92"),
        ("redis-cli -h cache -a " + "Xk92mQplz7", "Xk92"),
        ("htpasswd -b user " + "Xk92mQplz7", "Xk92"),
        ("kubectl create secret generic x --from-literal=db=" + "Xk92mQplz7", "Xk92"),
        ("wget --password=" + "sunFlowerXq", "sunFlower"),
        ("Cookie: a=b; session=" + "Xk92mQplz7", "Xk92"),
        ("log in with hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi", "QwErTy"),
        ("the password for the staging db is " + "sunFlowerXq", "sunFlower"),
        ("password was changed to " + "Xk92mQplz7", "Xk92"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\nIBADAN\n-----END PRIVATE KEY----- after", "IBADAN"),
    ],
)
def test_fault_38_what_looks_like_a_secret_goes(text: str, secret: str) -> None:
    assert secret in text and secret not in screened(text)


@pytest.mark.parametrize(
    "text",
    [
        "why does src/components/v2/Button.tsx fail in tests/unit/index/test_killed.py",
        "upgrade to python3.12 on ubuntu-24.04-lts",
        "the token bucket limits context windows",
        "get_user_by_email_and_password(user)",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert screened(text) == text


PIECES = [
    "mysql ",
    "-p",
    " -p",
    "htpasswd ",
    "Cookie: ",
    "=",
    "--token ",
    "the password ",
    "is ",
    "Xk92mQ",
    "hf_",
    ";",
    "…",
]


@given(
    st.text()
    | st.from_regex(r"(token|password)[:= ]+\S{0,20}", fullmatch=True)
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)
def test_any_text_twice_is_once(text: str) -> None:
    once = screened(text)
    assert screened(once) == once


def test_private_spans_go_as_well() -> None:
    assert keepable("a<private>b</private>c") == "ac"


@pytest.mark.parametrize(
    "piece",
    [
        "a1",
        "a.",
        "token ",
        "a-1",
        "://",
        "-u ",
        "-----BEGIN PRIVATE ",
        "mysql -p ",
        "password is ",
        "htpasswd ab ",
        "cookie: a",
    ],
)
def test_a_long_prompt_is_linear(piece: str, growth: Growth) -> None:
    assert growth(lambda count: screened(piece * count), 20_000) < 30


@pytest.mark.skipif(not SAMPLES.exists(), reason="the recorded samples are not here")
def test_nearly_every_recorded_secret_goes() -> None:
    from chitta.safety.secrets import _secrets

    left = total = 0
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["is_secret"]:
            spans = _secrets(row["text"])
            total += len(spans)
            left += sum(row["text"][start:end] in screened(row["text"]) for start, end, _ in spans)
    assert total > 100 and left <= total * 0.02


@pytest.mark.parametrize("unseen", ["\u200b", "\xad", "\u202d", "\0", "\ufe0f", "\x1b[0m"])
def test_a_secret_with_an_unseen_character_in_it_goes(unseen: str) -> None:
    assert screened(f"use ghp_a1B2{unseen}c3D4e5F6g7H8i9{unseen}J0k1 now") == "use … now"
    assert keepable(f"a <pri{unseen}vate>b</private> c") == "a  c"


def test_what_joins_letters_stays() -> None:
    assert screened("می\u200cخواهم token=abcd1234") == "می\u200cخواهم token=…"
