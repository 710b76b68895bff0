"""The command line: one typer app, its start page, and where each command lives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from chitta.cli import (
    archive_command,
    calibrate_command,
    care_commands,
    demo,
    doctor,
    drain_command,
    evaluate_commands,
    expand_command,
    explain_command,
    export_command,
    feedback_command,
    gaps_command,
    hooks_command,
    import_command,
    inspect_commands,
    list_commands,
    merge_command,
    notes_commands,
    output,
    recall_command,
    review_command,
    stats_command,
    sync_command,
    try_command,
)
from chitta.cli.failure import Front, Unavailable
from chitta.cli.help_page import HelpPage
from chitta.folders import how_to_close, open_to_others
from chitta.models.offline import stay_offline
from chitta.settings import load

#: Every command with its function, in groups for the start page.
GROUPS: tuple[tuple[str, tuple[tuple[str, Callable[..., Any] | typer.Typer, str], ...]], ...] = (
    (
        "See what it does",
        (
            ("demo", demo.demo, "recall at work on sample notes"),
            ("try", try_command.try_prompt, "a prompt through the real hook, explained"),
            ("explain", explain_command.explain, "why a prompt got what it got"),
            ("recall", recall_command.recall, "ask the store a question"),
            ("expand", expand_command.expand, "notes whole, with what is around them"),
        ),
    ),
    (
        "Keep notes",
        (
            ("remember", notes_commands.remember, "keep a note"),
            ("correct", notes_commands.correct, "not this, but that"),
            ("import", import_command.import_notes, "notes from what you already have"),
            ("export", export_command.export, "notes out, as JSONL or Markdown"),
            ("drain", drain_command.drain, "notes from the sessions that wait in the queue"),
            ("list", list_commands.list_notes, "notes, the latest first"),
            ("show", list_commands.show, "one note whole"),
            ("edit", notes_commands.edit, "a note in your editor"),
            ("review", review_command.review, "what waits for you, one after the other"),
            ("merge", merge_command.merge, "one note out of several"),
            ("archive", archive_command.archive, "put unused captured notes away, or back"),
            ("forget", notes_commands.forget, "remove notes for good"),
        ),
    ),
    (
        "Make it better",
        (
            ("gaps", gaps_command.show_gaps, "what you keep asking and it does not know"),
            ("feedback", feedback_command.give, "say whether shown notes helped"),
            ("evaluate", evaluate_commands.app, "measure ranking, admission and lanes"),
            ("calibrate", calibrate_command.calibrate, "fit the percent and the bands to data"),
        ),
    ),
    (
        "Look after it",
        (
            ("hooks", hooks_command.app, "wire your coding agents to chitta, or take it out"),
            ("sync", sync_command.app, "the same notes on your other machines"),
            ("doctor", doctor.doctor, "is everything in order, and what to do if not"),
            ("status", care_commands.status, "the store at a glance"),
            ("stats", stats_command.stats, "what it did: answers, notes, times"),
            ("reindex", care_commands.reindex, "bring the index level with the notes"),
            ("start", care_commands.start, "the daemon, before the first prompt does"),
            ("stop", care_commands.stop, "the daemon"),
            ("lanes", inspect_commands.lanes, "the ways of recalling"),
            ("models", inspect_commands.models, "the models in use"),
            ("settings", inspect_commands.settings_command, "every setting, and where it came from"),
            ("version", care_commands.version, "which chitta this is"),
        ),
    ),
)

#: Commands that help with a store that others may write to, or that have nothing to do with it.
ANY_STORE = frozenset({"doctor", "settings", "version", "stop", "hooks", "lanes", "models", "demo", "merge-notes"})

START_PAGE = """\
chitta remembers what you learned and hands it to your coding agent at the
moment you type a prompt that needs it. It all stays on this machine.
"""

app = typer.Typer(
    name="chitta",
    cls=Front,
    invoke_without_command=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        care_commands.version()
        raise typer.Exit()


@app.callback()
def front(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Which chitta this is.")
    ] = False,
) -> None:
    """Prompt-time memory for people who work with coding agents."""
    output.prepare_streams()
    if context.invoked_subcommand not in (None, *ANY_STORE) and not context.resilient_parsing:
        _refuse_an_open_store()
    if context.invoked_subcommand is None:
        print_start_page()


def _refuse_an_open_store() -> None:
    """Raise :class:`Unavailable` where others may put notes into the store. Help is given all the same."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        return
    settings = load()
    open_folder = open_to_others(settings.home, settings.notes_dir)
    if open_folder:
        raise Unavailable(open_folder, how_to_close(settings.home))


def print_start_page() -> None:
    """What a newcomer reads first: in plain words, and not long."""
    output.say(START_PAGE)
    for heading, commands in GROUPS:
        output.say(heading, "bold")
        for name, _, words in commands:
            output.say(f"  {output.paint(f'{name:<11}', 'cyan')}{words}")
        output.say()
    output.say("Begin with `chitta demo`. `chitta COMMAND --help` explains each.")


def _register() -> None:
    for _, commands in GROUPS:
        for name, function, words in commands:
            if isinstance(function, typer.Typer):
                app.add_typer(function, name=name, short_help=words)
            else:
                app.command(name, cls=HelpPage, short_help=words)(function)
    app.command("merge-notes", cls=HelpPage, hidden=True)(sync_command.merge_driver)  # git runs it


_register()


def run() -> None:
    """Run the command line as this process."""
    stay_offline()
    app(prog_name="chitta")
    sys.exit(0)
