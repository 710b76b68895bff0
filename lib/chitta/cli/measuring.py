"""What the measuring commands share: the extra they need, the stores they measure, settings to try."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chitta import settings as table
from chitta.cli import output
from chitta.cli.failure import Failure, Misuse, Unavailable, leave
from chitta.cli.realm_options import current_realm
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.cli.progress import Meter
    from chitta.evaluate.golden import Golden

#: Import names of the `eval` extra.
PACKAGES = ("ir_measures", "matplotlib", "scipy", "sklearn")

#: Settings that say where and how a measurement runs, not what it measures.
NOT_TRIED = frozenset({"CHITTA_REALM", "CHITTA_NO_DAEMON", "CHITTA_IDLE_TIMEOUT"})
#: Seconds after which the daemon of a measurement that was killed leaves.
IDLE_S = 120

GoldenFolders = Annotated[
    list[Path], typer.Argument(metavar="GOLDEN", help="Folders of golden prompts.", file_okay=False, exists=True)
]
NotesFile = Annotated[
    Path | None, typer.Option("--notes", metavar="PATH", help="The notes they are about: JSONL or a folder.")
]
OwnStore = Annotated[bool, typer.Option("--own-store", help="Measure over a copy of your own store.")]
AskedRealm = Annotated[
    str, typer.Option("--realm", metavar="REALM", help="Where the prompts are typed: with --own-store, this folder's.")
]
ReportFolder = Annotated[
    Path | None, typer.Option("--report", metavar="DIR", help="Write a page with tables and figures.", file_okay=False)
]
TriedSettings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting to measure with; more than once.")
]


@contextmanager
def measuring() -> Iterator[None]:
    """Turns what measuring can raise into sentences. Raises ``Unavailable`` where the extra is missing."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise Unavailable(
            f"measuring needs packages that are not installed ({', '.join(missing)})",
            "run `./install.sh --extra eval` in the checkout",
        )
    from chitta.evaluate.dataset import BadDataset
    from chitta.evaluate.fitting import TooFew
    from chitta.gateway.engine import Unavailable as NothingToAsk
    from chitta.models.registry import ModelUnavailable

    try:
        yield
    except BadDataset as problem:
        raise Misuse(str(problem), "docs/measuring.md shows the formats") from None
    except TooFew as problem:
        raise Failure(f"nothing can be fitted: {problem}", "docs/measuring.md says what a fit needs") from None
    except NothingToAsk as problem:
        raise Failure(str(problem), "`chitta import PATH` or `chitta reindex` fills it") from None
    except ModelUnavailable as problem:
        raise Unavailable(str(problem), problem.hint or "`chitta doctor` checks the models") from None


def forget_own_settings() -> Settings:
    """The person's settings; from here on this process and its children have none but which models there are.

    So that a measurement is the same whoever makes it.
    """
    from chitta.evaluate.bench_store import KEPT_VARIABLES, MODEL_VARIABLES

    own = table.load()
    for name in [name for name in os.environ if name.startswith("CHITTA_") and name not in KEPT_VARIABLES]:
        del os.environ[name]
    for name in MODEL_VARIABLES:
        if own.text(name) != table.BY_NAME[name].default:  # it may be from chitta.toml
            os.environ[name] = own.text(name)
    os.environ["CHITTA_IDLE_TIMEOUT"] = str(IDLE_S)
    signal.signal(signal.SIGTERM, leave)
    return own


def make_ready(*folders: Path | None) -> None:
    """Make the folders that results go to, before the work. Raises ``Misuse`` for one that cannot be made."""
    for folder in folders:
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as problem:
                raise Misuse(f"{folder} cannot be made: {problem.strerror}", "give another folder") from None


def tried(given: Sequence[str] | None) -> dict[str, str]:
    """``--set`` as a mapping. Raises ``Misuse`` for what is no setting, no value of it, or no matter of measuring."""
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or name not in table.BY_NAME:
            raise Misuse(f"{text!r} is no setting and value", "such as --set CHITTA_FUSION_ALPHA=0.3")
        if name in NOT_TRIED or table.BY_NAME[name].meaning.endswith("Environment only."):
            raise Misuse(f"{name} is not for trying", "a measurement has a store, a realm and a daemon of its own")
        try:
            table.parse(table.BY_NAME[name], value)
        except ValueError as problem:
            raise Misuse(str(problem), "docs/settings.md has every range") from None
        found[name] = value
    return found


def golden_store(
    folder: Path, notes: Path | None, own: Settings | None, realm: str, meter: Meter
) -> tuple[Golden, Settings]:
    """A golden set and the store that it is measured over: built from its notes, or the person's own.

    Prompts are typed in ``realm``, else in the current folder's for one's own store. Raises
    ``Misuse`` for gold notes that the store does not hold: each would count as a miss for ever.
    """
    from chitta.cli import bookshelf
    from chitta.evaluate.bench_store import build_store
    from chitta.evaluate.golden import expected_ids, notes_for, read_golden, read_notes

    place = None if own is not None else notes_for(folder, notes)
    golden = read_golden(folder, place)
    if own is not None:
        if not os.path.isdir(own.index_dir):
            raise Failure("your store has no index yet", "`chitta reindex` makes it")
        store = own
        golden = golden._replace(realm=realm or current_realm(own))
        output.tell(f"chitta: prompts are typed in the realm {golden.realm}")
    elif place is None:
        raise Misuse(f"{folder} says nothing of its notes", "give --notes PATH, or --own-store for your own")
    else:
        store = build_store(place.parent.name if place.name == "notes.jsonl" else place.stem, read_notes(place), meter)
        golden = golden._replace(realm=realm or golden.realm)
    with bookshelf.opened(store) as snapshot:
        held = snapshot.catalog.notes(expected_ids(golden)) if snapshot is not None else {}
    missing = [name for name in expected_ids(golden) if name not in held]
    if missing:
        some = output.harmless(", ".join(missing[:3])) + (" …" if len(missing) > 3 else "")
        raise Misuse(f"{len(missing)} gold notes are not in the store: {some}", "`chitta list` shows the ids")
    return golden, store
