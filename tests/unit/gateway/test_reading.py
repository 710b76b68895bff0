"""What a note shows for a prompt."""

import pytest

from chitta.gateway.engine import Engine
from chitta.gateway.reading import read_prompt


def test_coverage_is_the_idf_weighted_share_of_the_prompts_terms(engine: Engine) -> None:
    assert engine.snapshot is not None
    reading = read_prompt(engine.snapshot, "signature parser unicorn", ("signature", "parser", "unicorn"))
    evidence = reading.weigh(["webhook-raw-body"], words={"webhook-raw-body": 3.0})["webhook-raw-body"]
    weights = reading.weights
    found = sum(weight for term, weight in weights.items() if term.startswith(("signatur", "parser")))
    assert evidence.coverage == pytest.approx(found / sum(weights.values()))
    assert evidence.density == pytest.approx(3.0 / reading.mass)
    assert evidence.shared == 2
    assert reading.shared_with("webhook-raw-body") == ("signature", "parser")


def test_tokens_are_shared_by_stem_and_by_part(engine: Engine) -> None:
    assert engine.snapshot is not None
    tokens = ("signatures", "construct_event", "request.body")
    reading = read_prompt(engine.snapshot, "signatures construct_event", tokens)
    reading.weigh(["webhook-raw-body"], words={})
    assert reading.shared_with("webhook-raw-body") == tokens


def test_an_empty_prompt_has_no_weight(engine: Engine) -> None:
    assert engine.snapshot is not None
    reading = read_prompt(engine.snapshot, "", ())
    evidence = reading.weigh(["webhook-raw-body"], words={})["webhook-raw-body"]
    assert reading.mass == 0
    assert evidence.density == 0
    assert evidence.coverage == 0
