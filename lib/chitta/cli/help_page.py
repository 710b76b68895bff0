"""A command's help with its options in groups, in plain text.

typer draws groups (``rich_help_panel``) only with rich, which takes longer to import than the commands take.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

#: What a page begins with; the groups follow in the order of the options.
_FIRST = ("Arguments", "Options")


class HelpPage(TyperCommand):
    """A command whose options stand under the heading of their ``rich_help_panel``; the rest under Options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                plain = _FIRST[parameter.param_type_name != "argument"]
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or plain, []).append(record)
        for heading in sorted(groups, key=lambda name: name not in _FIRST):
            with formatter.section(heading):
                formatter.write_dl(groups[heading])
