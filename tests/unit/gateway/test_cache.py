"""The cache of fetched candidates: what counts as asked before, and for how long."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.gateway.cache import LIFE_SECONDS, MOST_ENTRIES, CacheHit, CandidateCache, Fetch


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def fetch(query: str, **other: object) -> Fetch:
    return Fetch("7", query, "hybrid", 10, "chitta")._replace(**other)  # type: ignore[arg-type]


def filled(*queries: str) -> CandidateCache[str]:
    cache: CandidateCache[str] = CandidateCache(Clock())
    for query in queries:
        cache.store(fetch(query), f"found for {query}")
    return cache


SEVEN = "sqlite lock daemon queue worker timeout retry"


def test_the_same_fetch_is_exact() -> None:
    assert filled("lock").look_up(fetch("lock")) == CacheHit("found for lock", "exact", "lock")
    assert filled("lock").look_up(fetch("queue")) is None


@pytest.mark.parametrize("other", [{"version": "8"}, {"mode": "keyword"}, {"fetched_limit": 20}, {"realm": None}])
@pytest.mark.parametrize("query", [SEVEN, f"the {SEVEN}"])
def test_another_version_mode_limit_or_realm_is_another_fetch(other: dict[str, object], query: str) -> None:
    cache = filled(SEVEN)
    assert cache.look_up(fetch(query)) is not None
    assert cache.look_up(fetch(query, **other)) is None


def test_order_and_stop_words_do_not_matter() -> None:
    hit = filled("how does the sqlite lock work with the daemon").look_up(
        fetch("the daemon and sqlite: how does a lock work")
    )
    assert hit is not None and hit.tier == "fuzzy"
    assert hit.query == "how does the sqlite lock work with the daemon"


def test_a_jaccard_of_085_is_near_enough() -> None:
    cache = filled(SEVEN)
    assert cache.look_up(fetch(SEVEN.removesuffix(" retry"))) is not None  # 6 of 7
    assert cache.look_up(fetch(SEVEN.removesuffix(" timeout retry"))) is None  # 5 of 7
    assert filled("sqlite lock daemon").look_up(fetch("sqlite lock daemon queue")) is None  # 3 of 4


def test_a_query_of_one_term_is_only_found_exactly() -> None:
    cache = filled("lock")
    assert cache.look_up(fetch("the lock")) is None
    assert cache.look_up(fetch("lock")) is not None
    assert filled("what is it").look_up(fetch("it is what")) is None


def test_the_best_match_wins_and_of_equals_the_newest() -> None:
    hit = filled(f"{SEVEN} backup", f"the {SEVEN}", f"{SEVEN} restore").look_up(fetch(SEVEN))
    assert hit is not None and hit.query == f"the {SEVEN}"
    hit = filled(f"a {SEVEN}", f"the {SEVEN}").look_up(fetch(SEVEN))
    assert hit is not None and hit.query == f"the {SEVEN}"


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("sqlite decisions before the rewrite", "sqlite decisions after the rewrite"),
        ("sqlite decisions of the last 2 weeks", "sqlite decisions of the last 3 weeks"),
        ("use sqlite for the queue", "do not use sqlite for the queue"),
        ("why don't we lock the queue", "why do we lock the queue"),
        (f"{SEVEN} python 3 linux macos windows docker", f"{SEVEN} python 2 linux macos windows docker"),
    ],
)
def test_a_word_or_number_that_turns_the_question_round_is_no_match(kept: str, asked: str) -> None:
    assert filled(kept).look_up(fetch(asked)) is None
    assert filled(kept).look_up(fetch(f"please {kept}")) is not None


def test_an_entry_lives_an_hour() -> None:
    clock = Clock()
    cache: CandidateCache[int] = CandidateCache(clock)
    cache.store(fetch("sqlite lock"), 1)
    clock.now += LIFE_SECONDS - 1
    assert cache.look_up(fetch("sqlite lock")) is not None
    assert cache.look_up(fetch("the sqlite lock")) is not None
    clock.now += 1
    assert cache.look_up(fetch("the sqlite lock")) is None
    assert cache.look_up(fetch("sqlite lock")) is None
    assert len(cache) == 0


def test_being_found_does_not_make_an_entry_younger_and_storing_again_does() -> None:
    clock = Clock()
    cache: CandidateCache[int] = CandidateCache(clock)
    cache.store(fetch("sqlite lock"), 1)
    clock.now += LIFE_SECONDS / 2
    assert cache.look_up(fetch("sqlite lock")) is not None
    cache.store(fetch("sqlite queue"), 2)
    clock.now += LIFE_SECONDS / 2
    assert cache.look_up(fetch("sqlite lock")) is None
    assert cache.look_up(fetch("sqlite queue")) is not None


def test_an_entry_from_the_clocks_future_is_expired() -> None:
    clock = Clock()
    cache: CandidateCache[int] = CandidateCache(clock)
    cache.store(fetch("sqlite lock"), 1)
    clock.now -= 1
    assert cache.look_up(fetch("sqlite lock")) is None


def test_the_newest_entries_are_kept() -> None:
    queries = [f"w{n}" for n in range(MOST_ENTRIES)]
    cache = filled(*queries)
    cache.store(fetch("w0"), "again")  # now the newest
    cache.store(fetch("more"), "more")
    assert len(cache) == MOST_ENTRIES
    assert cache.look_up(fetch("w1")) is None
    assert cache.look_up(fetch("w0")) == CacheHit("again", "exact", "w0")
    assert cache.look_up(fetch("w2")) is not None


def test_none_and_empty_are_values() -> None:
    cache: CandidateCache[list[str] | None] = CandidateCache(Clock())
    cache.store(fetch("a b"), None)
    cache.store(fetch("c d"), [])
    assert cache.look_up(fetch("a b")) == CacheHit(None, "exact", "a b")
    assert cache.look_up(fetch("c d")) == CacheHit([], "exact", "c d")


def test_invalidate_forgets_everything() -> None:
    cache = filled("lock", "queue")
    cache.invalidate()
    assert len(cache) == 0 and cache.look_up(fetch("lock")) is None


def test_threads_may_share_it() -> None:
    cache = filled()

    def use(number: int) -> None:
        for step in range(60):
            query = f"sqlite lock w{number}x{step}"
            cache.store(fetch(query), query)
            hit = cache.look_up(fetch(f"the {query}"))
            assert hit is None or hit.value == hit.query

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(4))) == [None] * 4
    assert len(cache) == MOST_ENTRIES


@given(st.lists(st.text(st.characters(), max_size=30), max_size=4), st.text(st.characters(), max_size=30))
def test_never_raises_and_finds_what_was_stored(kept: list[str], asked: str) -> None:
    cache = filled(*kept)
    hit = cache.look_up(fetch(asked))
    assert (hit is not None and hit.tier == "exact") == (asked in kept)
    assert hit is None or hit.value == f"found for {hit.query}"
