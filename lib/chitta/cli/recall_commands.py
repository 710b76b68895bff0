"""`chitta recall`: a person's question to the store, with the evidence behind each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from chitta import settings as table
from chitta.cli import output, upkeep
from chitta.cli.failure import Misuse, Nothing, Unavailable
from chitta.cli.realm_options import GLOBAL, AsJson, LookEverywhere, RealmOption, looking_realm
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.wire.rows import Row

STRATEGIES = ("hybrid", "semantic", "keyword")
#: Seconds that a question waits for the daemon: it may still be loading its models.
WAIT_S = 90.0
SUPPORTED, RELATED, UNRELATED = "supported", "related", "none"
#: Share of the question's words (weighed by rarity) that ties a note to it, where none of them is distinctive.
RELATED_COVERAGE = 0.5
#: Least probability of a note that only its meaning ties to the question: the model finds everything somewhat near.
RELATED_CONF = 0.02


#: Where was looked: one realm that was named, this folder's and `global`, then all others as well, or everywhere.
NAMED, HERE, BEYOND, EVERYWHERE = "named", "here", "beyond", "everywhere"
#: Rows asked of all realms beside those that this folder's may take, which are not shown again.
_BEYOND_ROWS = 3


class Answer(NamedTuple):
    """Rows, best first, with what a person should know about how they were found.

    ``beyond`` are rows of other projects, ``scope`` says where was looked.
    """

    rows: list[Row]
    maxrel: float | None = None
    warming: bool = False
    note: str = ""
    beyond: tuple[Row, ...] = ()
    scope: str = NAMED


def recall(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What you want to know.")],
    strategy: Annotated[
        str, typer.Option("--strategy", help="hybrid, semantic (meaning) or keyword (words).")
    ] = "hybrid",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most notes to show.")] = 5,
    realm: RealmOption = "",
    everywhere: LookEverywhere = False,
    unrelated: Annotated[
        bool, typer.Option("--show-weak", "--all", help="Also notes that only happen to be nearest.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the store a question and see the evidence: which arm found each note (words, meaning), its score, and conf,
    the calibrated chance (0 to 1) that it helps. Notes without any real tie to the question are left out. This
    folder's realm and `global` are asked first; where nothing there is supported, so are all other projects.

    Example: chitta recall "why does the webhook answer 400" --limit 3
    """
    settings = table.load()
    words = " ".join(query).strip()
    if not words:
        raise Misuse("there is no question", 'try `chitta recall "how do we deploy"`')
    if strategy not in STRATEGIES:
        raise Misuse(f"{strategy!r} is no strategy", f"strategies are {', '.join(STRATEGIES)}")
    place = looking_realm(settings, realm, everywhere)
    if realm or place is None:
        answer = ask(settings, words, strategy=strategy, limit=limit, realm=place)
        answer = answer._replace(scope=NAMED if realm else EVERYWHERE)
    else:
        answer = ask_from_here(settings, words, strategy=strategy, limit=limit, realm=place)
    shown = [row for row in answer.rows if unrelated or tier(row) != UNRELATED]
    beyond = [row for row in answer.beyond if unrelated or tier(row) != UNRELATED][:limit]
    if as_json:
        _print_json(words, strategy, place, answer, shown, beyond)
    else:
        _print_rows(shown, beyond, strategy)
    for remark in _remarks(answer):
        output.tell(remark)
    if not shown and not beyond:
        looked = None if answer.scope == BEYOND else place
        raise Nothing(_nothing(settings, answer, looked), "--global asks all realms" if answer.scope == NAMED else "")


def ask_from_here(settings: Settings, words: str, *, strategy: str, limit: int, realm: str) -> Answer:
    """This folder's realm and `global` together; where nothing there is supported, all others after them."""
    answers = [
        ask(settings, words, strategy=strategy, limit=limit, realm=place) for place in dict.fromkeys((realm, GLOBAL))
    ]
    rows = sorted((row for answer in answers for row in answer.rows), key=lambda row: (-row.conf, -row.score, row.id))
    near = _joined(answers, rows[:limit], HERE)
    if any(tier(row) == SUPPORTED for row in rows):
        return near
    wide = ask(settings, words, strategy=strategy, limit=min(limit * _BEYOND_ROWS, 1000), realm=None)
    others = tuple(row for row in wide.rows if row.realm not in (realm, GLOBAL))
    return _joined([*answers, wide], near.rows, BEYOND)._replace(beyond=others)


