"""What is asked of the C library, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from chitta.daemon import memory

GROWN = """
import ctypes, sys, threading
from chitta.daemon import memory

def arenas():
    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps]
    # An arena is a mapping without a name at a multiple of its 64 MiB.
    return sum(1 for line in lines if len(line) < 6 and int(line[0].split("-")[0], 16) % (64 << 20) == 0)

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
if sys.argv[1] == "few":
    memory.few_arenas()
barrier = threading.Barrier(13)

def hold():
    libc.malloc(1000)
    barrier.wait()
    barrier.wait()

threads = [threading.Thread(target=hold) for _ in range(12)]
for thread in threads:
    thread.start()
barrier.wait()
print(arenas())
barrier.wait()
"""


def arenas(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", GROWN, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc has arenas to bound")
def test_threads_share_few_arenas() -> None:
    if arenas("many") < 4:
        pytest.skip("this C library gives threads no arenas of their own")
    assert arenas("few") <= 2


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_c_library_without_these_calls_is_left_alone(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    memory.few_arenas()
    memory.give_back()


def test_giving_back_is_safe_at_any_time() -> None:
    memory.give_back()
