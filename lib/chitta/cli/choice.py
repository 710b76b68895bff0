"""Asking a person to choose one of a few things by its letter."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from chitta.cli import output


def choose(choices: Mapping[str, str]) -> str:
    """The letter that a person gave; ``choices`` are words by their letter: ``{"k": "keep both"}``.

    Asked again until it is one of them. The end of the input raises ``typer.Abort``.
    """
    asked = ", ".join(_with_key(letter, words) for letter, words in choices.items())
    while True:
        given = str(typer.prompt(asked, prompt_suffix="? ", default="", show_default=False, err=True)).strip().lower()
        if given[:1] in choices and (len(given) == 1 or choices[given[0]].startswith(given)):
            return given[0]
        output.tell(f"give one of {', '.join(choices)}")


def _with_key(letter: str, words: str) -> str:
    return f"[{letter}]{words[1:]}" if words.startswith(letter) else f"[{letter}] {words}"
