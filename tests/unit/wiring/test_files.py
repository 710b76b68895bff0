from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wiring import edit, files, harness
from chitta.wiring.edit import Refused
from chitta.wiring.harness import BY_NAME, TABLE, Harness

from . import documents

ROOT = "/opt/chitta"
ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def install(row: Harness, file: Path, state: Path, root: str = ROOT, scope: str = "user") -> Path | None:
    return files.apply_install(files.plan_install(row, scope, file, root, state), state)


def uninstall(row: Harness, file: Path, state: Path, scope: str = "user") -> None:
    files.apply_uninstall(files.plan_uninstall(row, scope, file, state), state)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in sorted(folder.rglob("*"))}


@given(data=st.data(), row=st.sampled_from(TABLE), bom=st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_fault_43_install_then_uninstall_gives_every_byte_back(data: st.DataObject, row: Harness, bom: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        file, state = Path(name, "settings.json"), Path(name, "state")
        before = bom + data.draw(documents.texts_of(row) | st.sampled_from(["", "{}", "{ \n}", " "])).encode()
        file.write_bytes(before)
        install(row, file, state, "/older/checkout")
        install(row, file, state)
        wired = file.read_bytes()
        assert wired.startswith(bom) and wired != before
        install(row, file, state)
        assert file.read_bytes() == wired
        uninstall(row, file, state)
        assert file.read_bytes() == before


@ROWS
def test_a_file_that_was_not_there_goes_with_the_folders_made_for_it(row: Harness, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "kept").mkdir(parents=True)
    before = everything(tmp_path)
    file = harness.file_of(row, "user", home, tmp_path, {})
    install(row, file, tmp_path / "state")
    assert file.read_text() == harness.template(row, ROOT)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    install(row, file, tmp_path / "state", "/another")
    uninstall(row, file, tmp_path / "state")
    (tmp_path / "state").rmdir()
    assert everything(tmp_path) == before


@ROWS
def test_folders_in_which_something_else_has_come_to_lie_stay(row: Harness, tmp_path: Path) -> None:
    file = harness.file_of(row, "project", tmp_path, tmp_path / "p", {})
    install(row, file, tmp_path / "state", scope="project")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    (file.parent / "other").write_text("x")
    uninstall(row, file, tmp_path / "state", scope="project")
    assert [path.name for path in file.parent.iterdir()] == ["other"]


@ROWS
def test_what_a_person_writes_into_a_file_that_chitta_made_stays(row: Harness, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    install(row, file, tmp_path / "state")
    file.write_text(file.read_text().replace("{\n", '{\n  "mine": true,\n', 1))
    uninstall(row, file, tmp_path / "state")
    assert json.loads(file.read_text())["mine"] is True
    assert edit.entries(row, file.read_text()) == []


@ROWS
def test_an_edit_between_two_installs_is_in_what_uninstall_leaves(row: Harness, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{\n  "a": 1\n}')
    install(row, file, tmp_path / "state", "/older")
    file.write_text(file.read_text().replace('"a": 1', '"a": 2,\n  "b": 3'))
    install(row, file, tmp_path / "state")
    uninstall(row, file, tmp_path / "state")
    left = json.loads(file.read_text())
    assert {"a": left["a"], "b": left["b"]} == {"a": 2, "b": 3}
    assert "hooks" not in left


@ROWS
def test_entries_added_by_hand_go_too_and_without_any_record(row: Harness, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"a": 1, **harness.document(row, "/by/hand")}))
    uninstall(row, file, tmp_path / "state")
    assert edit.entries(row, file.read_text()) == []
    assert json.loads(file.read_text())["a"] == 1


def test_a_copy_of_the_file_as_it_was_found_is_kept_while_it_is_wired(tmp_path: Path) -> None:
    row, file = BY_NAME["claude"], tmp_path / "settings.json"
    file.write_text('{"a": "secret"}')
    copy = install(row, file, tmp_path / "state")
    assert copy is not None and copy.read_text() == '{"a": "secret"}'
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    install(row, file, tmp_path / "state", "/another")
    assert copy.read_text() == '{"a": "secret"}'
    uninstall(row, file, tmp_path / "state")
    assert not copy.exists()


def test_mode_and_link_are_kept_and_no_other_file_is_left_behind(tmp_path: Path) -> None:
    row = BY_NAME["claude"]
    real = tmp_path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/claude.json")
    install(row, link, tmp_path / "state")
    assert os.readlink(link) == "dotfiles/claude.json"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert edit.entries(row, real.read_text())
    assert [path.name for path in real.parent.iterdir()] == ["claude.json"]
    uninstall(row, link, tmp_path / "state")
    assert link.is_symlink() and real.read_text() == "{}"


def test_a_made_file_that_was_moved_behind_a_link_stays_and_so_does_the_link(tmp_path: Path) -> None:
    row, file, state = BY_NAME["claude"], tmp_path / "settings.json", tmp_path / "state"
    install(row, file, state)
    real = file.rename(tmp_path / "dotfile.json")
    file.symlink_to("dotfile.json")
    uninstall(row, file, state)
    assert file.is_symlink() and real.read_text() == "{}\n"


def test_a_path_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    with pytest.raises(Refused, match="UTF-8"):
        install(BY_NAME["claude"], file, tmp_path / "state", "/opt/\udcff")
    assert not file.exists()


def test_a_file_that_changed_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    row, file, state = BY_NAME["claude"], tmp_path / "settings.json", tmp_path / "state"
    file.write_text("{}")
    change = files.plan_install(row, "user", file, ROOT, state)
    file.write_text('{"new": 1}')
    with pytest.raises(Refused, match="somebody else"):
        files.apply_install(change, state)
    assert file.read_text() == '{"new": 1}'


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b'{"a": 1} // note', b'{"a": 1,}', b"{"])
def test_a_file_that_cannot_be_changed_safely_keeps_its_bytes(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(data)
    with pytest.raises(Refused):
        files.plan_install(BY_NAME["gemini"], "user", file, ROOT, tmp_path)
    with pytest.raises(Refused):
        files.plan_uninstall(BY_NAME["gemini"], "user", file, tmp_path)
    assert everything(tmp_path) == {str(file): data}


def test_a_folder_or_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("folder", "link"):
        with pytest.raises(Refused):
            files.plan_install(BY_NAME["claude"], "user", tmp_path / name, ROOT, tmp_path)


@pytest.mark.parametrize("record", [b"", b"[]", b'{"without": 7, "written": "", "folders": []}', b"{}"])
def test_a_damaged_record_is_as_none(record: bytes, tmp_path: Path) -> None:
    row, file, state = BY_NAME["claude"], tmp_path / "settings.json", tmp_path / "state"
    file.write_text('{"a": 1}')
    install(row, file, state)
    next(state.rglob("record.json")).write_bytes(record)
    uninstall(row, file, state)
    assert file.read_text() == '{"a": 1}'
