"""How far a long piece of work is: a bar on a terminal, a line every few seconds elsewhere.

Both go to standard error, so that data on standard output stays clean.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from chitta.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

LINE_EVERY_SECONDS = 5.0
#: Work that ends sooner shows no bar: it would only flicker.
BAR_AFTER_SECONDS = 0.3
#: What the indexer calls its stages, in words for people.
STAGE_WORDS = {
    "reading": "reading",
    "notes": "indexing words",
    "vectors": "indexing meaning",
}


class Meter:
    """A callable ``(stage, done, total)`` that shows progress; a context manager around the work.

    ``total`` 0 means that nobody knows it yet.
    """

    def __init__(self) -> None:
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._drawing = False
        self._began = self._said_at = time.monotonic()

    def __enter__(self) -> Meter:
        self._drawing = output.on_terminal(sys.stderr)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        words = STAGE_WORDS.get(stage, stage)
        now = time.monotonic()
        if self._drawing:
            if now - self._began >= BAR_AFTER_SECONDS:
                self._draw(words, done, total)
            return
        if now - self._said_at >= LINE_EVERY_SECONDS:
            self._said_at = now
            output.tell(f"{words}: {done:,}" + (f" of {total:,}" if total else ""))

    def _draw(self, words: str, done: int, total: int) -> None:
        if self._bars is None:
            self._bars = _bars()
            self._bars.start()
        if words not in self._tasks:
            self._tasks[words] = self._bars.add_task(words, total=total or None)
        self._bars.update(self._tasks[words], completed=done, total=total or None)


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(file=sys.stderr, no_color=not output.coloured(sys.stderr), highlight=False)
    columns = (TextColumn("{task.description:<18}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
