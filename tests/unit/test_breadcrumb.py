"""What is left of the last failure, and what is not."""

import posix
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chitta import breadcrumb, merge_client
from chitta.daemon.logbook import Logbook
from chitta.merge import finish
from chitta.settings import load
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult


def raised() -> BaseException:
    try:
        raise ValueError("the prompt was: my password is hunter2")
    except ValueError as problem:
        return problem


def test_an_exception_leaves_its_type_and_place_and_no_words(tmp_path: Path) -> None:
    breadcrumb.fault(str(tmp_path / "state"), "merge", raised(), now=1_800_000_000.0)
    crumb = breadcrumb.read(str(tmp_path / "state"))
    assert crumb is not None
    assert (crumb.ts, crumb.where, crumb.what) == ("2027-01-15T08:00:00Z", "merge", "ValueError")
    assert crumb.at.startswith("test_breadcrumb.py:")
    assert "hunter2" not in (tmp_path / "state" / breadcrumb.NAME).read_text()


def test_the_later_failure_stands_and_nothing_else_is_left(tmp_path: Path) -> None:
    for what in ("first", "second"):
        breadcrumb.leave(str(tmp_path), "lanes", what)
    crumb = breadcrumb.read(str(tmp_path))
    assert crumb is not None and crumb.what == "second"
    assert [path.name for path in tmp_path.iterdir()] == [breadcrumb.NAME]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("api_key=abc123", "abc123"),
        ("Authorization: Bearer abc.def", "abc.def"),
        ("password hunter2", "hunter2"),
        ("https://me:pw@host/x", "me:pw"),
        ("sk-live-4f9a8b7c6d5e4f3a2b1c0d", "4f9a8b"),
    ],
)
def test_secrets_are_scrubbed(text: str, secret: str) -> None:
    assert secret not in breadcrumb.scrubbed(f"call failed: {text} (5)")


def test_plain_words_and_paths_stay() -> None:
    text = "hybrid late; session not kept: No space left on device /home/me/.chitta/state/sessions"
    assert breadcrumb.scrubbed(text) == text


@given(st.text(max_size=3_000), st.text(max_size=300))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_words_are_met_and_the_file_is_small(tmp_path: Path, what: str, at: str) -> None:
    breadcrumb.leave(str(tmp_path), at, what, at)
    assert (tmp_path / breadcrumb.NAME).stat().st_size <= breadcrumb.MOST_BYTES
    assert breadcrumb.read(str(tmp_path)) is not None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"ts": 3}', b"\xff", b'{"ts": "x", "what": []}'])
def test_a_file_that_says_nothing_is_none(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / breadcrumb.NAME).write_bytes(raw)
    assert breadcrumb.read(str(tmp_path)) is None


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    breadcrumb.leave(str(tmp_path / "file" / "state"), "lanes", "x")
    assert breadcrumb.read(str(tmp_path / "file" / "state")) is None


# Who leaves one


def test_a_merge_names_the_lanes_that_failed(tmp_path: Path) -> None:
    results = [LaneResult("hybrid", "late"), LaneResult("semantic", "ok"), LaneResult("keyword", "crash")]
    told = load({"CHITTA_HOME": str(tmp_path)})
    finish(Request(prompt="where is it", query="q", session="s"), results, settings=told, total_ms=1.0, now=1.0)
    crumb = breadcrumb.read(told.state_dir)
    assert crumb is not None and (crumb.where, crumb.what) == ("lanes", "hybrid late; keyword crash")


def test_a_merge_that_went_well_leaves_none(tmp_path: Path) -> None:
    told = load({"CHITTA_HOME": str(tmp_path)})
    finish(
        Request(prompt="x", query="q", session="s"), [LaneResult("hybrid", "ok")], settings=told, total_ms=1.0, now=1.0
    )
    assert breadcrumb.read(told.state_dir) is None


def test_the_daemons_faults_are_left_beside_its_log(tmp_path: Path) -> None:
    Logbook(str(tmp_path / "chittad.log")).fault("sync", raised(), verb="recall")
    crumb = breadcrumb.read(str(tmp_path))
    assert crumb is not None and (crumb.where, crumb.what) == ("daemon", "sync: ValueError")


def test_a_merge_process_that_breaks_leaves_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHITTA_HOME", str(tmp_path))
    (tmp_path / "launched").write_text("budget keyword=1\n")
    monkeypatch.setattr("sys.argv", ["chitta-merge", str(tmp_path), str(posix.getppid())])
    ended: list[int] = []
    monkeypatch.setattr(posix, "_exit", ended.append)
    monkeypatch.setattr("chitta.client.alarm", lambda seconds: None)  # it would end this process, in seconds
    merge_client.main()
    crumb = breadcrumb.read(str(tmp_path / "state"))
    assert ended == [1] and crumb is not None and (crumb.where, crumb.what) == ("merge", "ValueError")
    assert "merge: ValueError" in capfd.readouterr().err
