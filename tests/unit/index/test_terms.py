"""Text to terms: what must be found whole and in parts, in any script, from any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.index.terms import (
    LONGEST_EXACT,
    LONGEST_WORD,
    QUERY_CHARS,
    QUERY_LIMIT,
    STOP_WORDS,
    WEIGHED_CHARS,
    analyse,
    take_apart,
    terms_of,
)


@pytest.mark.parametrize(
    ("text", "words", "exact"),
    [
        ("get_user_by_id", {"get", "user", "id"}, {"get_user_by_id", "getuserbyid"}),
        ("getUserById", {"get", "user", "id"}, {"getuserbyid"}),
        ("HTTPServer", {"http", "server"}, {"httpserver"}),
        ("src/app/main.py", {"src", "app", "main", "py"}, {"src/app/main.py", "main.py"}),
        ("C:\\src\\get_user.py", {"src", "get", "user", "py"}, {"c:/src/get_user.py", "get_user.py", "get_user"}),
        ("--force-with-lease", {"forc", "leas"}, {"--force-with-lease", "force-with-lease"}),
        ("git log -p", {"git", "log", "p"}, {"-p"}),
        ("ERR_SSL_PROTOCOL", {"err", "ssl", "protocol"}, {"err_ssl_protocol"}),
        ("v0.3.4", set(), {"v0.3.4", "0.3.4", "0.3"}),
        ("C++", {"c"}, {"c++"}),
        ("C#", {"c"}, {"c#"}),
        (".gitignore", {"gitignor"}, {".gitignore"}),
        ("std::vector<int>", {"std", "vector", "int"}, {"std::vector"}),
        ("utf-8", {"utf"}, {"utf-8", "utf8"}),
        ("https://example.com/a/b?x=1", {"exampl", "com"}, {"example.com/a/b"}),
        ("the user's config", {"user", "config"}, set()),
        ("café naïve", {"cafe"}, set()),
        ("привет हिन्दी", {"привет", "हिन्दी"}, set()),
    ],
)
def test_an_identifier_is_kept_whole_and_in_parts(text: str, words: set[str], exact: set[str]) -> None:
    terms = analyse(text)
    assert words <= set(terms.words)
    assert exact <= set(terms.exact)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("get_user_by_id", "getUserById"),
        ("pre-commit", "precommit"),
        ("utf-8", "UTF8"),
        ("--force-with-lease", "force-with-lease"),
        ("v0.3.4", "0.3.4"),
        ("café", "cafe"),
        ("users running", "user runs"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_two_ways_of_writing_it_share_a_term(one: str, other: str) -> None:
    assert set(analyse(one).all) & set(analyse(other).all)


@pytest.mark.parametrize(
    ("note", "prompt"),
    [
        ("数据库连接池的配置", "连接池怎么配置"),
        ("データベース接続プールの設定", "接続プールを設定したい"),
        ("데이터베이스 연결 풀을 설정한다", "연결 풀 설정"),
        ("การตั้งค่าฐานข้อมูล", "ฐานข้อมูล"),
        ("黒い猫が好き", "猫"),
        ("用getUserById获取用户", "get_user_by_id"),
        ("エラーERR_SSL_PROTOCOLが出る", "ERR_SSL_PROTOCOL"),
    ],
)
def test_fault_12_scripts_without_spaces_meet(note: str, prompt: str) -> None:
    assert set(analyse(note, limit=None).all) & set(analyse(prompt).all)


def test_characters_of_a_spaceless_run_come_in_pairs() -> None:
    assert analyse("获取用户").exact == ("获取", "取用", "用户")
    assert analyse("获取用户", limit=None).exact == ("获", "取", "用", "户", "获取", "取用", "用户")


def test_a_sentence_of_stop_words_has_no_terms() -> None:
    assert analyse(" ".join(sorted(STOP_WORDS))).all == ()
    assert analyse("What is it that you do? I don't, and we can't.").all == ()


def test_brackets_and_operators_are_no_terms() -> None:
    assert analyse("(" * 3000 + "[{<" * 100).all == ()
    assert set(analyse('NOT "a AND (foo:bar^2 OR -baz~3)" [x TO y]').words) >= {"foo", "bar", "baz", "x", "y"}


def test_a_query_has_distinct_terms_and_keeps_head_and_tail() -> None:
    text = " ".join(f"alpha{letter}{other}" for letter in "bcdfghjklm" for other in "bcdfghjklmnpqrtvwxz")
    terms = analyse(text)
    assert len(terms.words) == len(set(terms.words)) == QUERY_LIMIT
    assert terms.words[0] == analyse(text.split()[0]).words[0]
    assert terms.words[-1] == analyse(text.split()[-1]).words[0]
    assert analyse("docker docker build docker").words == ("docker", "build")


def test_a_note_repeats_its_terms() -> None:
    assert analyse("docker build docker", limit=None).words == ("docker", "build", "docker")


def test_a_long_prompt_is_looked_at_from_both_ends() -> None:
    text = "firstword " + "x" * QUERY_CHARS + " middleword " + "y " * QUERY_CHARS + " lastword"
    words = analyse(text).words
    assert "firstword" in words and "lastword" in words and "middleword" not in words


@pytest.mark.parametrize(
    "text",
    [
        "1.2" + "a" * 5_000 + ":",
        "1." * 20_000,
        "A" * 50_000,
        "aB" * 25_000,
        "a_" * 25_000,
        "-" * 50_000,
        "क" + "\u0902" * 50_000,
        "a'" * 25_000,
        "a" + "'s" * 25_000,
        "/" * 50_000 + "a",
    ],
)
def test_no_text_takes_for_ever(text: str) -> None:
    """Nor does any run out of stack: these are long runs of what the patterns repeat."""
    analyse(text, limit=None)
    analyse(text)


@given(st.text(max_size=300))
def test_any_text_gives_bounded_terms_that_utf8_can_hold(text: str) -> None:
    for limit in (None, QUERY_LIMIT):
        terms = analyse(text, limit=limit)
        for term in terms.all:
            assert term and not any(char.isspace() for char in term)
            assert len(term.encode()) <= 4 * max(LONGEST_WORD, LONGEST_EXACT)
    query = analyse(text)
    assert len(set(query.all)) == len(query.all) <= QUERY_LIMIT


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "So", "Lu", "Nd", "Lo"]), max_size=80))
def test_fault_16_surrogates_and_controls_do_no_harm(text: str) -> None:
    " ".join(analyse(text, limit=None).all).encode()


@given(st.text(max_size=100))
def test_a_note_holds_every_term_of_the_same_text_as_a_query(text: str) -> None:
    assert set(analyse(text).all) <= set(analyse(text, limit=None).all)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text(
    st.sampled_from("aZ9_-./:'\\ \n\u2019\u00e9\u0301\uff21\u4e2d\u0e01+#~@>"), max_size=40
)


@given(texts, texts)
def test_what_is_weighed_of_a_note_is_what_the_whole_holds(title: str, text: str) -> None:
    """However it is taken apart: title and text are separate lines, and a note longer than is weighed is cut."""
    whole = frozenset(analyse(f"{title}\n{text}", limit=None).all)
    head = tuple(sorted(set(analyse(title, limit=None).words)))
    assert terms_of(title, text) == (whole, head)
    assert terms_of(title, text, take_apart(title, text)) == (whole, head)


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("size", [-1, 0, 1, 7, 50])
def test_a_long_note_is_weighed_by_its_beginning(size: int, apart: bool) -> None:
    title, text = "redis cache", ("docker " * (WEIGHED_CHARS // 7 + 1))[: WEIGHED_CHARS - len("redis cache") - 1 + size]
    text = text[:-6] + " kafka"
    cut = analyse(f"{title}\n{text}"[:WEIGHED_CHARS], limit=None)
    found = terms_of(title, text, take_apart(title, text) if apart else None)
    assert found.whole == frozenset(cut.all)
    assert ("kafka" in found.whole) == (size <= 0)


def test_of_a_title_beyond_all_measure_no_more_is_weighed() -> None:
    title = "haproxy " * WEIGHED_CHARS + "kafka"
    found = terms_of(title, "redis")
    assert found.whole == {"haproxi"}
    assert found.title == ("haproxi",)
