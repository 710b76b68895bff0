"""Runs a target on one input within its time, keeps what it finds, once each, and makes it small."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from tests.fuzz.kind import LIMIT_S, Target

FINDINGS = Path(__file__).parent / "findings"
#: Bytes of an input that are printed; the whole of it stands in the file.
_SHOWN_BYTES = 400
#: Seconds for which a finding is made smaller.
_SHRINK_S = 5.0


class TooSlow(BaseException):
    """An input took more than its time. No ``except Exception`` of the product may hide it."""


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise :class:`TooSlow` after so many seconds of this process's own time: how busy the machine is says nothing."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fault(run: Callable[[bytes], None], data: bytes) -> BaseException | None:
    """What the target says against the input, or None."""
    try:
        with _limited(LIMIT_S):
            run(data)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # SystemExit, TooSlow and panics of extensions are findings too
        return problem
    return None


def name_of(problem: BaseException) -> str:
    """The same for the same fault: its type, and the last place in the product; of a promise, its own words."""
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if "/chitta/" in frame.filename]
    words = str(problem).partition(":")[0] if isinstance(problem, AssertionError) else ""
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours and not words else ""
    if isinstance(problem, TooSlow) and ours:
        place = f"{Path(ours[0].filename).name}:{ours[0].name}"  # where it stops inside is chance
    return f"{type(problem).__name__} {place or words}".strip()


class Finder:
    """What was found of one target in one run."""

    def __init__(self, target: Target, seed: int, folder: Path = FINDINGS) -> None:
        self.target = target
        self.seed = seed
        self.names: dict[str, Path] = {}
        self.runs = 0
        self._folder = folder

    def look(self, data: bytes) -> None:
        """Run the target once; a fault that is new is made small, written and told."""
        self.runs += 1
        problem = fault(self.target.run, data)
        if problem is None or (name := name_of(problem)) in self.names:
            return
        small = data if isinstance(problem, TooSlow) else self._smaller(data, name)
        self.names[name] = self._kept(small)
        self._tell(fault(self.target.run, small) or problem, name, small)

    def _smaller(self, data: bytes, name: str) -> bytes:
        """The input without every piece that the fault does not need."""
        end = time.monotonic() + _SHRINK_S
        size = max(1, len(data) // 2)
        while size and time.monotonic() < end:
            at, less = 0, False
            while at < len(data) and time.monotonic() < end:
                candidate = data[:at] + data[at + size :]
                problem = fault(self.target.run, candidate)
                if problem is not None and name_of(problem) == name:
                    data, less = candidate, True
                else:
                    at += size
            size = size if less and size > 1 else size // 2
        return data

    def _kept(self, data: bytes) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self.target.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        return path

    def _tell(self, problem: BaseException, name: str, data: bytes) -> None:
        path = self.names[name]
        lines = traceback.format_exception(problem)[-6:]
        print(f"\nFOUND {self.target.name}: {name}", file=sys.stderr)
        print("".join(lines).rstrip()[-2_000:], file=sys.stderr)
        print(f"  seed    {self.seed}", file=sys.stderr)
        print(f"  input   {data[:_SHOWN_BYTES].hex()}{' …' if len(data) > _SHOWN_BYTES else ''}", file=sys.stderr)
        if len(data) <= _SHOWN_BYTES:
            print(f"  base64  {base64.b64encode(data).decode()}", file=sys.stderr)
        print(f"  repeat  tests/fuzz/run --target {self.target.name} --repeat {path}", file=sys.stderr, flush=True)
