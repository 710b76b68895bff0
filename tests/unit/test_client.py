"""The thin client against a real socket: what it sends, what it takes for an answer, what it starts."""

from __future__ import annotations

import json
import os
import posix
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import client
from chitta.wire import codec

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "bats" / "support"))
from fake_daemon import FakeDaemon  # noqa: E402


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> pytest.MonkeyPatch:
    """The environment as the client reads it, without chitta's variables but the home."""
    for name in [name for name in posix.environ if name.startswith(b"CHITTA_")]:
        monkeypatch.delitem(posix.environ, name)
    monkeypatch.setitem(posix.environ, b"HOME", os.fsencode(own_home))
    monkeypatch.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(own_home / ".chitta"))
    return monkeypatch


@pytest.fixture
def run_dir(variables: pytest.MonkeyPatch, own_home: Path) -> Path:
    return own_home / ".chitta" / "run"


def test_the_payload_is_what_the_codec_reads(run_dir: Path, variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"CHITTA_REALM", "project:é".encode())
    variables.setitem(posix.environ, b"CHITTA_BROKEN", b"two\nlines")
    seen: list[bytes] = []
    with FakeDaemon(str(run_dir), answer=lambda verb, body: (0, body)) as daemon:
        code, reply = client.ask(b"lane keyword", b'{"prompt":"a\n\nb"}', 60.0, ((b"CHITTA_REALM", b"mine"),))
        seen = ["\n".join(lines).encode() for lines, _ in daemon.seen]
    head, body = codec.decode_request_payload(seen[0] + b"\n\n" + reply)
    assert (code, body) == (0, b'{"prompt":"a\n\nb"}')
    assert (head.verb, head.arguments) == ("lane", ("keyword",))
    assert head.environ["CHITTA_REALM"] == "mine"
    assert "CHITTA_BROKEN" not in head.environ
    assert head.environ["CHITTA_HOME"] == str(run_dir.parent)


@given(code=st.sampled_from([0, 100, 111, 142]), body=st.binary(max_size=400_000))
def test_any_reply_of_the_codec_is_read_back(code: int, body: bytes) -> None:
    import _socket

    here, there = _socket.socketpair()
    there.setblocking(False)
    payload = codec.encode_reply_payload(code, body)
    frame = len(payload).to_bytes(4, "big") + payload
    here.settimeout(60)
    import threading

    there.settimeout(60)
    writer = threading.Thread(target=there.sendall, args=(frame,))
    writer.start()
    try:
        assert client._reply(here, time.monotonic() + 60) == (code, body)
    finally:
        writer.join()
        here.close()
        there.close()


def test_nobody_there_is_away(run_dir: Path) -> None:
    with pytest.raises(client.Away):
        client.ask(b"lane keyword", b"{}", 60.0)


def test_a_socket_that_was_left_behind_is_away(run_dir: Path) -> None:
    with FakeDaemon(str(run_dir)):
        pass
    assert (run_dir / client.SOCKET_NAME).exists()
    with pytest.raises(client.Away):
        client.ask(b"lane keyword", b"{}", 60.0)


def test_a_daemon_that_is_leaving_is_away(run_dir: Path) -> None:
    with FakeDaemon(str(run_dir), "hangup"), pytest.raises(client.Away):
        client.ask(b"lane keyword", b"{}", 60.0)


@pytest.mark.parametrize(("manner", "seconds"), [("silent", 0.3), ("dripping", 0.3), ("half", 60.0), ("foreign", 60.0)])
def test_fault_02_bad_manners_are_broken_and_end_in_time(run_dir: Path, manner: str, seconds: float) -> None:
    with FakeDaemon(str(run_dir), manner), pytest.raises(client.Broken):
        client.ask(b"lane keyword", b"{}", seconds)


def test_a_code_that_the_contract_lacks_is_broken(run_dir: Path) -> None:
    with FakeDaemon(str(run_dir), answer=lambda verb, body: (7, b"")), pytest.raises(client.Broken, match="code 7"):
        client.ask(b"lane keyword", b"{}", 60.0)


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_run_folder_that_others_can_write_is_refused(run_dir: Path, mode: int) -> None:
    with FakeDaemon(str(run_dir)):
        run_dir.chmod(mode)
        with pytest.raises(client.Broken, match="open to others"):
            client.ask(b"lane keyword", b"{}", 60.0)


