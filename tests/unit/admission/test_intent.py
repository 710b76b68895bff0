"""What a short turn asks, by its literal words."""

import pytest

from chitta.admission.intent import LEANING_WORDS, NEGATION_WORDS, OWN_TOKENS, is_terse_negation, leans_back
from chitta.admission.tokens import distinctive


@pytest.mark.parametrize(
    "prompt",
    [
        "no",
        "No.",
        " nope\n",
        "nah — leave it",
        "no, not that",
        "no not like that",
        "no - keep postgres",
        "no thanks",
        "not that one",
        "is not sqlite",
        "isn't sqlite",
        "that’s not sqlite",
        "it is not",
        "those aren't ours",
        "never mind",
        "nevermind",
        "ok, no",
        "wait, that's not it",
        f"not {'x ' * (NEGATION_WORDS - 1)}",
    ],
)
def test_a_turn_that_only_takes_something_back(prompt: str) -> None:
    assert is_terse_negation(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "yes",
        "no space left on device",
        "no such file: a.txt",
        "No module named yaml",
        "no-op migration fails",
        "no-cache header missing",
        "nothing works",
        "nobody knows",
        "nonetheless, deploy the staging server",
        "notable changes since monday",
        "why is it not working",
        "what is not sqlite",
        "isn't it sqlite?",
        "it fails again",
        "wrongly indexed rows",
        f"not {'x ' * NEGATION_WORDS}",
        f"not {'x' * 200}",
    ],
)
def test_a_turn_that_says_something_is_no_negation(prompt: str) -> None:
    assert not is_terse_negation(prompt)


def leaning(prompt: str) -> bool:
    return leans_back(prompt, distinctive(prompt))


@pytest.mark.parametrize(
    "prompt",
    [
        "do the same for staging",
        "and where do I click for that?",
        "only for a single call though, not forever",
        "what about production?",
        "Perfect, deploy",
        "now the billing service",
        "it fails again",
        "that’s what staging does",
        "how does it work",
        "the one above",
        "actually use redis",
        "x " * (LEANING_WORDS - 1) + "it",
        "then " + "x " * (LEANING_WORDS - 1),
        # An opener needs no pronoun, whatever else the turn holds.
        "also rename orders invoices customers payments",
    ],
)
def test_a_turn_that_goes_on_with_the_last_one(prompt: str) -> None:
    assert leaning(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "...",
        "add an index on orders",
        "sore throat remedies",
        "nowhere near done",
        "notes about webhook retries",
        # A fresh request: what it says of itself comes before the pronoun, which points there.
        "why does the postgres migration lock the orders table when it runs",
        "in staging deployments billing fails because it times out",
        # Long.
        "x " * LEANING_WORDS + "it",
        "then " + "x " * LEANING_WORDS,
        "it " + "x" * 400,
        "Why does it fail? We moved the worker to another machine last week, its queue is the same as before, and the"
        " log of that machine holds no error at all.",
    ],
)
def test_a_turn_with_a_subject_of_its_own_stands_alone(prompt: str) -> None:
    assert not leaning(prompt)


def test_a_late_pronoun_counts_where_the_turn_says_next_to_nothing_else() -> None:
    prompt = "in our two new ci jobs does the step before run it"
    own = [f"token{n}" for n in range(OWN_TOKENS)]
    assert leans_back(prompt, own[:-1]) and not leans_back(prompt, own)


def test_an_early_pronoun_points_back_whatever_follows() -> None:
    assert leans_back("please make it rename orders invoices customers", ["rename", "orders", "invoices", "customers"])
