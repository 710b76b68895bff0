"""Asking a person to choose one of a few things by its letter."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from chitta.cli import output


def choose(choices: Mapping[str, str], default: str = "") -> str:
    """The letter that a person gave; ``choices`` are words by their letter: ``{"k": "keep both"}``.

    Asked again until it is one of them; ``?`` has them told, and Enter is ``default`` where there is one. The end of
    the input raises ``typer.Abort``.
    """
    asked = ", ".join(_with_key(letter, words) for letter, words in choices.items())
    asked += f" (Enter: {choices[default]})" if default else ""
    while True:
        given = str(typer.prompt(asked, prompt_suffix="? ", default="", show_default=False, err=True)).strip().lower()
        if not given and default:
            return default
        if given == "?":
            output.tell(", ".join(f"{letter} {words}" for letter, words in choices.items()))
            continue
        if given[:1] in choices and (len(given) == 1 or choices[given[0]].startswith(given)):
            return given[0]
        output.tell(f"give one of {', '.join(choices)}; ? says what they do")


def choose_number(asked: str, most: int) -> int:
    """A number from 1 to ``most``, asked until it is one. The end of the input raises ``typer.Abort``."""
    while True:
        given = str(
            typer.prompt(f"{asked} (1 to {most})", prompt_suffix="? ", default="", show_default=False, err=True)
        )
        if given.strip().isdecimal() and 1 <= int(given) <= most:
            return int(given)
        output.tell(f"give a number from 1 to {most}")


def _with_key(letter: str, words: str) -> str:
    return f"[{letter}]{words[1:]}" if words.startswith(letter) else f"[{letter}] {words}"
