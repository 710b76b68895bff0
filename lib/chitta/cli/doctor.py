"""`chitta doctor`: is everything in order, and what to do if not.

Each check is a function that gives one or more findings and never raises; the checks themselves
are in :mod:`chitta.cli.doctor_installation`, :mod:`chitta.cli.doctor_settings`, :mod:`chitta.cli.doctor_store`,
:mod:`chitta.cli.doctor_notes`, :mod:`chitta.cli.doctor_replaced`, :mod:`chitta.cli.doctor_harness` and
:mod:`chitta.cli.doctor_drain`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import output
from chitta.cli.failure import NOTHING, Misuse
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.cli.realm_options import AsJson
from chitta.settings import Settings

Check = Callable[[Settings], Iterable[Finding]]
_INDENT = 20
_MARKS = {OK: ("ok", "green"), WARN: ("warn", "yellow"), FAIL: ("FAIL", "red")}


def doctor(
    problems_only: Annotated[bool, typer.Option("--problems", help="Only what is not in order.")] = False,
    secrets: Annotated[bool, typer.Option("--secrets", help="Look through the notes for secrets instead.")] = False,
    redact: Annotated[bool, typer.Option("--redact", help="With --secrets: take them out of the notes.")] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="Put the store right, say what was done and left; deletes no note.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the installation, the store, the daemon, how agents are wired and the last prompts, and say for each thing
    that is not in order what to do. Exit code 1 when something is broken; a warning alone is 0.

    Example: chitta doctor --problems
    """
    settings = table.load()
    if redact and not secrets:
        raise Misuse("--redact goes with --secrets", "chitta doctor --secrets --redact")
    if repair and secrets:
        raise Misuse("--repair and --secrets are two things", "give one of them")
    if repair:
        from chitta.cli import doctor_repair

        doctor_repair.run(settings, as_json=as_json)
        return
    if secrets:
        from chitta.cli import doctor_secrets

        doctor_secrets.run(settings, redact=redact, as_json=as_json)
        return
    findings = []
    for finding in examine(settings):
        findings.append(finding)
        if not as_json and not (problems_only and finding.state == OK):
            _print(finding)
    if as_json:
        output.as_json({"home": settings.home, "checks": [finding._asdict() for finding in findings]})
    else:
        output.say()
        output.say(_verdict(findings), "bold")
    if any(finding.state == FAIL for finding in findings):
        raise typer.Exit(NOTHING)


def examine(settings: Settings) -> Iterator[Finding]:
    """Every finding, in the order in which a person would mend things."""
    from chitta.cli import doctor_drain as draining
    from chitta.cli import doctor_harness as around
    from chitta.cli import doctor_installation as installation
    from chitta.cli import doctor_notes as unread
    from chitta.cli import doctor_places as places
    from chitta.cli import doctor_replaced as replaced
    from chitta.cli import doctor_settings as named
    from chitta.cli import doctor_store as store

    checks: tuple[tuple[str, Check], ...] = (
        ("interpreter", installation.interpreter),
        ("packages", installation.packages),
        ("hook", installation.hook),
        ("lanes", installation.lanes),
        ("left out", named.ablation),
        ("models", installation.models),
        ("settings", named.settings_problems),
        ("settings", named.scoring_problems),
        ("settings", named.unknown_variables),
        ("home", store.home),
        ("home", places.places),
        ("notes", unread.notes),
        ("run folder", store.run_folder),
        ("daemon", store.daemon),
        ("index", store.index),
        ("review", store.review),
        ("replaced", replaced.lone),
        ("wiring", around.wiring),
        ("prompts", store.prompts),
        ("drain", draining.drain),
        ("last failure", around.last_failure),
    )
    for name, check in checks:
        try:
            yield from check(settings)
        except Exception as problem:  # a check that fails is a finding, and the others still count
            yield Finding(
                name, FAIL, f"could not be checked: {type(problem).__name__}: {problem}", "run install.sh again"
            )


def _print(finding: Finding) -> None:
    word, style = _MARKS[finding.state]
    head = f"{output.paint(f'{word:<4}', style)}  {finding.name:<12}"
    lines = _wrap(output.harmless(finding.detail)) or [""]
    output.say(f"{head}  {lines[0]}")
    for line in lines[1:]:
        output.say(" " * _INDENT + line)
    for line in _wrap(f"do: {output.harmless(finding.todo)}") if finding.todo else ():
        output.say(" " * _INDENT + output.paint(line, "cyan"))


def _wrap(text: str) -> list[str]:
    """In lines that leave paths whole, so that they can be copied."""
    return textwrap.wrap(text, output.width() - _INDENT, break_long_words=False, break_on_hyphens=False)


def _verdict(findings: list[Finding]) -> str:
    failed = sum(finding.state == FAIL for finding in findings)
    warned = sum(finding.state == WARN for finding in findings)
    if failed:
        return f"{output.plural(failed, 'thing')} broken" + (f", {output.plural(warned, 'warning')}" if warned else "")
    return f"works, with {output.plural(warned, 'warning')}" if warned else "all in order"
