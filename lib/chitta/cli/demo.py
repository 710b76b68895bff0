"""`chitta demo`: what recall does, shown on sample notes in a throw-away store."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from chitta import samples
from chitta import settings as table
from chitta.cli import bookshelf, output, trial, upkeep, writing
from chitta.cli.failure import Failure, leave
from chitta.cli.progress import Meter
from chitta.cli.try_command import print_lanes, verdict_line
from chitta.importing.plain import read_path
from chitta.notes.store import NoteStore
from chitta.settings import Settings
from chitta.wire import codec

#: Seconds for the models of a fresh daemon to load.
_WARM_UP_S = 90.0
#: What stays of the person's settings: which interpreter and which models there are, and what is to be shown.
_KEPT_VARIABLES = (
    "CHITTA_ROOT",
    "CHITTA_PYTHON",
    "CHITTA_EMBED_MODEL",
    "CHITTA_RERANK_MODEL",
    "CHITTA_RERANK_ONNX_DIR",
    "CHITTA_HOOK_BUDGET_MS",
    "CHITTA_ADMIT_DEBUG",
)
#: What a prompt that finds a note by recall is expected to give.
_HITS = ("answer", "paraphrase")
HEADINGS = {
    "answer": "Somebody pastes an error",
    "paraphrase": "The same meaning in other words",
    "correction": "A mistake that was corrected before",
    "silence": "Nothing known, nothing said",
}


class Sample(NamedTuple):
    """A shipped prompt: what should come of it (``expect``), from which note, and why."""

    prompt: str
    expect: str = ""
    note: str | None = None
    why: str = ""


def demo(
    words: Annotated[list[str] | None, typer.Argument(metavar="PROMPT", help="A prompt of your own.")] = None,
) -> None:
    """Show recall at work on forty sample notes in a store that is thrown away afterwards; yours is not touched.
    Without words it runs four prompts and says for each what should happen and whether it did.

    Example: chitta demo why is the staging database slow
    """
    with _throw_away_store() as settings:
        realm, prompts = shipped_prompts()
        given = " ".join(words or [])
        count = _fill(settings)
        output.say(f"A store of {count} sample notes, made for this and thrown away after it.")
        output.say(f"You are in a shop's repository: the realm is {realm}.")
        output.say("Beside the bar stands what the model is given with the prompt, word for word.")
        _warm_up(settings)
        if given:
            _run_one(settings, Sample(given), realm, "Your prompt")
            _say_what_there_is(settings, realm, [sample for sample in prompts if sample.expect in _HITS][:2])
            return
        failed = 0
        for number, sample in enumerate(prompts, start=1):
            heading = f"{number}. {HEADINGS.get(sample.expect, sample.expect)}"
            failed += not _run_one(settings, sample, realm, heading)
        output.say()
        if failed:
            raise Failure(
                f"{failed} of {len(prompts)} prompts did not go as they should", "`chitta doctor` may say why"
            )
        output.paragraph(
            "That is all there is to it. Give it a prompt of your own: `chitta demo WORDS`. To begin with your "
            'own notes: `chitta remember "…"` or `chitta import PATH`, then `chitta try "a prompt"`.'
        )


def shipped_prompts() -> tuple[str, list[Sample]]:
    """The realm and the prompts that come with the samples."""
    value = codec.loads(_samples_folder().joinpath("prompts.json").read_bytes())
    return value["realm"], [Sample(**prompt) for prompt in value["prompts"]]


def came_true(sample: Sample, result: trial.Trial) -> bool:
    """Whether the prompt went as expected."""
    if sample.expect == "silence":
        return not result.block
    tag = result.admitted.get(sample.note or "")
    return tag == "corrk" if sample.expect == "correction" else tag is not None


def _run_one(settings: Settings, sample: Sample, realm: str, heading: str) -> bool:
    output.say()
    output.say(heading, "bold")
    result = trial.run(settings, sample.prompt, cwd=settings.home, realm=realm)
    output.paragraph(f"you type: {sample.prompt}", "  ", "cyan")
    if result.stderr.strip():
        output.tell(output.harmless(result.stderr.rstrip()))
    output.say()
    _print_block(result)
    output.say()
    print_lanes(result)
    output.say()
    if not sample.expect:
        output.say(verdict_line(result), "dim")
        return True
    good = came_true(sample, result)
    mark = output.paint("as expected", "green") if good else output.paint("NOT as expected", "red")
    output.say(f"  {mark}, {result.wall_ms:.0f} ms: {_outcome(sample, result)}")
    output.paragraph(sample.why, "  ", "dim")
    return good


def _say_what_there_is(settings: Settings, realm: str, hits: list[Sample]) -> None:
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.page(realm, limit=4) if snapshot is not None else []
    output.say()
    output.say("Some of what the sample notes are about:", "dim")
    for note in notes:
        output.say(f"  {output.one_line(note.title, output.width() - 2)}", "dim")
    output.say("Two prompts that find something:", "dim")
    for sample in hits:
        output.paragraph(f"chitta demo {shlex.quote(sample.prompt)}", "  ", "cyan")


def _outcome(sample: Sample, result: trial.Trial) -> str:
    if not result.admitted:
        return "nothing entered the agent's context"
    found = [f"{name} [{tag}]" for name, tag in result.admitted.items()]
    return ", ".join(found)


def _print_block(result: trial.Trial) -> None:
    """What the model sees, wrapped for reading; the bar at the left shows what belongs to it."""
    if not result.block:
        output.paragraph(f"(silence) {result.reason}", "  ")
        return
    for line in output.harmless(result.block).split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        pieces = textwrap.wrap(line, output.width() - 6, subsequent_indent=indent, break_on_hyphens=False) or [""]
        for piece in pieces:
            output.say(f"  {output.paint('│', 'dim')} {piece}".rstrip())


def _samples_folder() -> Path:
    return Path(samples.__file__).parent


@contextmanager
def _throw_away_store() -> Iterator[Settings]:
    """A store of its own in a private folder, with its own daemon; both are gone after the block, whatever ends it."""
    home = tempfile.mkdtemp(prefix="chitta-demo-")
    theirs = {name: value for name, value in os.environ.items() if name.startswith("CHITTA_")}
    before = signal.signal(signal.SIGTERM, leave)
    try:
        for name in theirs.keys() - set(_KEPT_VARIABLES):
            del os.environ[name]
        os.environ["CHITTA_HOME"] = home
        settings = table.load()
        try:
            yield settings
        finally:
            _stop_daemon(settings)
    finally:
        shutil.rmtree(home, ignore_errors=True)
        for name in [name for name in os.environ if name.startswith("CHITTA_")]:
            del os.environ[name]
        os.environ.update(theirs)
        signal.signal(signal.SIGTERM, before)


def _stop_daemon(settings: Settings) -> None:
    from chitta import daemon_client

    try:
        daemon_client.stop(settings)
    except daemon_client.DaemonAway as away:
        output.tell(f"chitta: the demo's daemon: {away}")


def _fill(settings: Settings) -> int:
    store = NoteStore(settings.notes_dir)
    count = 0
    for item in read_path(_samples_folder() / "notes", realm="global"):
        if item.note is None:
            raise Failure(f"a sample note cannot be read: {item.source} {item.problem}", "run install.sh again")
        writing.put(store, item.note, None)
        count += 1
    levelled = upkeep.level_here(settings)
    if levelled.pending:
        output.tell(f"chitta: these notes can be found by words only: {levelled.no_meaning}")
    return count


def _warm_up(settings: Settings) -> None:
    """Start the store's daemon and wait for its models, as a person's first minute of work would."""
    from chitta import daemon_client

    daemon_client.ensure(settings)
    end = time.monotonic() + _WARM_UP_S
    with Meter() as meter:
        while time.monotonic() < end:
            models = daemon_client.call(settings, "status").get("models", {})
            loading = [part for part, state in models.items() if state.get("state") == "loading"]
            if models and not loading:
                return
            meter("loading models", len(models) - len(loading), len(models))
            time.sleep(0.1)
