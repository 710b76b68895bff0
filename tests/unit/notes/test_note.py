"""The note's own small rules."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line, without_surrogates


def test_no_kind_is_both_knowledge_and_bookkeeping() -> None:
    assert not set(KNOWLEDGE_KINDS) & set(BOOKKEEPING_KINDS)
    assert Note(id="a").kind in KNOWLEDGE_KINDS


def test_one_line_joins_white_space_and_cuts() -> None:
    assert one_line("  a\n\tb  c ") == "a b c"
    assert one_line("one two three", 8) == "one two"


def test_surrogate_pairs_are_joined_and_lone_ones_replaced() -> None:
    assert without_surrogates("\ud83d\ude00") == "😀"
    assert without_surrogates("a\ud800b") == "a\ufffdb"


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_what_is_left_is_always_utf_8(text: str) -> None:
    clean = without_surrogates(text)
    clean.encode()
    assert without_surrogates(clean) == clean


def test_what_the_prompt_path_imports_stays_cheap() -> None:
    code = (
        "import sys, chitta.notes.realms, chitta.notes.note, chitta.notes.correction\n"
        "print(*sorted({'yaml', 'hashlib', 'json', 'subprocess', 'socket', 'dataclasses', 'numpy'} & set(sys.modules)))"
    )
    path = next(entry for entry in map(str, _roots()))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-E", "-c", f"import sys; sys.path.insert(0, {path!r})\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def _roots() -> list[str]:
    import chitta

    return [str(folder).rpartition("/chitta")[0] for folder in chitta.__path__]
