"""How much of a question the notes speak of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.overlap import TOP, best_coverage, content_terms, coverage, gated


def test_coverage_is_the_share_of_content_terms_found() -> None:
    # "how", "do" and "the" carry nothing; prune is in the note, worktrees and branch are, staging is not.
    query = "How do the pruned worktrees, branch and staging?"
    assert coverage(query, "Prune a worktree before you reuse its branch") == pytest.approx(3 / 4)


def test_whole_words_count_not_parts_of_words() -> None:
    assert coverage("port", "an important report on transport") == 0.0
    assert coverage("port", "which ports are open") == 1.0


@pytest.mark.parametrize(
    "one, other", [("cache", "caching"), ("classes", "class"), ("queries", "query"), ("pins", "pinned")]
)
def test_forms_of_one_word_meet(one: str, other: str) -> None:
    assert content_terms(one) == content_terms(other) != frozenset()


def test_accents_fold_and_other_scripts_stay() -> None:
    assert coverage("naïve café", "NAIVE CAFE") == 1.0
    assert coverage("миграция базы", "Миграция базы данных") == 1.0
    assert coverage("数据库", "生产数据库迁移") == 1.0
    assert coverage("数据库", "网络故障") == 0.0
    assert content_terms("हिन्दी") == {"हिन्दी"}


def test_versions_and_names_of_signs_are_one_term() -> None:
    assert coverage("v0.3.4", "released 0.3.4 today") == 1.0
    assert coverage("v0.3.4", "released v0.3.5; see 3.4") == 0.0
    assert {"c++", "c#"} <= content_terms("C++ and C#")
    assert coverage("C++", "a note on C, and on C#") == 0.0


def test_an_identifier_is_its_words() -> None:
    assert content_terms("parseUserName") == content_terms("parse_user_name") == content_terms("parse user/name.")


def test_short_forms_are_stop_words() -> None:
    assert content_terms("I don't; you won't, what’s it? we've") == frozenset()


def test_a_question_without_content_is_never_gated() -> None:
    assert coverage("what is it?", "anything") == 1.0
    assert best_coverage("what is it?", []) == 1.0
    assert not gated("what is it?", [], 1.0)


def test_the_best_of_the_first_notes_counts() -> None:
    texts = ["nothing"] * (TOP - 1) + ["redis pool", "redis pool exhausted"]
    assert best_coverage("redis pool exhausted", texts) == pytest.approx(2 / 3)
    assert gated("redis pool exhausted", texts, 0.7)
    assert not gated("redis pool exhausted", texts, 2 / 3)


def test_zero_is_off_and_no_notes_cover_nothing() -> None:
    assert not gated("redis", ["nothing"], 0.0)
    assert gated("redis", [], 0.1)


def test_another_analyser_may_be_given() -> None:
    assert coverage("a b", "b c", analyse=lambda text: text.split()) == 0.5


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_any_text_gives_a_share(query: str, texts: list[str]) -> None:
    assert 0.0 <= best_coverage(query, texts) <= 1.0
    assert coverage(query, query) == 1.0
