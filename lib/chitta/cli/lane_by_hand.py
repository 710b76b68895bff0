"""A lane run by a person: ``lanes/NAME "some words"`` and ``lanes/NAME --help``.

The same question, answered by the same code, as when the hook asks; only patience and print
differ. The help is the lane file's own header.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from chitta import lane as lane_runner
from chitta import settings as table
from chitta.admission.tokens import distinctive
from chitta.cli import failure, output
from chitta.cli.realm_options import RealmOption, looking_realm
from chitta.wire import codec
from chitta.wire.request import Request, encode_request
from chitta.wire.rows import NOT_MEASURED, LaneResult, Row, parse_rows

#: Seconds that a person waits for a model that is still loading; a prompt waits far less.
PATIENCE_S = 60.0
_TITLE_CHARS = 60
_HEADER_NAMES = ("Summary", "Usage", "Tag", "Asks", "Misses", "Score")
_MISUSE_OF_TYPER = 2


def run(name: str) -> None:
    """Run the lane as a command line and leave with a lane's exit code; does not return."""
    output.prepare_streams()
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(help=help_text(header_of(sys.argv[0])))(_command(name))
    try:
        typer.main.get_command(app).main(sys.argv[1:], prog_name=name, standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(codec.UNAVAILABLE)
    except (Exception, KeyboardInterrupt) as problem:
        code = failure.report(problem)
        sys.exit(codec.MISUSE if code == _MISUSE_OF_TYPER else code)
    sys.exit(codec.OK)


def header_of(path: str) -> dict[str, str]:
    """The ``# Name: value`` lines at the head of a lane file."""
    found: dict[str, str] = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.startswith("#"):
                break
            name, colon, value = line[1:].strip().partition(": ")
            if colon and name in _HEADER_NAMES:
                found[name] = value.strip()
    return found


def help_text(header: dict[str, str]) -> str:
    """The header as help: the summary, then what the lane asks, misses and scores by."""
    lines = [header.get("Summary", "A lane."), ""]
    for name in ("Usage", "Tag", "Asks", "Misses", "Score"):
        if name in header:
            lines += [f"{name + ':':8}{header[name]}", ""]
    return "\n".join(lines)


def _command(name: str):  # type: ignore[no-untyped-def] # typer reads the inner signature
    def command(
        words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What a prompt would say.")],
        realm: RealmOption = "",
        k: Annotated[int, typer.Option("--k", min=1, max=100, help="Most rows.")] = 10,
        as_json: Annotated[bool, typer.Option("--json", help="The rows as the lane writes them.")] = False,
    ) -> None:
        raw = ask(name, " ".join(words), realm, k)
        if as_json:
            sys.stdout.buffer.write(raw)
        else:
            show(parse_rows(name, "ok", 0.0, raw))

    return command


def ask(name: str, words: str, realm: str, k: int) -> bytes:
    """The lane's answer to ``words``. Raises a :class:`chitta.cli.failure.Failure`."""
    if not words.strip():
        raise failure.Misuse("there are no words to recall on", f'try {name} "how do we deploy"')
    settings = table.load()
    request = Request(
        prompt=words,
        query=words,
        context_query=words,
        tokens=distinctive(words),
        cwd=os.getcwd(),
        realm=looking_realm(settings, realm, False) or "global",
        k=k,
        deadline_ms=int(PATIENCE_S * 1000),
    )
    code, body = lane_runner.answer(name, encode_request(request), PATIENCE_S, warm_wait=PATIENCE_S / 2)
    if code != codec.OK:
        raise failure.Failure(body.decode("utf-8", "replace").strip(), "`chitta doctor` checks the installation", code)
    return body


def show(result: LaneResult) -> None:
    """The rows as a table, and the lane's own facts on standard error."""
    if result.header is None:
        raise failure.Unavailable("the lane's answer could not be read")
    if result.rows:
        columns = ["", "score", "conf", "cos", "bm25", "kind", "title", "id"]
        cells = [_cells(place, row) for place, row in enumerate(result.rows, start=1)]
        output.table(columns, cells, right=("", "score", "conf", "cos", "bm25"))
    facts = [output.plural(len(result.rows), "row")]
    if result.header.maxrel is not None:
        facts.append(f"maxrel {result.header.maxrel:.2f}")
    facts += ["warming: answered from words alone"] if result.header.warming else []
    facts += [result.header.note] if result.header.note else []
    output.tell(", ".join(facts))


def _cells(place: int, row: Row) -> list[str]:
    title = output.one_line(row.title or row.text, _TITLE_CHARS)
    return [
        str(place),
        f"{row.score:.3f}",
        "" if row.conf == NOT_MEASURED else f"{row.conf:.2f}",
        "" if row.cos == NOT_MEASURED else f"{row.cos:.2f}",
        f"{row.bm25:.1f}" if row.bm25 else "",
        row.kind,
        title,
        row.id,
    ]
