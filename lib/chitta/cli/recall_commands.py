"""`chitta recall`: a person's question to the store, with the evidence behind each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from chitta import settings as table
from chitta.cli import output, upkeep
from chitta.cli.failure import Misuse, Nothing, Unavailable
from chitta.cli.realm_options import AsJson, LookEverywhere, RealmOption, looking_realm
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.wire.rows import Row

STRATEGIES = ("hybrid", "semantic", "keyword")
#: Seconds that a question waits for the daemon: it may still be loading its models.
WAIT_S = 90.0
SUPPORTED, RELATED, UNRELATED = "supported", "related", "none"
#: Share of the question's words (weighed by rarity) that ties a note to it, where none of them is distinctive.
RELATED_COVERAGE = 0.5


class Answer(NamedTuple):
    """Rows, best first, with what a person should know about how they were found."""

    rows: list[Row]
    maxrel: float | None = None
    warming: bool = False
    note: str = ""


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What you want to know.")],
    strategy: Annotated[
        str, typer.Option("--strategy", help="hybrid, semantic (meaning) or keyword (words).")
    ] = "hybrid",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most notes to show.")] = 5,
    realm: RealmOption = "",
    everywhere: LookEverywhere = False,
    unrelated: Annotated[bool, typer.Option("--all", help="Also notes that only happen to be nearest.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the store a question and see the evidence: which arm found each note (words, meaning), its score, and conf,
    the calibrated chance (0 to 1) that it helps. Notes without any real tie to the question are left out.

    Example: chitta recall "why does the webhook answer 400" --limit 3
    """
    settings = table.load()
    words = " ".join(query).strip()
    if not words:
        raise Misuse("there is no question", 'try `chitta recall "how do we deploy"`')
    if strategy not in STRATEGIES:
        raise Misuse(f"{strategy!r} is no strategy", f"strategies are {', '.join(STRATEGIES)}")
    place = looking_realm(settings, realm, everywhere)
    answer = ask(settings, words, strategy=strategy, limit=limit, realm=place)
    shown = [row for row in answer.rows if unrelated or tier(row) != UNRELATED]
    if as_json:
        _print_json(words, strategy, place, answer, shown)
    else:
        for number, row in enumerate(shown, start=1):
            _print_row(number, row)
    for remark in _remarks(answer):
        output.tell(remark)
    if not shown:
        raise Nothing(_nothing(settings, answer, place), _where_else(place, answer))


def ask(settings: Settings, words: str, *, strategy: str, limit: int, realm: str | None) -> Answer:
    """Answered by the daemon, which is started where meaning is asked for; by this process without one."""
    from chitta import daemon_client

    upkeep.freshen(settings)
    try:
        there = daemon_client.running(settings) or (strategy != "keyword" and daemon_client.ensure(settings))
        if there:
            body = {"query": words, "strategy": strategy, "limit": limit, "realm": realm}
            return _from_daemon(daemon_client.call(settings, "recall", body, timeout=WAIT_S))
    except daemon_client.DaemonAway as away:
        output.tell(f"chitta: answering without the daemon: {away}")
    except daemon_client.DaemonRefused as refused:
        if strategy == "semantic":
            raise Unavailable(str(refused), "`--strategy keyword` needs no model; `chitta doctor` checks it") from None
    return _from_here(settings, words, strategy=strategy, limit=limit, realm=realm)


def tier(row: Row) -> str:
    """How far the evidence carries: enough for a prompt, some tie of words or meaning, or none."""
    from chitta.admission.policy import BY_LANE, COS_FLOOR

    terms = BY_LANE["hybrid"]
    if row.conf >= (terms.conf_floor if row.cos >= 0 else terms.words_conf_floor):
        return SUPPORTED
    by_words = row.bm25 > 0 and (bool(row.shared) or row.coverage >= RELATED_COVERAGE)
    return RELATED if by_words or row.cos >= COS_FLOOR else UNRELATED


def arms(row: Row) -> list[str]:
    """Which arms found the note."""
    return [name for name, found in (("words", row.bm25 > 0), ("meaning", row.cos >= 0)) if found]


def _from_daemon(value: dict[str, Any]) -> Answer:
    from chitta.wire.rows import Row

    header = value.get("header", {})
    rows = [Row(**{**row, "shared": tuple(row.get("shared", ()))}) for row in value.get("rows", [])]
    return Answer(rows, header.get("maxrel"), header.get("warming") is True, header.get("note", ""))


def _from_here(settings: Settings, words: str, *, strategy: str, limit: int, realm: str | None) -> Answer:
    from chitta.gateway.engine import Unavailable as NoMeaning
    from chitta.gateway.recall import recall as answer_here

    try:
        result = answer_here(settings, words, strategy=strategy, limit=limit, realm=realm)
    except NoMeaning as problem:
        raise Unavailable(str(problem), "`--strategy keyword` needs no model; `chitta doctor` checks it") from None
    return Answer(list(result.rows), result.header.maxrel, result.header.warming, result.note)


def _print_row(number: int, row: Row) -> None:
    chance = f"conf {row.conf:.2f}" if row.conf >= 0 else "conf not measured"
    style = {SUPPORTED: "green", RELATED: "yellow"}.get(tier(row), "dim")
    if number > 1:
        output.say()
    output.say(f"{number}. {output.one_line(row.title or row.id, output.width() - 4)}", "bold")
    output.say(
        f"   {output.paint(f'{tier(row)}, {chance}', style)} · found by {' and '.join(arms(row)) or 'its place'}"
    )
    output.say(
        f"   {output.harmless(row.id)} · {row.kind} · {output.harmless(row.realm)} · score {row.score:.3f}", "dim"
    )
    for line in _first_lines(row.text, row.title):
        output.say(f"   {output.one_line(line, output.width() - 4)}")


def _first_lines(text: str, title: str, count: int = 3) -> list[str]:
    lines = [line.strip() for line in text.split("\n") if line.strip() and line.strip("# ").strip() != title]
    return lines[:count]


def _print_json(words: str, strategy: str, place: str | None, answer: Answer, shown: list[Row]) -> None:
    rows = [{**row._asdict(), "tier": tier(row), "arms": arms(row)} for row in shown]
    facts = {"query": words, "strategy": strategy, "realm": place, "maxrel": answer.maxrel}
    output.as_json({**facts, "warming": answer.warming, "note": answer.note, "rows": rows})


def _remarks(answer: Answer) -> list[str]:
    if answer.warming:
        return ["chitta: the models are still loading, so this answer comes from words alone; ask again in a moment"]
    return [f"chitta: this answer comes from words alone: {answer.note}"] if answer.note and answer.rows else []


def _nothing(settings: Settings, answer: Answer, place: str | None) -> str:
    from chitta.cli import bookshelf

    with bookshelf.opened(settings) as snapshot:
        held = snapshot.catalog.count(place) if snapshot is not None else 0
    where = f"in {place}" if place is not None else "in this store"
    if not held:
        return f"there are no notes {where} yet"
    if answer.rows:
        return f"no note {where} speaks of this; the nearest of {held:,} have no real tie to it (--all shows them)"
    return f"none of the {output.plural(held, 'note')} {where} holds any of these words"


def _where_else(place: str | None, answer: Answer) -> str:
    return "--global asks all realms" if place is not None else ""