def _joined(answers: list[Answer], rows: list[Row], scope: str) -> Answer:
    measured = [answer.maxrel for answer in answers if answer.maxrel is not None]
    note = next((answer.note for answer in answers if answer.note), "")
    warming = any(answer.warming for answer in answers)
    return Answer(rows, max(measured, default=None), warming, note, scope=scope)


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
    return RELATED if by_words or (row.cos >= COS_FLOOR and row.conf >= RELATED_CONF) else UNRELATED


def arms(row: Row, strategy: str = "hybrid") -> list[str]:
    """Which arms found the note; a strategy of one arm finds by that one alone."""
    if strategy == "semantic":
        return ["meaning"]
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


def _print_rows(shown: list[Row], beyond: list[Row], strategy: str) -> None:
    for number, row in enumerate([*shown, *beyond], start=1):
        if number > 1:
            output.say()
        if number == len(shown) + 1:
            output.say("From other projects:", "bold")
        _print_row(number, row, strategy)


def _print_row(number: int, row: Row, strategy: str) -> None:
    chance = f"conf {row.conf:.2f}" if row.conf >= 0 else "conf not measured"
    style = {SUPPORTED: "green", RELATED: "yellow"}.get(tier(row), "dim")
    title = output.one_line(row.title or row.id, output.width() - 4)
    output.say(f"{number}. {title}", "bold")
    found = " and ".join(arms(row, strategy)) or "its place"
    output.say(f"   {output.paint(f'{tier(row)}, {chance}', style)} · found by {found}")
    facts = f"{output.harmless(row.id)} · {row.kind} · {output.harmless(row.realm)} · score {row.score:.3f}"
    output.wrapped(facts, "   ", "dim")
    for line in _first_lines(row.text, title):
        output.say(f"   {line}")


def _first_lines(text: str, title: str, count: int = 3) -> list[str]:
    """The text's first lines at the width, without what the title shows already; on a terminal, wrapped."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if lines:
        lines[:1] = filter(None, [_beyond_title(lines[0], title)])
    room = output.width() - 4
    if not output.on_terminal():
        return [output.one_line(line, room) for line in lines[:count]]
    pieces = [piece for line in lines[:count] for piece in output.pieces_of(output.one_line(line, len(line)), room)]
    return [*pieces[: count - 1], output.one_line(" ".join(pieces[count - 1 :]), room)] if pieces[count:] else pieces


def _beyond_title(line: str, title: str) -> str:
    """What a line says after the words that the title shows; the whole line where it begins otherwise."""
    words = output.one_line(line.lstrip("#-*> "), len(line))
    head = title.removesuffix("…").rstrip()
    if not head or not words.startswith(head):
        return line
    rest = words[len(head) :]
    if rest[:1].isalnum() and head[-1:].isalnum():  # the title was cut inside a word
        rest = words[words.rfind(" ", 0, len(head)) + 1 :]
    rest = rest.lstrip(" ,;:.!?")
    return f"…{rest}" if rest else ""


def _print_json(
    words: str, strategy: str, place: str | None, answer: Answer, shown: list[Row], beyond: list[Row]
) -> None:
    rows = [
        {**row._asdict(), "tier": tier(row), "arms": arms(row, strategy), "beyond": at >= len(shown)}
        for at, row in enumerate([*shown, *beyond])
    ]
    facts = {"query": words, "strategy": strategy, "realm": place, "scope": answer.scope, "maxrel": answer.maxrel}
    output.as_json({**facts, "warming": answer.warming, "note": answer.note, "rows": rows})


def _remarks(answer: Answer) -> list[str]:
    if answer.warming:
        return ["chitta: the models are still loading, so this answer comes from words alone; ask again in a moment"]
    return (
        [f"chitta: this answer comes from words alone: {answer.note}"]
        if answer.note and (answer.rows or answer.beyond)
        else []
    )


def _nothing(settings: Settings, answer: Answer, place: str | None) -> str:
    from chitta.cli import bookshelf

    with bookshelf.opened(settings) as snapshot:
        held = snapshot.catalog.count(place) if snapshot is not None else 0
    where = f"in {place}" if place is not None else "in this store"
    if not held:
        return f"there are no notes {where} yet"
    if answer.warming:
        return f"nothing found by words alone among {output.plural(held, 'note')} {where}; by meaning it may still be"
    if answer.rows or answer.beyond:
        return f"not in memory: no note {where} speaks of this; --show-weak shows the nearest of {held:,}"
    return f"not in memory: none of the {output.plural(held, 'note')} {where} holds any of these words"
