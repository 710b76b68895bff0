"""Sentences of instructions: what is a correction, what a rule, what a fact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.importing.rules import Correction, correction_of, kind_of, sentences
from chitta.notes.correction import make_correction, match_triggers


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("Never use npm, use pnpm.", "npm", "pnpm"),
        ("**Never** use `npm install`; use `pnpm add` instead.", "`npm install`", "`pnpm add`"),
        ("Don't commit to main; open a pull request instead.", "commit to main", "open a pull request"),
        ("Use pnpm instead of npm", "npm", "pnpm"),
        ("Use `logger.info`, not `console.log`.", "`console.log`", "`logger.info`"),
        ("Instead of `pip install`, use `uv add`.", "`pip install`", "`uv add`"),
        ("Do not use moment.js. Use date-fns instead.", "moment.js", "date-fns"),
        ("Avoid default exports - use named exports.", "default exports", "named exports"),
        ("Prefer `pathlib.Path` over `os.path`.", "`os.path`", "`pathlib.Path`"),
        ("No `print()` — use `logging`", "`print()`", "`logging`"),
        ("- not tabs but spaces", "tabs", "spaces"),
        ("Don't use `requests`; use `httpx` instead.", "`requests`", "`httpx`"),
    ],
)
def test_this_not_that_is_a_correction_that_fires(text: str, wrong: str, right: str) -> None:
    found = correction_of(text)
    assert found is not None and (found.wrong, found.right) == (wrong, right)
    note = make_correction(found.wrong, found.right)
    assert match_triggers(f"please use {wrong.strip('`')} here", note.triggers) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Never commit secrets.",
        "Use it instead of that.",
        "Not only the tests, but also the docs.",
        "Never run `npm install` if you are offline, use the cache.",
        "Prefer composition over inheritance.",
        "Write tests first, not after.",
        "Should we use pnpm instead of npm?",
        "Do not use `any`. Use `unknown` instead.",  # no prompt fires on so common a word
        "Use the way that the team has agreed upon in its last meeting of the year instead of npm.",
        "",
    ],
)
def test_what_is_not_plain_stays_in_its_author_s_words(text: str) -> None:
    assert correction_of(text) is None


def test_the_reason_and_what_is_said_after_it_are_kept() -> None:
    said = "Use pnpm instead of npm, because the lockfile is pnpm's. CI checks it."
    assert correction_of(said) == Correction("npm", "pnpm", "the lockfile is pnpm's CI checks it.")
    assert correction_of("Use date-fns, not moment.js (it is smaller and immutable)") == Correction(
        "moment.js", "date-fns", "it is smaller and immutable"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Use `httpx`, not `requests`; we patch timeouts in `src/http.py`",
            Correction("`requests`", "`httpx`", "we patch timeouts in `src/http.py`"),
        ),
        (
            "Run tests with `make test`, never bare `pytest`: the database fixture needs the env file",
            Correction("`pytest`", "`make test`", "the database fixture needs the env file"),
        ),
        ("Use pnpm for the frontend, never npm.", Correction("npm", "pnpm")),
        ("Never use npm; use pnpm instead: it is faster", Correction("npm", "pnpm", "it is faster")),
        (
            "Use pnpm, not npm — it hangs when the cache is cold",
            Correction("npm", "pnpm", "it hangs when the cache is cold"),
        ),
        ("Use pnpm, not npm, so the lockfile stays", Correction("npm", "pnpm", "so the lockfile stays")),
        ("Use `a: b`, not `c; d`", Correction("`c; d`", "`a: b`")),
        (
            "Use `uv sync`, not `pip install` in the container",  # a place is a part of its side
            Correction("`pip install` in the container", "`uv sync`"),
        ),
    ],
)
def test_a_side_ends_with_its_clause_and_the_rest_is_the_reason(text: str, found: Correction) -> None:
    assert correction_of(text) == found
    triggers = make_correction(found.wrong, found.right, found.why).triggers
    assert triggers and not any("/" in trigger for trigger in triggers)


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("Never edit files in `src/gen/`; run `make proto` instead.", "edit files in src/gen/"),
        ("Do not touch `src/gen/`; run `make proto` instead.", "touch src/gen/"),
        ("Don't edit `src/gen/**` by hand. Run `make proto` instead.", "edit src/gen/** by hand"),
    ],
)
def test_a_folder_that_is_not_to_be_edited_is_wrong_where_it_is_edited(text: str, trigger: str) -> None:
    found = correction_of(text)
    assert found is not None and found.right == "`make proto`"
    note = make_correction(found.wrong, found.right)
    assert note.triggers == (trigger,)
    assert match_triggers("fix the typo in src/gen/api.py", note.triggers, note.right) == trigger
    assert match_triggers("what is in src/gen/api.py", note.triggers, note.right) is None


@pytest.mark.parametrize(
    "text",
    [
        "Use pnpm, not npm; except in `legacy/`",
        "Use pnpm, not npm (when you are online)",
        "Use `src/http.py`, not `src/old.py`",  # who names a file orders nothing
    ],
)
def test_a_condition_after_it_or_a_file_as_the_wrong_form_is_no_correction(text: str) -> None:
    assert correction_of(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Never edit files in `db/schema.rb` by hand; write a migration.",
            Correction("edit db/schema.rb", "write a migration"),
        ),
        ("Never edit `vendor/`.", Correction("edit vendor/", "do not edit vendor/")),
        ("Please don't touch the `vendor` folder", Correction("edit vendor/", "do not edit vendor/")),
        ("Don't hand-edit anything in `src/gen`", Correction("edit src/gen/", "do not edit src/gen/")),
        ("Avoid editing generated code in lib/gen/**.", Correction("edit lib/gen/", "do not edit lib/gen/")),
        ("Never change .env directly", Correction("edit .env", "do not edit .env")),
        (
            "Never edit `db/schema.rb`, add a migration instead, because CI diffs it",
            Correction("edit db/schema.rb", "add a migration", "CI diffs it"),
        ),
        (
            "Never edit `db/schema.rb`. Write a migration instead. Ask Ann.",
            Correction("edit db/schema.rb", "Write a migration", "Ask Ann."),
        ),
        (
            "Never edit `dist/`: it is built by CI",
            Correction("edit dist/", "do not edit dist/", "it is built by CI"),
        ),
        (
            "Never edit `dist/`. The build makes it.",
            Correction("edit dist/", "do not edit dist/", "The build makes it."),
        ),
    ],
)
def test_a_path_that_is_never_to_be_edited_is_a_correction(text: str, found: Correction) -> None:
    assert correction_of(text) == found
    note = make_correction(found.wrong, found.right, found.why)
    assert note.triggers == (found.wrong,)
    assert match_triggers(f"please {found.wrong}", note.triggers, note.right)


@pytest.mark.parametrize(
    "text",
    [
        "Never edit `db/schema.rb` without asking.",
        "Never edit `vendor/` unless Ann says so.",
        "Never edit `a/`, `b/`.",
        "Never edit `a/x.py`, b.py or c.py.",
        "Never edit `a/` or `b/`.",
        "Never edit existing files in `db/migrate/`.",  # new ones are written there
        "Never edit `src/*/x.py`.",
        "Never touch production.",
        "Never edit it.",
    ],
)
def test_a_rule_on_several_paths_on_none_or_under_a_condition_is_no_correction(text: str) -> None:
    assert correction_of(text) is None


def test_rules_make_a_preference_and_facts_a_reference() -> None:
    assert kind_of("- Always run the linter.\n- Functions should be short.") == "preference"
    assert kind_of("- `npm run build`: build it\n- `npm test`: test it") == "reference"
    assert kind_of("The service speaks gRPC. It is deployed to Fly.") == "reference"
    assert kind_of("```\nnever use this\n```") == "reference"


def test_sentences_leave_out_bullets_emphasis_and_code_blocks() -> None:
    text = "- **One** thing\n- [ ] Two. Three\n```\ncode\n```\nA line\nthat goes on"
    assert sentences(text) == ["One thing", "Two.", "Three", "A line that goes on"]


WORDS = "never use X , not but ` ** _ instead of prefer ( ) .".split(" ")


@given(st.text(max_size=400) | st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_any_text_has_a_kind_and_at_most_a_correction(text: str) -> None:
    assert kind_of(text) in ("preference", "reference")
    found = correction_of(text)
    assert found is None or (found.wrong and found.right and correction_of(text) == found)