def test_a_path_longer_than_an_address_is_reached(
    variables: pytest.MonkeyPatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 20) / ("path" * 20)
    variables.setitem(posix.environ, b"CHITTA_RUN_DIR", os.fsencode(folder))
    monkeypatch.chdir(tmp_path)
    with FakeDaemon(str(folder)):
        assert client.ask(b"lane keyword", b"{}", 60.0)[0] == 0
    assert os.getcwd() == str(tmp_path)


@pytest.mark.parametrize(
    ("home", "expected"),
    [(b"/a/b", "/a/b"), (b"~/x", "HOME/x"), (b"~", "HOME"), (b"", "HOME/.chitta"), (b"rel", "HOME/rel")],
)
def test_the_store_is_where_the_settings_say(
    variables: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch, own_home: Path, home: bytes, expected: str
) -> None:
    from chitta import settings

    variables.setitem(posix.environ, b"CHITTA_HOME", home)
    wanted = expected.replace("HOME", str(own_home))
    assert client.home() == wanted
    assert settings.load({"CHITTA_HOME": os.fsdecode(home)} if home else {}).home == wanted


@pytest.mark.parametrize(
    ("raw", "expected"), [(b"250", 250), (b"", 9), (b"soon", 9), (b"-1", 9), (b"nan", 9), (b"inf", 9)]
)
def test_a_malformed_number_is_the_default(variables: pytest.MonkeyPatch, raw: bytes, expected: float) -> None:
    variables.setitem(posix.environ, b"CHITTA_X", raw)
    assert client.number("CHITTA_X", 9) == expected


@pytest.mark.parametrize("word", ["1", "true", "YES", " on ", "0", "no", "", "maybe"])
def test_a_flag_means_what_the_settings_say(variables: pytest.MonkeyPatch, word: str) -> None:
    from chitta import settings

    variables.setitem(posix.environ, b"CHITTA_NO_DAEMON", word.encode())
    assert client.flag("CHITTA_NO_DAEMON") == settings.load({"CHITTA_NO_DAEMON": word}).flag("CHITTA_NO_DAEMON")


def test_writing_goes_on_after_short_writes_and_stops_when_nobody_reads() -> None:
    read_end, write_end = os.pipe()
    data = os.urandom(1_000_000)
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os._exit(0 if client.write_all(write_end, data) else 1)
    os.close(write_end)
    with open(read_end, "rb") as reader:
        assert reader.read() == data
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    read_end, write_end = os.pipe()
    os.close(read_end)
    assert client.write_all(write_end, b"x") is False
    os.close(write_end)


def test_a_run_folder_is_removed_with_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "chitta.abcdef"
    folder.mkdir()
    (folder / "payload").write_text("secret")
    (folder / "link").symlink_to(tmp_path)
    client.remove_folder(str(folder))
    assert not folder.exists()
    assert tmp_path.exists()


def test_a_file_run_by_any_interpreter_goes_on_under_the_pinned_one(tmp_path: Path) -> None:
    pinned = tmp_path / "python"
    pinned.symlink_to(sys.executable)
    script = tmp_path / "script"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
        "from chitta.client import pin_interpreter\npin_interpreter('-I')\n"
        "print(sys.executable, sys.flags.isolated, sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), "a b"],
        env={**os.environ, "CHITTA_PYTHON": str(pinned)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{pinned} 1 ['a b']\n"


def test_the_fast_path_imports_next_to_nothing() -> None:
    """Every module here is paid nine times a prompt."""
    program = (
        f"import sys; before = set(sys.modules); sys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
        "import chitta.lane, chitta.merge_client, chitta.turn_client\nprint(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-E", "-c", program], capture_output=True, text=True, check=True)
    allowed = {
        "_socket",
        "select",
        "chitta",
        "chitta.client",
        "chitta.lane",
        "chitta.merge_client",
        "chitta.turn_client",
    }
    assert set(json.loads(done.stdout.replace("'", '"'))) <= allowed
