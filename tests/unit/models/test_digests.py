"""Digests of model files, kept while size and time are the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from chitta.models.digests import FILE_NAME, Digests


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"weights")
    return path


def sha(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def test_it_is_the_sha256(tmp_path: Path, file: Path) -> None:
    assert Digests(str(tmp_path / "state")).of(str(file)) == sha(b"weights")


def test_it_is_kept_for_the_same_time_and_size(tmp_path: Path, file: Path) -> None:
    status = file.stat()
    Digests(str(tmp_path)).of(str(file))
    file.write_bytes(b"WEIGHTS")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Digests(str(tmp_path)).of(str(file)) == sha(b"weights")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert Digests(str(tmp_path)).of(str(file)) == sha(b"WEIGHTS")


@pytest.mark.parametrize("content", ["", "[]", "{", '{"x": 1}', "\udcff"])
def test_a_broken_memory_is_no_trouble(tmp_path: Path, file: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_bytes(content.encode("utf-8", "surrogateescape"))
    assert Digests(str(tmp_path)).of(str(file)) == sha(b"weights")


def test_nor_is_one_that_cannot_be_written(tmp_path: Path, file: Path) -> None:
    assert Digests(str(file / "state")).of(str(file)) == sha(b"weights")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        Digests(str(tmp_path)).of(str(tmp_path / "absent"))
