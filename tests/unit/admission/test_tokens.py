"""Distinctive tokens and the cleaning of prompts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.admission.tokens import LIMIT, STOP_WORDS, clean_prompt, distinctive

DESIGN_PATTERN = re.compile(r"[a-z0-9][a-z0-9_>/-]{3,}")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("yes", ()),
        ("ok continue please", ()),
        ("Fix get_user_by_id in src/auth/login.py", ("get_user_by_id", "src/auth/login")),
        ("ptr->field and --force-with-lease", ("ptr->field", "force-with-lease")),
        ("<div> tests/ </div> a- 8081", ("tests", "8081")),
        ("Deploy, deploy; DEPLOY!", ("deploy",)),
        ("使用pytest测试", ("使用", "pytest", "测试")),
        ("データベース", ("デー", "ータ", "タベ", "ベー", "ース")),
        ("데이터 삭제", ("데이", "이터", "삭제")),
        ("ทดสอบ", ("ทด", "ดส", "สอ", "อบ")),
        ("Größe der Tabelle", ("größe", "tabelle")),
        ("миграция базы", ("миграция", "базы")),
    ],
)
def test_distinctive(text: str, tokens: tuple[str, ...]) -> None:
    assert distinctive(text) == tokens


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=200))
def test_ascii_tokens_are_the_designs_less_what_ends_them(text: str) -> None:
    wanted = dict.fromkeys(word.rstrip(">/-") for word in DESIGN_PATTERN.findall(text.lower()))
    assert distinctive(text) == tuple(w for w in wanted if len(w) >= 4 and w not in STOP_WORDS)[:LIMIT]


@given(st.text(max_size=300))
def test_tokens_are_distinct_few_and_found_in_the_text(text: str) -> None:
    tokens = distinctive(text)
    assert len(tokens) == len(set(tokens)) <= LIMIT
    assert all(token in text.lower() for token in tokens)


def test_stop_words_are_what_the_pattern_can_give() -> None:
    assert all(DESIGN_PATTERN.fullmatch(word) for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("typed", "cleaned"),
    [
        ("  fix it \n", "fix it"),
        ("<ide_opened_file>The user opened /a/.env</ide_opened_file>\nfix the build", "fix the build"),
        ("<ide_selection>lines\n1 to 2</ide_selection>\nA", "A"),
        ("<user_query>\nWrite the post\n</user_query>", "Write the post"),
        ("<command-name>/foo</command-name> <command-args>x</command-args>", ""),
        ("a <system-reminder>be nice</system-reminder> b", "a  b"),
        ("<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>d", "d"),
        ("<chitta-notes>\n- [kw] an item\n</chitta-notes>\nwhy?", "why?"),
        ("go\n<task-notification>\n<task-id>1</task-id> cut short", "go"),
        ("why is <system-reminder> in my log?", "why is <system-reminder> in my log?"),
        ("</system-reminder> hello", "hello"),
        ("<div>kept</div> x < y", "<div>kept</div> x < y"),
        ("contin\x03ue\x00\n", "continue"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\ufeffbom", "bom"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("\ud83d\ude00", "\U0001f600"),
    ],
)
def test_clean_prompt(typed: str, cleaned: str) -> None:
    assert clean_prompt(typed) == cleaned


@given(st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "<user_query>", "x", "\n", " ", "<"])))
def test_cleaning_ends_and_is_trimmed(parts: list[str]) -> None:
    cleaned = clean_prompt("".join(parts))
    assert cleaned == cleaned.strip()
    assert "<user_query>" not in cleaned or "<system-reminder>" in cleaned
