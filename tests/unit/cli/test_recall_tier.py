from __future__ import annotations

import pytest

from chitta.admission.policy import BY_LANE, COS_FLOOR
from chitta.cli.recall_tier import RELATED, RELATED_CONF, SUPPORTED, UNRELATED, arms, tier
from chitta.wire.rows import Row

FLOOR, WORDS_FLOOR = BY_LANE["hybrid"].conf_floor, BY_LANE["hybrid"].words_conf_floor


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (Row("a", 1.0, conf=FLOOR, cos=0.0), SUPPORTED),
        (Row("a", 1.0, conf=WORDS_FLOOR), SUPPORTED),
        (Row("a", 1.0, conf=WORDS_FLOOR - 0.01, bm25=3.0, shared=("x",)), RELATED),
        (Row("a", 1.0, conf=0.0, bm25=3.0, coverage=0.5), RELATED),
        (Row("a", 1.0, conf=0.0, bm25=3.0, coverage=0.4), UNRELATED),
        (Row("a", 1.0, conf=RELATED_CONF, cos=COS_FLOOR), RELATED),
        (Row("a", 1.0, conf=RELATED_CONF - 0.001, cos=COS_FLOOR), UNRELATED),
        (Row("a", 1.0, conf=0.0, cos=COS_FLOOR - 0.01), UNRELATED),
        (Row("a", 1.0), UNRELATED),
    ],
)
def test_tiers_come_from_absolute_evidence(row: Row, expected: str) -> None:
    assert tier(row) == expected


def test_arms() -> None:
    assert arms(Row("a", 1.0, bm25=1.0, cos=0.0)) == ["words", "meaning"]
    assert arms(Row("a", 1.0)) == []
