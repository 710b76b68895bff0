from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wiring import edit, harness
from chitta.wiring.edit import Refused
from chitta.wiring.harness import BY_NAME, TABLE, Harness

from . import documents

ROOT = "/opt/a checkout"
ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)

MINE = {"type": "command", "command": "/home/me/mine.sh", "bash": "/home/me/mine.sh"}


def others(row: Harness) -> dict[str, Any]:
    """Settings with a hook of the person's own at the prompt event."""
    group = {"hooks": [MINE]} if row.grouped else MINE
    return {**row.top, "theme": "dark", "hooks": {row.events[0].name: [group]}, "last": [1, 2.5]}


@given(data=st.data(), row=st.sampled_from(TABLE))
def test_install_then_uninstall_is_the_same_text(data: st.DataObject, row: Harness) -> None:
    text = data.draw(documents.texts_of(row))
    wired = edit.install(row, text, ROOT)
    assert edit.install(row, wired, ROOT) == wired
    assert edit.uninstall(row, wired, text) == text


@given(data=st.data(), row=st.sampled_from(TABLE))
def test_what_is_edited_meanwhile_stays_and_nothing_else(data: st.DataObject, row: Harness) -> None:
    text = data.draw(documents.texts_of(row))
    wired = edit.install(row, text, ROOT)
    brace = text.index("{") + 1

    def edited(source: str) -> str:
        comma = "," if source[brace:].strip()[:1] != "}" else ""
        return source[:brace] + ' "my new key" : [ 1,2 ]' + comma + source[brace:]

    if json.loads(text):  # an empty object gets another shape from the edit itself
        assert edit.uninstall(row, edited(wired), text) == edited(text)
    else:
        assert json.loads(edit.uninstall(row, edited(wired), text)) == {"my new key": [1, 2]}


@given(data=st.data(), row=st.sampled_from(TABLE))
def test_every_event_is_wired_once_and_every_foreign_value_is_kept(data: st.DataObject, row: Harness) -> None:
    text = data.draw(documents.texts_of(row))
    wired = edit.install(row, text, ROOT)
    assert sorted(found.event for found in edit.entries(row, wired)) == sorted(event.name for event in row.events)
    before, after = json.loads(text), json.loads(wired)
    assert {key: after[key] for key in before if key != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
    for event, handlers in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(handlers)] == handlers


@given(st.text(max_size=40))
def test_any_text_is_refused_or_changed_back_to_itself(text: str) -> None:
    row = BY_NAME["claude"]
    try:
        wired = edit.install(row, text, ROOT)
    except Refused:
        return
    assert edit.uninstall(row, wired, text) == text or not text.strip()


@ROWS
@pytest.mark.parametrize("indent", [None, 2, 4, "\t"])
def test_the_lines_of_a_file_stay_and_new_ones_are_written_like_them(row: Harness, indent: int | str | None) -> None:
    text = json.dumps(others(row), indent=indent).replace("2.5", "2.50") + "\n"
    wired = edit.install(row, text, ROOT)
    # the same as from a program that writes the whole file anew, but for the number that it would write otherwise
    assert wired == json.dumps(json.loads(wired), indent=indent).replace("2.5", "2.50") + "\n"
    assert "2.50" in wired


@ROWS
@pytest.mark.parametrize(
    "text", ["{}", "{ }", " {\n\n}\n", '{"hooks" : { } }', '{"hooks":{"Stop":[ ],"agentStop":[\n]}}']
)
def test_empty_lists_and_objects_stay_as_they_were_written(row: Harness, text: str) -> None:
    assert edit.uninstall(row, edit.install(row, text, ROOT), text) == text


@ROWS
def test_without_the_original_what_chitta_made_goes_as_well(row: Harness) -> None:
    text = json.dumps({**row.top, "theme": "dark"}, indent=2)
    assert edit.uninstall(row, edit.install(row, text, ROOT)) == text


@ROWS
def test_another_checkout_and_another_limit_are_brought_up_to_date_in_place(row: Harness) -> None:
    group = {"hooks": [MINE]} if row.grouped else MINE
    value = json.loads(edit.install(row, json.dumps(others(row)), "/old/place"))
    first = row.events[0].name
    value["hooks"][first].append(group)
    handler = value["hooks"][first][1]["hooks"][0] if row.grouped else value["hooks"][first][1]
    handler |= {row.limit_key: 5, "statusMessage": "kept"}
    wired = edit.install(row, json.dumps(value, indent=2), ROOT)
    found = edit.entries(row, wired)
    assert {entry.ours.root for entry in found} == {ROOT}
    assert len(found) == len(row.events)
    assert found[0].entry == {**harness.handler(row, row.events[0], ROOT), "statusMessage": "kept"}
    assert json.loads(wired)["hooks"][first][0] == json.loads(wired)["hooks"][first][2] == group


@ROWS
def test_second_entries_and_entries_of_no_event_go(row: Harness) -> None:
    value = json.loads(harness.template(row, ROOT))
    first = row.events[0].name
    value["hooks"]["Elsewhere"] = value["hooks"][first]
    value["hooks"][first] = value["hooks"][first] * 3
    assert json.loads(edit.install(row, json.dumps(value), ROOT)) == json.loads(harness.template(row, ROOT))


def test_an_entry_that_a_person_has_adapted_counts_and_is_left_alone() -> None:
    row = BY_NAME["claude"]
    entry = {"type": "command", "command": "CHITTA_HOME=/n /opt/c/hooks/prompt-core.sh claude", "timeout": 9}
    text = json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [entry]}]}}, indent=2)
    wired = edit.install(row, text, ROOT)
    assert json.loads(wired)["hooks"]["UserPromptSubmit"] == [{"hooks": [entry]}]
    assert edit.entries(row, edit.uninstall(row, wired)) == []


def test_the_shell_form_of_an_older_wiring_becomes_the_present_one() -> None:
    row = BY_NAME["claude"]
    text = harness.template(harness.TEMPLATES["claude-code-shell"], ROOT)
    assert json.loads(edit.install(row, text, ROOT)) == json.loads(harness.template(row, ROOT))


@ROWS
@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_file_that_is_empty_or_not_there_becomes_the_template(row: Harness, text: str | None) -> None:
    assert edit.install(row, text, ROOT) == harness.template(row, ROOT)


@ROWS
@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} // a comment',
        '{/* a */ "hooks": {}}',
        '{"a": [1,],}',
        '{"a": 1',
        "[]",
        '"text"',
        '{"a": NaN}',
        '{"hooks": {}, "hooks": {}}',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=range(11),
)
def test_what_cannot_be_changed_safely_is_refused(row: Harness, text: str) -> None:
    with pytest.raises(Refused):
        edit.install(row, text, ROOT)
    with pytest.raises(Refused):
        edit.uninstall(row, text)


def test_geminis_own_switches_below_hooks_are_no_events() -> None:
    row = BY_NAME["gemini"]
    text = json.dumps({"hooks": {"enabled": True, "disabled": ["x"]}}, indent=2)
    wired = edit.install(row, text, ROOT)
    assert json.loads(wired)["hooks"]["disabled"] == ["x"]
    assert edit.uninstall(row, wired, text) == text


@pytest.mark.parametrize("value", ["1e999", '"\\ud800"'])
def test_an_entry_of_chitta_with_a_value_that_no_file_holds_is_refused(value: str) -> None:
    row = next(row for row in harness.TABLE if row.name == "claude")
    text = edit.install(row, "{}", "/old/chitta").replace('"timeout":', f'"x": {value}, "timeout":', 1)
    with pytest.raises(edit.Refused):
        edit.install(row, text, "/opt/chitta")
