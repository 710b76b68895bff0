"""Folders as triggers: which they are, what lies in them, and which prompts write there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.correction import match_triggers
from chitta.notes.folder import edited_folder, folder_of, is_folder_alone, is_inside

TRIGGERS = (
    "edit src/generated/",
    "edit files in src/generated/",
    "Edit ./src/generated/**",
    "never touch src/generated",
    "modify the code in src/generated/ by hand",
    "src/generated/",
)


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize(
    "prompt",
    [
        "edit src/generated/ledger_pb2.py and add the field currency",
        "fix the typo in src/generated/api.py",
        "fix the typo in ./src/generated/api.py",
        "add a field to /home/me/proj/src/generated/deep/er/x.py",
        "update @src/generated/api.py with the new field",
        "rename f in `src/generated/api.py` to g",
        "src/generated/api.py: rename f to g",
        "- `src/generated/api.py`: rename f to g",
        "in src/generated/api.py, rename f to g",
        "create src/generated/[id].ts",
    ],
)
def test_what_is_written_below_a_folder_fires(trigger: str, prompt: str) -> None:
    assert match_triggers(prompt, (trigger,)) == trigger


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize(
    "prompt",
    [
        "fix src/generated_old/x.py",
        "fix src/generated.bak/x.py",
        "fix my/generated/x.py",
        "look at src/generated/api.py",
        "why does src/generated/api.py import os",
        "add a test for src/generated/api.py",
        "don't edit src/generated/api.py",
        "fix the docs, not src/generated/api.py",
        "delete src/generated/old.py",
    ],
)
def test_what_is_elsewhere_or_only_read_is_quiet(trigger: str, prompt: str) -> None:
    assert match_triggers(prompt, (trigger,)) is None


def test_a_folder_alone_is_also_ordered_by_using_it() -> None:
    prompt = "import the client from lib/old/client.py"
    assert match_triggers(prompt, ("lib/old/",)) and not match_triggers(prompt, ("edit lib/old/",))


@pytest.mark.parametrize(
    ("trigger", "edited", "folder"),
    [
        ("edit src/gen/", "src/gen", "src/gen"),
        ("put files in tmp/", "tmp", "tmp"),
        ("edit the vendor folder", "vendor", "vendor"),
        ("Write to /tmp/", "tmp", "tmp"),
        ("src/gen/**", "", "src/gen"),
        ("edit CHANGELOG.md", "", ""),
        ("edit db/schema.rb", "", ""),
        ("edit the invoice", "", ""),
        ("/", "", ""),
        ("git push origin feature/", "", ""),
    ],
)
def test_which_triggers_are_folders(trigger: str, edited: str, folder: str) -> None:
    assert (edited_folder(trigger), folder_of(trigger)) == (edited, folder)


def test_a_single_folder_is_not_the_word_for_it() -> None:
    assert is_folder_alone("vendor/") and not is_folder_alone("src/gen/")
    assert match_triggers("fix app/vendor/x.js", ("edit vendor/",))
    assert match_triggers("add it to vendor/ please", ("edit vendor/",))
    assert match_triggers("edit the vendor page", ("edit vendor/",)) is None


@pytest.mark.parametrize("trigger", ["edit vendor/", "edit db/schema.rb", "edit .env"])
@pytest.mark.parametrize(
    ("prompt", "fires"),
    [
        ("change the timeout in {} to 30 seconds", True),
        ("patch {}", True),
        ("add a column gift_wrap in `{}`", True),
        ("add a line to {} please", True),
        ("add {} to .gitignore", False),
        ("add the `{}` file to the ignore list", False),
        ("add a test for {}", False),
        ("read {} and explain it", False),
        ("don't edit {}", False),
    ],
)
def test_what_is_edited_is_told_from_what_is_named(trigger: str, prompt: str, fires: bool) -> None:
    path = trigger.removeprefix("edit ")
    assert bool(match_triggers(prompt.format(path), (trigger,))) is fires


@given(st.lists(st.sampled_from("src gen a b . .. x.py".split()), max_size=6).map("/".join))
def test_a_path_is_inside_its_own_folders(path: str) -> None:
    assert is_inside(f"src/gen/{path}", "src/gen") and not is_inside(f"src/gen_{path}", "src/gen_x")


@given(st.text(max_size=60))
def test_any_trigger_has_an_answer(trigger: str) -> None:
    assert not edited_folder(trigger) or folder_of(trigger) == edited_folder(trigger)
