"""One daemon per store: folder, lock, socket, and what is left behind."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from chitta.daemon import lifecycle
from chitta.daemon.lifecycle import AlreadyRunning, CannotStart


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return lifecycle.private_folder(str(tmp_path / "run"))


def connects(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as client, lifecycle.address(path) as name:
        try:
            client.connect(name)
        except OSError:
            return False
        return True


def test_run_folder_is_made_private(tmp_path: Path) -> None:
    made = lifecycle.private_folder(str(tmp_path / "a" / "run"))
    assert stat.S_IMODE(os.stat(made).st_mode) == 0o700


def test_open_run_folder_is_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir(mode=0o755)
    path.chmod(0o755)
    lifecycle.private_folder(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_run_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    os.chown(path, 12345, 12345)
    with pytest.raises(CannotStart, match="another user"):
        lifecycle.private_folder(str(path))


def test_run_folder_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart) as caught:
        lifecycle.private_folder(str(tmp_path / "file" / "run"))
    assert "CHITTA_RUN_DIR" in caught.value.hint


def test_lock_is_held_by_one(folder: str) -> None:
    first = lifecycle.take_lock(folder)
    with pytest.raises(AlreadyRunning):
        lifecycle.take_lock(folder)
    assert lifecycle.is_locked(os.path.join(folder, lifecycle.LOCK_NAME))
    os.close(first)
    os.close(lifecycle.take_lock(folder))
    assert not lifecycle.is_locked(os.path.join(folder, lifecycle.LOCK_NAME))


def test_inherited_lock_is_taken_over(folder: str) -> None:
    given = lifecycle.take_lock(folder)
    os.set_inheritable(given, True)
    assert lifecycle.take_lock(folder, str(given)) == given
    assert not os.get_inheritable(given)
    os.close(given)


@pytest.mark.parametrize("inherited", ["1", "999", "-3", "x", ""])
def test_inherited_number_that_is_no_lock_is_ignored(folder: str, inherited: str) -> None:
    taken = lifecycle.take_lock(folder, inherited)
    assert os.path.samestat(os.fstat(taken), os.stat(os.path.join(folder, lifecycle.LOCK_NAME)))
    os.close(taken)


def test_inherited_descriptor_of_another_file_is_left_alone(folder: str, tmp_path: Path) -> None:
    with open(tmp_path / "other", "w") as other:
        taken = lifecycle.take_lock(folder, str(other.fileno()))
        assert taken != other.fileno()
        os.close(taken)
        other.write("still open")


def test_fault_29_stale_socket_is_replaced(folder: str) -> None:
    path = os.path.join(folder, lifecycle.SOCKET_NAME)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    assert not connects(path)
    listener = lifecycle.listen(folder)
    assert connects(path)
    listener.socket.close()


@pytest.mark.parametrize("content", ["file", "listener"])
def test_whatever_stands_at_the_address_is_replaced(folder: str, content: str) -> None:
    path = os.path.join(folder, lifecycle.SOCKET_NAME)
    foreign = socket.socket(socket.AF_UNIX)
    if content == "listener":
        foreign.bind(path)
        foreign.listen()
    else:
        Path(path).write_text("not a socket")
    listener = lifecycle.listen(folder)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        ours, _ = listener.socket.accept()
        ours.close()
    foreign.close()
    listener.socket.close()


def test_folder_at_the_address_is_an_error_for_people(folder: str) -> None:
    os.mkdir(os.path.join(folder, lifecycle.SOCKET_NAME))
    with pytest.raises(CannotStart):
        lifecycle.listen(folder)


def test_path_longer_than_an_address(tmp_path: Path) -> None:
    before = os.getcwd()
    folder = lifecycle.private_folder(str(tmp_path / ("long folder " * 12) / "run"))
    listener = lifecycle.listen(folder)
    assert len(listener.path) > 108
    assert connects(listener.path)
    assert os.getcwd() == before
    listener.socket.close()


def test_clear_removes_ours_and_only_ours(folder: str) -> None:
    listener = lifecycle.listen(folder)
    pid = lifecycle.write_pid(folder)
    assert lifecycle.read_pid(folder) == os.getpid()
    os.unlink(listener.path)
    Path(listener.path).write_text("another's")
    Path(pid).write_text("1\n")
    lifecycle.clear(listener)
    assert Path(listener.path).exists()
    assert Path(pid).exists()
    listener.socket.close()

    again = lifecycle.listen(folder)
    lifecycle.write_pid(folder)
    lifecycle.clear(again)
    assert sorted(os.listdir(folder)) == []
    again.socket.close()


def test_pid_file_that_is_nonsense_is_none(folder: str) -> None:
    assert lifecycle.read_pid(folder) is None
    Path(folder, lifecycle.PID_NAME).write_text("many words")
    assert lifecycle.read_pid(folder) is None


def test_peer_of_our_own_user(folder: str) -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert lifecycle.peer_is_us(one)


def test_inherited_descriptors_are_closed_and_kept_ones_are_not(tmp_path: Path) -> None:
    read, write = os.pipe()
    if os.fork() == 0:  # in a child, since it closes everything
        kept = os.open(tmp_path, os.O_RDONLY)
        lifecycle.close_inherited({write, kept})
        try:
            os.fstat(read)
            os.write(write, b"open")
        except OSError:
            os.fstat(kept)
            os.write(write, b"shut")
        os._exit(0)
    os.close(write)
    assert os.read(read, 10) == b"shut"
    os.close(read)
    os.wait()


def test_missing_standard_descriptors_are_filled(tmp_path: Path) -> None:
    read, write = os.pipe()
    if os.fork() == 0:  # in a child, since it loses its standard descriptors
        for number in (0, 1, 2):
            os.close(number)
        lifecycle.fill_standard()
        opened = [number for number in range(3) if stat.S_ISCHR(os.fstat(number).st_mode)]
        os.write(write, b"%d %d" % (len(opened), os.open(tmp_path, os.O_RDONLY) > 2))
        os._exit(0)
    os.close(write)
    assert os.read(read, 10) == b"3 1"
    os.close(read)
    os.wait()
