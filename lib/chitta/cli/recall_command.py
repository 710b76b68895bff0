"""`chitta recall`: a person's question to the store, with the evidence behind each answer."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from chitta import settings as table
from chitta.cli import (
    analogy_answer,
    asking,
    output,
    recall_empty,
    recall_ids,
    recall_kinds,
    recall_memory,
    recall_reasons,
    recall_state,
)
from chitta.cli import recall_options as given
from chitta.cli.asking import BEYOND, EVERYWHERE, LISTED, NAMED, Answer
from chitta.cli.failure import Misuse, Nothing
from chitta.cli.realm_options import AsJson, LookEverywhere, RealmOption, looking_realm
from chitta.cli.recall_tier import SUPPORTED, UNRELATED, arms, tier
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.gateway.question import Question
    from chitta.wire.rows import Row

#: What is asked where only a time was given: the newest notes of it.
_LATEST = "latest notes"
#: Fields of a row in JSON that say where it is and what it is about; at depth 0 there are no others.
_GLANCE = ("id", "score", "kind", "realm", "title", "created", "conf", "superseded_by")


def recall(
    query: given.Words = None,
    strategy: given.Strategy = "hybrid",
    limit: given.Limit = 5,
    realm: RealmOption = "",
    everywhere: LookEverywhere = False,
    unrelated: given.ShowWeak = False,
    analogy: given.AnalogyOption = "",
    kinds: given.Kinds = None,
    tags: given.Tags = None,
    domain: given.Domain = "",
    min_confidence: given.MinConfidence = "",
    min_overlap: given.MinOverlap = None,
    superseded: given.Superseded = False,
    quarantined: given.Quarantined = False,
    since: given.Since = "",
    until: given.Until = "",
    window: given.Window = "",
    as_of: given.AsOf = "",
    known_as_of: given.KnownAsOf = "",
    valid_at: given.ValidAt = "",
    depth: given.Depth = None,
    stage: given.Stage = "",
    max_tokens: given.MaxTokens = None,
    explain: given.Explain = False,
    as_json: AsJson = False,
) -> None:
    """Ask the store a question and see the evidence: which arm found each note (words, meaning), its score, and conf,
    the calibrated chance (0 to 1) that it helps. Notes without any real tie to the question are left out. This
    folder's realm and `global` are asked first; where nothing there is supported, so are all other projects.

    Example: chitta recall "why does the webhook answer 400" --limit 3

    An agent goes in three steps and reads only what it needs: `--stage index` gives ids, dates and titles, `--stage
    timeline` the same in the order of time with what was written around the best one, `--stage hydrate` whole notes
    with source, session, related notes and what replaced them. `chitta expand ID` gives that of one note.

    A TIME is a date (2026-03-31), a time (2026-03-31T14:00Z), or a phrase such as yesterday or "last week".
    """
    settings = table.load()
    told = recall_kinds.checked(settings, kinds or ())
    words = " ".join(query or []).strip()
    deep = given.depth_of(depth, stage)
    place = looking_realm(settings, realm, everywhere)
    if explain and stage in (given.INDEX, given.TIMELINE) and not as_json:
        raise Misuse(f"--explain has no place in the table of --stage {stage}", "--depth 0 --explain has, and --json")
    if analogy:
        if words:
            raise Misuse("a question and --analogy exclude each other", "give one of them")
        if explain:
            raise Misuse("--explain has no place beside --analogy", "its answers always show the notes that state them")
        analogy_answer.answer(settings, analogy, place, named=bool(realm), max_tokens=max_tokens, as_json=as_json)
        return
    if not words and (since or until or window or as_of or known_as_of or valid_at):
        words = _LATEST
    if not words:
        raise Misuse("there is no question", 'try `chitta recall "how do we deploy"`')
    filters = given.Filters(
        tuple(kinds or ()),
        tuple(tags or ()),
        domain,
        min_confidence,
        min_overlap,
        since,
        until,
        window,
        as_of,
        known_as_of,
        valid_at,
        superseded,
        quarantined,
    )
    question = given.question_of(words, strategy, limit, place, deep, filters)
    if realm or place is None:
        answer = asking.ask(settings, question)._replace(scope=NAMED if realm else EVERYWHERE)
    else:
        answer = asking.ask_from_here(settings, question)
    answer = recall_state.marked(settings, answer)
    every = unrelated or answer.newest
    shown = [row for row in answer.rows if every or tier(row) != UNRELATED]
    beyond = [row for row in answer.beyond if every or tier(row) != UNRELATED][:limit]
    habit = _habit(settings, answer)
    view = _View(settings, question, answer, [habit] if habit is not None else shown, beyond)
    recall_memory.keep(settings, question, answer, [row.id for row in (*view.shown, *view.beyond)], place)
    trimmed = view.print_json(stage, max_tokens, explain) if as_json else view.print(stage, max_tokens, explain)
    for remark in [*told, *_remarks(view, trimmed, max_tokens)]:
        output.tell(remark)
    if not shown and not beyond and answer.persona is None:
        looked = None if answer.scope == BEYOND else place
        raise Nothing(
            recall_empty.sentence(settings, question, answer, looked),
            "--global asks all realms" if answer.scope == NAMED else "",
        )


class _View:
    """One answer on its way to standard output. Each way of printing returns what it trimmed, in words."""

    def __init__(
        self, settings: Settings, question: Question, answer: Answer, shown: list[Row], beyond: list[Row]
    ) -> None:
        self.settings = settings
        self.question = question
        self.answer = answer
        self.shown = shown
        self.beyond = beyond

    def print(self, stage: str, max_tokens: int | None, explain: bool) -> list[str]:
        from chitta.cli import recall_budget, recall_rows, recall_timeline
        from chitta.recall.budget import Item

        rows = [*self.shown, *self.beyond]
        least = recall_ids.least(self.settings)
        below = "".join(f"\n{line}" for line in self._foot()) if explain else ""
        if self.answer.persona is not None:
            lines = recall_rows.lines_of(output.harmless(self.answer.persona.line))
            name = output.paint(f"{recall_rows.INDENT}{output.harmless(self.answer.persona.id)}", "dim")
            said = Item("".join(f"\n{line}" for line in lines), context=(f"\n{name}",))
            return recall_budget.print_items([said], "", max_tokens)
        if stage == given.TIMELINE and rows:
            moments = recall_timeline.timeline(self.settings, self.question, rows)
            return recall_budget.print_drawn(
                lambda count: recall_timeline.draw(moments, count, least), len(moments), max_tokens
            )
        if stage == given.INDEX and rows:

            def draw(count: int) -> None:
                recall_rows.draw_table(self.answer, self.shown, self.beyond, count, least=least)

            return recall_budget.print_drawn(draw, len(rows), max_tokens)
        items = recall_rows.items(
            self.answer,
            self.shown,
            self.beyond,
            self.question.strategy,
            self.question.depth,
            explain=explain,
            least=least,
        )
        return recall_budget.print_items(items, below if items else below.removeprefix("\n"), max_tokens)

    def _foot(self) -> list[str]:
        answer = self.answer
        weak = len({row.id for row in (*answer.rows, *answer.beyond)} - {row.id for row in (*self.shown, *self.beyond)})
        return recall_reasons.foot(answer.health, answer.dropped, answer.reasons, weak)

    def print_json(self, stage: str, max_tokens: int | None, explain: bool) -> list[str]:
        from chitta.cli import recall_budget, recall_timeline

        answer, question = self.answer, self.question
        facts: dict[str, Any] = {"query": question.query, "strategy": question.strategy, "realm": question.realm}
        facts |= {"scope": answer.scope, "maxrel": answer.maxrel, "warming": answer.warming, "note": answer.note}
        if answer.persona is not None:
            facts["persona"] = {**answer.persona._asdict(), "line": answer.persona.line}
        if answer.dropped and not explain:
            facts["dropped"] = dict(answer.dropped)
        if explain:
            names = {row.id for row in (*self.shown, *self.beyond)}
            reasons = {name: dict(why) for name, why in answer.reasons.items() if name in names}
            facts |= {"reasons": reasons, "health": dict(answer.health), "dropped": dict(answer.dropped)}
        facts["rows"] = [self._row(row, at >= len(self.shown)) for at, row in enumerate([*self.shown, *self.beyond])]
        if stage == given.TIMELINE:
            moments = recall_timeline.timeline(self.settings, question, [*self.shown, *self.beyond])
            facts["rows"] = [moment._asdict() for moment in moments]
        value = recall_budget.trim_json(facts, max_tokens)
        output.as_json(value)
        return list(value.get("trimmed", ()))

    def _row(self, row: Row, beyond: bool) -> dict[str, Any]:
        from chitta.gateway.question import CONTEXT, FULL

        why = self.answer.reasons.get(row.id, {})
        facts = row._asdict()
        if self.question.depth < FULL:
            facts = {name: facts[name] for name in _GLANCE}
        by_arms = {"tier": tier(row), "arms": arms(row, self.question.strategy)}
        facts |= by_arms if self.answer.persona is None else {"tier": SUPPORTED, "arms": []}
        facts["beyond"] = beyond
        facts["state"] = why.get(recall_state.STATE, "")
        facts |= {name: why[name] for name in ("replaced", "doubles") if name in why}
        if self.question.depth >= CONTEXT:
            facts["around"] = dict(self.answer.around.get(row.id, {}))
        return facts


def _remarks(view: _View, trimmed: list[str], max_tokens: int | None) -> list[str]:
    """What a person should know beside the rows, a sentence each."""
    answer, told = view.answer, []
    found = bool(answer.rows or answer.beyond)
    if answer.warming:
        told.append(
            "chitta: the models are still loading, so this answer comes from words alone; ask again in a moment"
        )
    elif answer.newest and found:
        told.append(f"chitta: nothing was searched for: these are the {answer.note.removeprefix(LISTED)}")
    elif answer.note and found:
        told.append(f"chitta: this answer comes from words alone: {answer.note}")
    shown = view.shown or view.beyond
    if shown and (left_out := recall_empty.left_out(view.question, answer)):  # else the last sentence says it
        told.append(f"chitta: left out as asked: {', '.join(left_out)}")
    if trimmed:
        told.append(f"chitta: to stay within {output.plural(max_tokens or 0, 'token')}: {', '.join(trimmed)}")
    if analogy_answer.looks_like_one(view.question.query):
        told.append(f"hint: that looks like an analogy: --analogy {shlex.quote(view.question.query)}")
    return told


def _habit(settings: Settings, answer: Answer) -> Row | None:
    """The note that says the habit, as the one row of its answer."""
    from chitta.cli import bookshelf
    from chitta.wire.rows import Row

    if answer.persona is None:
        return None
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.notes([answer.persona.id]) if snapshot is not None else {}
    note = notes.get(answer.persona.id)
    if note is None:
        return None
    facts = {name: getattr(note, name) for name in Row._fields if name in note._fields}
    return Row(score=1.0, why=answer.note, **facts)
