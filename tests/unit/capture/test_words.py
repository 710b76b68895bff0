from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.capture.draft import CORRECTION, PREFERENCE
from chitta.capture.typed import words_of
from chitta.capture.words import MOST, drafts, said, spoken

DATA = Path(__file__).parent / "data"
PAYLOADS = Path(__file__).resolve().parents[4] / "shared" / "data" / "payloads"
KEPT = (DATA / "kept.txt").read_text(encoding="utf-8").splitlines()
LEFT = json.loads((DATA / "left.json").read_text(encoding="utf-8"))


def test_the_lists_are_long_enough() -> None:
    assert len(KEPT) >= 40
    assert len(LEFT) >= 60


@pytest.mark.parametrize("prompt", KEPT)
def test_what_lasts_is_kept(prompt: str) -> None:
    assert len(said(prompt, acted=True)) == 1


@pytest.mark.parametrize("prompt", LEFT)
def test_what_does_not_last_is_left(prompt: str) -> None:
    assert said(words_of(prompt), acted=True) == []


@pytest.mark.skipif(not PAYLOADS.is_dir(), reason="the payloads of real clients are not here")
def test_no_prompt_of_real_sessions_is_kept() -> None:
    seen = 0
    for file in sorted(PAYLOADS.glob("*.json")):
        value = json.loads(file.read_text(encoding="utf-8"))
        prompt = value.get("prompt", value.get("userPrompt")) if isinstance(value, dict) else None
        if isinstance(prompt, str):
            seen += 1
            assert said(words_of(prompt), acted=True) == [], prompt
    assert seen > 50


@pytest.mark.parametrize(
    ("prompt", "wrong", "right"),
    [
        ("no, use pnpm instead of npm in this repo", "npm", "pnpm"),
        ("don't use moment, use date-fns", "moment", "date-fns"),
        ("we use uv, not pip", "pip", "uv"),
        ("I prefer composition over inheritance", "inheritance", "composition"),
        ("no, write the config in TOML rather than YAML", "YAML", "TOML"),
        ("no, deploy with make ship instead of fab deploy", "fab deploy", "make ship"),
        ("never use var in JavaScript", "var in JavaScript", ""),
        ("always run ruff before committing", "", ""),
    ],
)
def test_both_sides_are_told(prompt: str, wrong: str, right: str) -> None:
    (one,) = said(prompt, acted=True)
    assert (one.wrong, one.right) == (wrong, right)


def test_a_correction_needs_something_to_correct() -> None:
    assert said("don't use moment, use date-fns", acted=True)[0].what == CORRECTION
    assert said("don't use moment, use date-fns", acted=False) == []


def test_a_preference_needs_nothing_before_it() -> None:
    assert said("from now on use conventional commits", acted=False)[0].what == PREFERENCE


def test_an_objection_in_a_sentence_of_its_own_counts() -> None:
    (one,) = said("No. Use zod instead of yup for validation", acted=True)
    assert one.what == CORRECTION


def test_a_condition_stays_with_its_sentence() -> None:
    (one,) = said("whenever you add an endpoint, update the OpenAPI schema", acted=False)
    assert one.sentence == "whenever you add an endpoint, update the OpenAPI schema"


def test_the_same_words_are_the_same_learning() -> None:
    (first,), (second,) = (
        drafts("Never use var in JavaScript!", acted=True),
        drafts("never use var in javascript", acted=True),
    )
    assert spoken(first.key) == spoken(second.key)


def test_among_other_sentences_the_lasting_one_is_found() -> None:
    found = said("The build is green now. Thanks! From now on, write tests with vitest. Then go on.", acted=True)
    assert [one.sentence for one in found] == ["From now on, write tests with vitest"]


@given(st.text(max_size=2000))
def test_any_text_is_read(text: str) -> None:
    assert len(said(words_of(text), acted=True)) <= MOST


@given(
    st.lists(st.sampled_from([*KEPT, "and ", "use ", "never ", "not ", ", ", '"', "`", "\n", "don't "]), max_size=40)
)
def test_joined_pieces_are_read(parts: list[str]) -> None:
    text = " ".join(parts)
    assert said(text, acted=True) == said(text, acted=True)


@pytest.mark.parametrize(
    "piece", ["never ", "use a instead of ", "no, ", "please ", "in this repo ", '"a b c" ', "from now on ", "x, "]
)
def test_long_repetition_takes_no_time(piece: str) -> None:
    assert isinstance(said(piece * (1_400 // len(piece)), acted=True), list)


@pytest.mark.parametrize(
    "after",
    [". Just kidding", ". haha", " 😂", ". 🙃", ". Actually forget it.", ". Never mind!", ", jk", " unless I say so",
     " for 10 minutes", " for the next two hours", " today", ". lol", ". On second thought, no.", " this week"],
)  # fmt: skip
def test_what_is_taken_back_or_holds_for_a_while_is_not_kept(after: str) -> None:
    assert said("Always use tabs for indentation", acted=True) and not said(
        f"Always use tabs for indentation{after}", acted=True
    )


@pytest.mark.parametrize("prompt", ["Don't use moment for dates, use dayjs 🎉", "use dayjs 🎉 instead of moment 🙏"])
def test_no_picture_is_a_part_of_a_side(prompt: str) -> None:
    (one,) = said(prompt, acted=True)
    assert one.right == "dayjs" and one.wrong.startswith("moment") and one.wrong.isascii()


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("Never deploy with <private>fab</private> on production servers", ""),
        ("Always run the tests unless <private>he is here</private>.", ""),
        ("Always use pnpm in CI jobs. <private>key</private>", "Always use pnpm in CI jobs."),
        ("<private>key</private> Always use pnpm in CI jobs", "Always use pnpm in CI jobs"),
        ("Never log <private>a</private> twice\nAlways use pnpm", "Always use pnpm"),
    ],
)
def test_a_sentence_that_lost_a_private_part_is_dropped_whole(typed: str, left: str) -> None:
    assert words_of(typed) == left
