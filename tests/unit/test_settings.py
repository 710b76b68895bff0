"""Every setting: its default, where it is read from, and what a malformed value does."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import settings
from chitta.settings import BY_NAME, TABLE, Setting, load, parse

ROOT = Path(__file__).resolve().parents[2]


def test_defaults(tmp_path: Path) -> None:
    found = load({"CHITTA_HOME": str(tmp_path)})
    assert found.problems == []
    assert found.integer("CHITTA_LANE_K") == settings.BY_NAME["CHITTA_LANE_K"].default
    assert found.flag("CHITTA_UNKNOWN_SILENCE") is True
    assert found.real("CHITTA_FUSION_ALPHA") == settings.BY_NAME["CHITTA_FUSION_ALPHA"].default


@pytest.mark.parametrize("setting", TABLE, ids=lambda setting: setting.name)
def test_each_row_is_sound(setting: Setting) -> None:
    assert setting.name.startswith("CHITTA_") and setting.meaning.endswith(".")
    assert setting.kind in ("text", "integer", "real", "flag")
    assert parse(setting, setting.default) == setting.default
    assert (setting.kind in ("integer", "real")) == (setting.low is not None and setting.high is not None)


def test_names_are_given_once() -> None:
    assert len(settings.BY_NAME) == len(TABLE)


def test_the_page_is_made_from_the_table() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings.document(), "run: python -m chitta.settings >docs/settings.md"


@pytest.mark.parametrize("raw", ["abc", "0", "101", "3.5", "nan", "inf", "-1", "1e999", "１０x"])
def test_a_malformed_number_falls_back_and_is_reported(raw: str, tmp_path: Path) -> None:
    found = load({"CHITTA_HOME": str(tmp_path), "CHITTA_LANE_K": raw})
    assert found.integer("CHITTA_LANE_K") == settings.BY_NAME["CHITTA_LANE_K"].default
    assert len(found.problems) == 1 and "CHITTA_LANE_K" in found.problems[0]


@pytest.mark.parametrize(
    ("raw", "value"), [("1", True), ("YES", True), (" on ", True), ("0", False), ("off", False), ("No", False)]
)
def test_flags(raw: str, value: bool) -> None:
    assert load({"CHITTA_NO_DAEMON": raw}).flag("CHITTA_NO_DAEMON") is value


def test_a_flag_that_is_neither_is_reported() -> None:
    found = load({"CHITTA_UNKNOWN_SILENCE": "maybe"})
    assert found.flag("CHITTA_UNKNOWN_SILENCE") is True and found.problems


def test_an_empty_variable_is_the_default() -> None:
    found = load({"CHITTA_LANE_K": "", "CHITTA_UNKNOWN_SILENCE": "", "CHITTA_RERANK_MODEL": "", "CHITTA_HOME": ""})
    assert found.problems == []
    assert found.integer("CHITTA_LANE_K") == settings.BY_NAME["CHITTA_LANE_K"].default
    assert found.flag("CHITTA_UNKNOWN_SILENCE") is True
    assert found.text("CHITTA_RERANK_MODEL") == settings.BY_NAME["CHITTA_RERANK_MODEL"].default
    assert found.home == load({}).home


def test_an_empty_variable_wins_over_the_file_where_empty_means_something(tmp_path: Path) -> None:
    (tmp_path / "chitta.toml").write_text('ablate_lanes = "sem"\n')
    assert load({"CHITTA_HOME": str(tmp_path), "CHITTA_ABLATE_LANES": ""}).words("CHITTA_ABLATE_LANES") == ()


def test_comma_lists() -> None:
    assert load({"CHITTA_ABLATE_LANES": " Sem, ,hyb,"}).words("CHITTA_ABLATE_LANES") == ("sem", "hyb")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "chitta.toml").write_text(
        'lane_k = 7\nCHITTA_MAX_MEMORIES = 5\nno_daemon = true\nablate_lanes = "sem"\n'
    )
    found = load({"CHITTA_HOME": str(tmp_path), "CHITTA_LANE_K": "9"})
    assert found.problems == []
    assert found.integer("CHITTA_LANE_K") == 9
    assert found.integer("CHITTA_MAX_MEMORIES") == 5
    assert found.flag("CHITTA_NO_DAEMON") is True
    assert found.words("CHITTA_ABLATE_LANES") == ("sem",)


def test_a_file_cannot_give_what_only_the_environment_may(tmp_path: Path) -> None:
    (tmp_path / "chitta.toml").write_text('home = "/elsewhere"\nno_such_thing = 1\nlane_k = "many"\n')
    found = load({"CHITTA_HOME": str(tmp_path)})
    assert found.home == str(tmp_path)
    assert len(found.problems) == 3


@pytest.mark.parametrize("raw", [b"not toml [", b"\xff\xfe", b"a = " + b"[" * 200])
def test_a_broken_file_is_a_problem_not_an_error(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "chitta.toml").write_bytes(raw)
    found = load({"CHITTA_HOME": str(tmp_path), "CHITTA_LANE_K": "9"})
    assert found.integer("CHITTA_LANE_K") == 9
    assert len(found.problems) == 1


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    found = load({"CHITTA_HOME": "~/store"})
    assert found.home == str(tmp_path / "store")
    assert found.run_dir == str(tmp_path / "store" / "run")
    assert (found.notes_dir, found.index_dir, found.state_dir) == tuple(
        str(tmp_path / "store" / name) for name in ("notes", "index", "state")
    )
    assert load({"CHITTA_HOME": "~/store", "CHITTA_RUN_DIR": "/run/x"}).run_dir == "/run/x"


@given(st.dictionaries(st.sampled_from([s.name for s in TABLE if s.name != "CHITTA_HOME"]), st.text(max_size=20)))
def test_any_environment_is_met(environ: dict[str, str]) -> None:
    found = load({"CHITTA_HOME": "/nonexistent", **environ})
    for setting in TABLE:
        if setting.low is not None and setting.high is not None:
            assert setting.low <= found.real(setting.name) <= setting.high


ALPHAS = [setting for setting in TABLE if setting.clamped]


def test_every_alpha_is_clamped_and_nothing_else() -> None:
    assert {setting.name for setting in ALPHAS} == {
        setting.name for setting in TABLE if setting.name.endswith("_ALPHA") and "FUSION" not in setting.name
    }
    assert len(ALPHAS) == 8 and all((setting.low, setting.high) == (0.0, 2.0) for setting in ALPHAS)


@pytest.mark.parametrize("setting", ALPHAS, ids=lambda setting: setting.name)
@pytest.mark.parametrize(
    ("raw", "value"), [("-1", 0.0), ("0", 0.0), ("1.5", 1.5), ("7", 2.0), ("-inf", 0.0), ("inf", 2.0)]
)
def test_an_alpha_outside_its_range_counts_as_the_nearer_end(setting: Setting, raw: str, value: float) -> None:
    found = load({"CHITTA_HOME": "/nonexistent", setting.name: raw})
    assert found.real(setting.name) == value and found.problems == []


@pytest.mark.parametrize("setting", ALPHAS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("raw", ["much", "nan", "1,5"])
def test_an_alpha_that_is_no_number_is_its_default_and_named(setting: Setting, raw: str) -> None:
    found = load({"CHITTA_HOME": "/nonexistent", setting.name: raw})
    assert found.real(setting.name) == setting.default
    assert len(found.problems) == 1 and setting.name in found.problems[0]


def test_fault_02_a_file_of_settings_that_is_a_pipe_or_has_no_end_holds_nobody(tmp_path: Path) -> None:
    file = tmp_path / "chitta.toml"
    os.mkfifo(file)
    for _ in range(2):
        chosen = load({"CHITTA_HOME": str(tmp_path)})
        assert chosen.integer("CHITTA_HOOK_BUDGET_MS") == BY_NAME["CHITTA_HOOK_BUDGET_MS"].default
        assert len(chosen.problems) == 1
        file.unlink()
        file.symlink_to("/dev/zero")


@pytest.mark.parametrize("text", ["# words\n" * 1_000_000, "a = " + "[" * 20_000 + "]" * 20_000])
def test_a_file_of_settings_beyond_measure_is_a_problem(tmp_path: Path, text: str) -> None:
    (tmp_path / "chitta.toml").write_text(text)
    assert len(load({"CHITTA_HOME": str(tmp_path)}).problems) == 1


@pytest.mark.parametrize(
    "text", ["a" + ".a" * 20_000 + "=1", "[" + ".".join("a" * 20_000) + "]", "x = {" + "a ." * 20_000 + "a = 1}"]
)
def test_fault_59_a_file_of_settings_that_would_take_long_to_read_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "chitta.toml").write_text(f"lane_k = 7\n{text}\n")
    chosen = load({"CHITTA_HOME": str(tmp_path)})
    assert chosen.integer("CHITTA_LANE_K") == BY_NAME["CHITTA_LANE_K"].default
    (problem,) = chosen.problems
    assert "dots" in problem and len(problem) < 300


@pytest.mark.parametrize("raw", ["\u0666\u0660\u0660", "\uff16\uff10\uff10", "6\u06600"])
def test_digits_of_other_scripts_are_no_number(raw: str) -> None:
    chosen = load({"CHITTA_HOME": "/nonexistent", "CHITTA_HOOK_BUDGET_MS": raw, "CHITTA_RECENCY_ALPHA": raw})
    assert len(chosen.problems) == 2
    assert chosen.integer("CHITTA_HOOK_BUDGET_MS") == BY_NAME["CHITTA_HOOK_BUDGET_MS"].default
