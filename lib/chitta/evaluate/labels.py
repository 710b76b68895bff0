"""The signals of golden prompts, with labels: what a calibration is fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chitta.admission import calibration
from chitta.admission.tokens import clean_prompt
from chitta.cli.bookshelf import opened
from chitta.evaluate.golden import Case
from chitta.gateway.engine import Engine
from chitta.gateway.ranking import PAGE, Page
from chitta.index.indexer import Progress
from chitta.models.registry import load_embedder
from chitta.notes.realms import GLOBAL
from chitta.recall.evidence import note_signals, prompt_signals
from chitta.settings import Settings
from chitta.turn import focus

Signals = dict[str, float]

#: A block shows so many notes; a prompt is *right* when one of the first so many is gold.
SHOWN = 3


class Labelled(NamedTuple):
    """One prompt's signals. ``answerable``: the store holds gold for it; ``right``: gold is in the fused top three.

    ``notes`` and ``words_only`` are (signals, is gold) of the notes on its page, with meaning and from words alone.
    """

    case: Case
    signals: Signals
    answerable: bool
    right: bool
    notes: tuple[tuple[Signals, bool], ...]
    words_only: tuple[tuple[Signals, bool], ...]


def label_all(
    store: Settings, cases: Sequence[Case], realm: str = GLOBAL, progress: Progress | None = None
) -> list[Labelled]:
    """The signals of each case's last turn, typed in ``realm``, in their order.

    Raises ``ModelUnavailable`` and what the index raises.
    """
    with opened(store) as snapshot:
        fit = calibration.load(store)
        engine, wordy = (Engine(store, snapshot, embedder, None, fit) for embedder in (load_embedder(store), None))
        found = []
        for done, case in enumerate(cases, start=1):
            found.append(_label(engine, wordy, case, realm))
            if progress:
                progress("signals", done, len(cases))
    return found


def _label(engine: Engine, wordy: Engine, case: Case, realm: str) -> Labelled:
    query = focus(clean_prompt(case.turns[-1]))
    reading, page = engine.find(query, strategy="fused", limit=PAGE, realm=realm)
    _, words = wordy.find(query, strategy="fused", limit=PAGE, realm=realm)
    ordered = [page.evidence[name] for name, _ in page.plain[:PAGE] if name in page.evidence]
    return Labelled(
        case,
        prompt_signals(ordered, reading.mass, len(reading.terms.words)),
        answerable=bool(case.gold),
        right=any(name in case.gold for name, _ in page.ranking[:SHOWN]),
        notes=_rows(page, case),
        words_only=_rows(words, case),
    )


def _rows(page: Page, case: Case) -> tuple[tuple[Signals, bool], ...]:
    return tuple(
        (note_signals(page.evidence[name]), name in case.gold)
        for name, _ in page.plain[:PAGE]
        if name in page.evidence and name not in case.maybe
    )
