"""Commands that show how chitta is set up: models, lanes, settings."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.admission import policy
from chitta.cli import checkout, output
from chitta.cli.failure import Failure, Unavailable
from chitta.cli.lane_by_hand import header_of
from chitta.cli.realm_options import AsJson
from chitta.settings import Setting, Settings

#: Columns from which there is room for what each setting means.
WIDTH_FOR_MEANINGS = 96


def lanes(as_json: AsJson = False) -> None:
    """Show the lanes: what each asks, its limit, and on what terms its notes are let in. A lane is one executable in
    lanes/; one that the policy does not name runs in shadow, measured and never let in.

    Example: chitta lanes
    """
    settings = table.load()
    facts = lane_facts(settings)
    if as_json:
        output.as_json(facts)
        return
    rows = [[f["lane"], f["tag"], f["state"], f["limit_ms"], f["floor"], f["summary"]] for f in facts]
    output.table(["lane", "tag", "state", "limit ms", "floor", "what it is"], rows, right=["limit ms", "floor"])


def lane_facts(settings: Settings) -> list[dict[str, Any]]:
    """Every lane file with its headers and its row of the policy; then policy rows without a file."""
    files = {path.name: path for path in checkout.lane_files(checkout.hook().parent.parent)}
    ablated = set(policy.ablated(settings))
    facts = []
    for name in [*(row.lane for row in policy.LANES), *(name for name in files if name not in policy.BY_LANE)]:
        row, headers = policy.BY_LANE.get(name), header_of(str(files[name])) if name in files else {}
        state = "missing" if name not in files else "ablated" if name in ablated else "active" if row else "shadow"
        floor = "" if row is None else "none" if row.conf_floor < 0 else f"{row.conf_floor:g}"
        limit = settings.integer(row.limit if row else "CHITTA_LANE_LIMIT_MS")
        summary = headers.get("Summary") or (row.asks if row else "")
        facts.append(
            {"lane": name, "tag": row.tag if row else headers.get("Tag", ""), "state": state, "limit_ms": limit}
            | {"floor": floor, "summary": summary, "headers": headers, "ablatable": row.ablatable if row else True}
        )
    return facts


def settings_command(
    changed: Annotated[bool, typer.Option("--changed", help="Only those that are not at their default.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting: its value and where that came from. The environment wins over chitta.toml in the store,
    which wins over the default.

    Example: CHITTA_MAX_MEMORIES=5 chitta settings --changed
    """
    settings = table.load()
    facts = setting_facts(settings)
    if changed:
        facts = [fact for fact in facts if fact["from"] != "default"]
    if as_json:
        output.as_json({"settings": facts, "problems": settings.problems})
        return
    if not facts:
        output.tell("every setting is at its default")
    elif output.on_terminal():
        _print_settings(facts, with_meaning=output.width() >= WIDTH_FOR_MEANINGS)
    else:
        _print_settings(facts, with_meaning=False)
    for problem in settings.problems:
        output.tell(f"chitta: {problem}")


def _print_settings(facts: list[dict[str, Any]], *, with_meaning: bool) -> None:
    rows = [[fact["name"], shown(fact["value"]), fact["from"]] for fact in facts]
    if with_meaning:
        rows = [[*row, fact["meaning"]] for row, fact in zip(rows, facts, strict=True)]
    columns = ["setting", "value", "from"] + (["meaning"] if with_meaning else [])
    output.table(columns, rows, whole=("setting", "from"))


def setting_facts(settings: Settings) -> list[dict[str, Any]]:
    """Name, value, source, default and meaning of each setting."""
    from_file = table.load({"CHITTA_HOME": settings.text("CHITTA_HOME")})
    facts = []
    for setting in table.TABLE:
        value = _value(settings, setting)
        facts.append(
            {"name": setting.name, "value": value, "from": _source(setting, value, from_file)}
            | {"default": setting.default, "meaning": setting.meaning}
        )
    return facts


def shown(value: object) -> str:
    return {True: "1", False: "0"}[value] if isinstance(value, bool) else str(value)


def _value(settings: Settings, setting: Setting) -> table.Value:
    if setting.kind == "flag":
        return settings.flag(setting.name)
    if setting.kind == "integer":
        return settings.integer(setting.name)
    return settings.real(setting.name) if setting.kind == "real" else settings.text(setting.name)


def _source(setting: Setting, value: table.Value, from_file: Settings) -> str:
    raw = os.environ.get(setting.name)
    if raw and not _is_set_by_chitta(setting.name, raw):
        try:
            table.parse(setting, raw)
            return "environment"
        except ValueError:
            pass  # malformed: what counts is the file or the default
    if setting.name != "CHITTA_HOME" and value != setting.default and _value(from_file, setting) == value:
        return "chitta.toml"
    return "default"


def _is_set_by_chitta(name: str, raw: str) -> bool:
    """Whether the variable says no more than what bin/chitta puts there where a person has set nothing."""
    if name == "CHITTA_HOME":
        return os.path.abspath(raw) == os.path.abspath(os.path.expanduser(str(table.BY_NAME[name].default)))
    root = os.environ.get("CHITTA_ROOT", "")
    return name == "CHITTA_PYTHON" and bool(root) and raw == os.path.join(root, ".venv", "bin", "python")


def models(
    verify: Annotated[bool, typer.Option("--verify", help="Compare every file with its known sha256.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the models that can be used and which are in use; --verify checks their files byte for byte.

    Example: chitta models --verify
    """
    from chitta.models import registry

    settings = table.load()
    known = registry.describe(settings)
    checks = registry.verify(settings) if verify else []
    if as_json:
        files = [{**check._asdict(), "good": check.good} for check in checks]
        output.as_json({"models": [fact._asdict() for fact in known], "files": files if verify else None})
    else:
        output.table(["role", "model", "kind", "place"], [[f.role, f.name, f.kind, f.place] for f in known])
        for check in checks:
            output.say(f"{'as published' if check.good else 'NOT AS PUBLISHED'}  {check.path}")
    for fact in known:
        if fact.problem:
            raise Unavailable(fact.problem, fact.hint)
    bad = [check for check in checks if not check.good]
    if bad:
        raise Failure(f"{output.plural(len(bad), 'model file')} not as published", "run install.sh again")
