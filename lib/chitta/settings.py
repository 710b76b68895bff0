"""Every setting of chitta, in one table.

A setting has one name (``CHITTA_…``), one kind, one default and one line of meaning. It is
read from the environment first, then from ``$CHITTA_HOME/chitta.toml`` (the same names, with
or without the prefix), then from the default. A malformed value never stops anything: the
default is used and the problem is kept in :attr:`Settings.problems` for ``chitta doctor``.

docs/settings.md is generated from :data:`TABLE` (``python -m chitta.settings``).

This module is imported on the prompt path when the daemon is away, so it stays on modules
that cost next to nothing to import.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

Value = str | int | float | bool

#: Bytes of a ``chitta.toml``; one that gives every setting has a tenth of it.
_MOST_FILE_BYTES = 100_000
#: Dots of one of its lines; the time that a key takes to be read grows with the square of them: 8 s for 20,000.
_MOST_DOTS = 100


class Setting(NamedTuple):
    """One row of the table: ``kind`` is ``text``, ``integer``, ``real`` or ``flag``."""

    name: str
    kind: str
    default: Value
    meaning: str
    low: float | None = None
    high: float | None = None
    clamped: bool = False


def _integer(name: str, default: int, meaning: str, low: int, high: int) -> Setting:
    return Setting(name, "integer", default, meaning, low, high)


def _real(name: str, default: float, meaning: str, low: float, high: float) -> Setting:
    return Setting(name, "real", default, meaning, low, high)


def _alpha(name: str, default: float, meaning: str) -> Setting:
    """How far a boost may swing; a number outside 0 to 2 counts as the nearer end."""
    return Setting(name, "real", default, meaning, 0.0, 2.0, clamped=True)


def _flag(name: str, default: bool, meaning: str) -> Setting:
    return Setting(name, "flag", default, meaning)


def _text(name: str, default: str, meaning: str) -> Setting:
    return Setting(name, "text", default, meaning)


TABLE: tuple[Setting, ...] = (
    # Where things are
    _text("CHITTA_HOME", "~/.chitta", "The store: notes, index, state. Environment only."),
    _text("CHITTA_RUN_DIR", "", "Folder of the daemon's socket; else `$CHITTA_HOME/run`. Environment only."),
    _text("CHITTA_PYTHON", "", "Interpreter of lanes and merge; else install.sh's. Environment only."),
    _text("CHITTA_REALM", "", "Realm to use instead of the one found from the working directory."),
    # The hook
    _integer("CHITTA_HOOK_BUDGET_MS", 6000, "Wall-clock budget of the whole hook, from its first line.", 200, 600_000),
    _integer("CHITTA_LANE_LIMIT_MS", 2000, "Longest a lane may take; a later one counts as late.", 50, 600_000),
    _integer("CHITTA_HYBRID_LIMIT_MS", 3000, "Longest the hybrid and cross-realm lanes may take.", 50, 600_000),
    _integer("CHITTA_STDIN_WAIT_MS", 1500, "Longest wait for the harness to write its payload.", 50, 60_000),
    _flag("CHITTA_HEADLESS", False, "Recall nothing: for agents that chitta itself starts. Environment only."),
    _text("CHITTA_ABLATE_LANES", "", "Lane tags to leave out for this process tree, such as `sem,hyb`."),
    _integer("CHITTA_LANE_K", 10, "Rows asked of each lane.", 1, 100),
    # The start of a session
    _integer("CHITTA_SESSION_BUDGET_MS", 10_000, "Wall-clock budget of a session's start.", 500, 600_000),
    _integer("CHITTA_SUBAGENT_BUDGET_MS", 5000, "Wall-clock budget of a subagent's start.", 500, 600_000),
    _flag("CHITTA_SLOTS", False, "At a session's start show the notes whose front matter has a `slot`, such as `now`."),
    _flag("CHITTA_TIERED_INJECT", False, "At a session's start point to conventions, and prefer fitting skills."),
    _flag("CHITTA_ECONOMICS", False, "At a session's start say what the notes cost to read and to find out again."),
    # Capture
    _flag("CHITTA_CAPTURE", True, "Keep what the capture hook sees, where it is wired; 0 stops it."),
    # Admission
    _integer("CHITTA_MAX_MEMORIES", 3, "Most memories in one block.", 1, 20),
    _integer("CHITTA_MAX_OUTPUT_CHARS", 1500, "Most characters in one block.", 200, 10_000),
    _real("CHITTA_KW_SINGLE_TOKEN_MIN", 13.0, "Least BM25 of a keyword row in a turn of one telling word.", 0, 1000),
    _integer("CHITTA_C2_SMALL_REALM_MAXN", 200, "Most notes of a realm that counts as small.", 0, 100_000),
    _flag("CHITTA_UNKNOWN_SILENCE", True, "Under UNKNOWN, drop what has no exact tie to the prompt."),
    _flag("CHITTA_UNKNOWN_LINE", False, "Under UNKNOWN with nothing to show, tell the model so in one line."),
    _flag("CHITTA_ADMIT_DEBUG", False, "One line on stderr per candidate: lane, confidence, verdict, cause."),
    # The daemon
    _flag("CHITTA_NO_DAEMON", False, "Never ask or start the daemon: each lane loads what it needs, slower."),
    _integer("CHITTA_IDLE_TIMEOUT", 1800, "Seconds without a request before the daemon leaves.", 1, 31_536_000),
    _integer("CHITTA_WARM_WAIT_MS", 1200, "Longest a lane waits for models that are loading.", 0, 60_000),
    # Models
    _text("CHITTA_EMBED_MODEL", "bge-small-en", "Embedder: a shipped or sentence-transformers name, or a folder."),
    _flag("CHITTA_QUERY_INSTRUCTION", True, "Search with the instruction that the embedder was trained to read first."),
    _integer("CHITTA_EMBED_THREADS", 1, "Threads for embedding a prompt; indexing uses all cores.", 1, 64),
    _text("CHITTA_RERANK_MODEL", "ms-marco-minilm-l12", "Reranker: likewise; `none` turns it off."),
    _text("CHITTA_RERANK_ONNX_DIR", "", "Folder of a cross-encoder's ONNX files; preferred when set."),
    _integer("CHITTA_RERANK_THREADS", 2, "Threads of the reranker.", 1, 64),
    _integer("CHITTA_RERANK_MAX_LEN", 128, "Longest pair that the reranker reads, in tokens.", 16, 512),
    _integer("CHITTA_RERANK_BUDGET_MS", 0, "The reranker's time in a prompt; 0: only `chitta recall`.", 0, 60_000),
    # Ranking
    _text("CHITTA_FUSION", "convex", "How arms are joined: `convex` (stretched scores) or `rrf` (reciprocal ranks)."),
    _real("CHITTA_FUSION_ALPHA", 0.5, "Weight of meaning against words when hybrid joins its arms.", 0.0, 1.0),
    _integer("CHITTA_RRF_K", 15, "Constant of reciprocal rank fusion; smaller trusts first places more.", 1, 10_000),
    _flag("CHITTA_QUERY_CLASSES", False, "Weigh the arms by the kind of question."),
    _real("CHITTA_TEMPORAL_WEIGHT", 0.6, "Weight of notes written in a time that the question names; 0: off.", 0, 2),
    _real("CHITTA_GRAPH_WEIGHT", 0.0, "Weight of notes that links and shared names lead to; 0: off.", 0, 2),
    _real("CHITTA_ASSOCIATIVE_WEIGHT", 0.0, "Weight of associative (Hopfield) recall; 0: off.", 0, 2),
    _real("CHITTA_HDC_WEIGHT", 0.0, "Weight of hyperdimensional recall; 0: off.", 0, 2),
    _text("CHITTA_ARM_FLOORS", "", "Least share of the question's words in an arm's notes: `keyword=0.2,graph=0.1`."),
    _flag("CHITTA_EVENT_ORDER", False, "Raise the oldest or newest where a question asks for the first or latest."),
    _real("CHITTA_ENTITY_BOOST", 0.0, "Most that links to the question's names may raise a note; 0: off.", 0, 2),
    _flag("CHITTA_CROSS_CHANNEL", False, "Raise what kinds of evidence agree on, for questions of several steps."),
    _alpha("CHITTA_CONFIDENCE_ALPHA", 0.2, "Swing of the note's own confidence."),
    _alpha("CHITTA_RECENCY_ALPHA", 0.2, "Swing of the note's age."),
    _alpha("CHITTA_TAG_ALPHA", 0.2, "Swing of the tags asked for."),
    _alpha("CHITTA_PROOF_ALPHA", 0.1, "Swing of how often the note proved right."),
    _alpha("CHITTA_PROJECT_ALPHA", 0.2, "Swing of being from the same project, where several are asked."),
    _alpha("CHITTA_DOMAIN_ALPHA", 0.2, "Swing of the domain asked for."),
    _alpha("CHITTA_AUTHORITY_ALPHA", 0.1, "Swing of the note's authority."),
    _alpha("CHITTA_SPECULATIVE_ALPHA", 0.2, "Swing of being marked speculative."),
    _flag("CHITTA_COLLAPSE_DUPLICATES", True, "Show of notes that say the same only the best."),
    _flag("CHITTA_SETTLE_CONTRADICTIONS", True, "Put a note below the one that replaces it."),
    _real("CHITTA_MMR_LAMBDA", 1.0, "Relevance against novelty in `chitta recall`; 1: relevance alone.", 0.0, 1.0),
    _integer("CHITTA_REPLICATION_MAX", 0, "Most notes of one source or content in an answer; 0: any number.", 0, 1000),
    _real("CHITTA_MIN_OVERLAP", 0.0, "Least share of a question's words in its best notes; else nothing.", 0.0, 1.0),
    _flag("CHITTA_INCLUDE_SUPERSEDED", False, "Show notes that others have replaced, too."),
    _text("CHITTA_TODAY", "", "Date (`2026-01-31`) to count ages from instead of today's, for measurements."),
    _flag("CHITTA_RECALL_CACHE", True, "Answer a question asked a moment ago from what was found then."),
    # Drain
    _flag("CHITTA_DRAIN", False, "At a session's start read the queued transcripts, in the background."),
    _text("CHITTA_DRAIN_CMD", "", "Agent command to read transcripts with, such as `claude -p`; else fixed rules."),
    _integer("CHITTA_DRAIN_DAILY", 20, "Most transcripts read in a day.", 1, 1000),
    _integer("CHITTA_DRAIN_RUN", 3, "Most transcripts read in one run.", 1, 1000),
    _integer("CHITTA_DRAIN_TIME_S", 300, "Longest the agent command may take for one transcript.", 1, 3600),
    _integer("CHITTA_DRAIN_ANSWER_BYTES", 64_000, "Most bytes of the agent's answer.", 1000, 999_999),
    _integer("CHITTA_DRAIN_LEAST_BYTES", 2000, "Least new bytes for which a transcript is read.", 0, 10_000_000),
    _integer("CHITTA_DRAIN_MOST_BYTES", 200_000_000, "A larger transcript is passed over.", 10_000, 999_999_999),
    # Curation
    _integer("CHITTA_DECAY_DAYS", 30, "Days after which `chitta archive` lets unused captured notes fade.", 1, 36_500),
    # Logs
    _flag("CHITTA_LOG_PROMPTS", False, "Keep the prompt's text in the recall log, and with gaps."),
    _flag("CHITTA_GAP_LOG", True, "Keep the telling words (sorted) of what found nothing, and of recall's questions."),
    _flag("CHITTA_RECALL_PROFILE", False, "Show times in the block and phase timers on stderr."),
)

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in TABLE}

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


def parse(setting: Setting, raw: object) -> Value:
    """The value that ``raw`` means for ``setting``.

    Raises ``ValueError`` with a sentence for people when it means none.
    """
    if setting.kind == "flag":
        if isinstance(raw, bool):
            return raw
        word = str(raw).strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise ValueError(f"{setting.name}: {raw!r} is neither 1 nor 0")
    if setting.kind == "text":
        return str(raw)
    try:
        text = str(raw).strip()
        if not text.isascii():  # Python also reads the digits of other scripts, which the hook does not
            raise ValueError
        number = float(text)
    except ValueError:
        raise ValueError(f"{setting.name}: {raw!r} is not a number") from None
    if setting.clamped and number == number:
        return min(max(number, setting.low or 0.0), setting.high or number)
    if setting.low is not None and not setting.low <= number <= (setting.high or number):
        raise ValueError(f"{setting.name}: {raw} is outside {setting.low:g} to {setting.high:g}")
    if setting.kind == "integer":
        if number != int(number):
            raise ValueError(f"{setting.name}: {raw} is not a whole number")
        return int(number)
    return number


class Settings:
    """All values of one process or one request, with typed access by full name."""

    __slots__ = ("_values", "problems")

    def __init__(self, values: Mapping[str, Value], problems: list[str] | None = None) -> None:
        self._values = dict(values)
        self.problems = problems or []

    def text(self, name: str) -> str:
        return str(self._values[name])

    def integer(self, name: str) -> int:
        return int(self._values[name])

    def real(self, name: str) -> float:
        return float(self._values[name])

    def flag(self, name: str) -> bool:
        return bool(self._values[name])

    def as_line(self) -> str:
        """Every value, in one line: the same for the same settings."""
        return repr(sorted(self._values.items()))

    def words(self, name: str) -> tuple[str, ...]:
        """A comma list as its trimmed, non-empty, lower-cased parts."""
        return tuple(part.strip().lower() for part in self.text(name).split(",") if part.strip())

    @property
    def home(self) -> str:
        """Absolute path of the store; a relative one is below the person's folder, never below a project's."""
        return os.path.abspath(os.path.join(os.path.expanduser("~"), os.path.expanduser(self.text("CHITTA_HOME"))))

    @property
    def run_dir(self) -> str:
        """Folder of the daemon's socket and lock."""
        return self.text("CHITTA_RUN_DIR") or os.path.join(self.home, "run")

    @property
    def state_dir(self) -> str:
        return os.path.join(self.home, "state")

    @property
    def index_dir(self) -> str:
        return os.path.join(self.home, "index")

    @property
    def notes_dir(self) -> str:
        return os.path.join(self.home, "notes")


def load(environ: Mapping[str, str] | None = None) -> Settings:
    """Read every setting: the environment wins over ``chitta.toml``, which wins over defaults."""
    environ = os.environ if environ is None else environ
    values: dict[str, Value] = {setting.name: setting.default for setting in TABLE}
    problems: list[str] = []
    if environ.get("CHITTA_HOME"):
        values["CHITTA_HOME"] = environ["CHITTA_HOME"]
    home = Settings(values).home
    for name, raw in _from_file(os.path.join(home, "chitta.toml"), problems).items():
        _take(values, name, raw, problems)
    for name, setting in BY_NAME.items():
        if name in environ and (environ[name] != "" or setting.default == ""):
            _take(values, name, environ[name], problems)
    return Settings(values, problems)


def _take(values: dict[str, Value], name: str, raw: object, problems: list[str]) -> None:
    try:
        values[name] = parse(BY_NAME[name], raw)
    except ValueError as problem:
        problems.append(f"{problem}; using {BY_NAME[name].default!r}")


def _from_file(path: str, problems: list[str]) -> dict[str, object]:
    """The known keys of ``chitta.toml``, by full name; an unreadable file is a problem, not an error."""
    if not os.path.exists(path):
        return {}
    # A FIFO would hold the prompt, a device never end, and parsing megabytes takes longer than a budget.
    if not os.path.isfile(path) or os.path.getsize(path) > _MOST_FILE_BYTES:
        problems.append(f"{path}: no file of at most {_MOST_FILE_BYTES} bytes; ignored")
        return {}
    try:
        try:
            import tomllib
        except ImportError:  # Python 3.10
            import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]
        with open(path, "rb") as file:
            raw_file = file.read(_MOST_FILE_BYTES + 1)
        if any(line.count(b".") > _MOST_DOTS for line in raw_file.splitlines()):
            raise ValueError(f"a line has more than {_MOST_DOTS} dots")
        table = tomllib.loads(raw_file.decode())
    except (OSError, ValueError, ImportError, RecursionError) as problem:
        problems.append(f"{path}: {problem}; ignored")
        return {}
    found: dict[str, object] = {}
    for key, raw in table.items():
        name = key.upper() if key.upper().startswith("CHITTA_") else f"CHITTA_{key.upper()}"
        if name in BY_NAME and not BY_NAME[name].meaning.endswith("Environment only."):
            found[name] = raw
        else:
            problems.append(f"{path}: {key[:80]} is no setting that this file can give; ignored")
    return found


def document() -> str:
    """docs/settings.md, made from the table."""
    lines = [
        "# Settings",
        "",
        "Made from `lib/chitta/settings.py` by `python -m chitta.settings`; do not edit by hand.",
        "The environment wins over `$CHITTA_HOME/chitta.toml` (the same names, with or without the prefix).",
        "A malformed value falls back to its default and is reported by `chitta doctor`.",
        "",
        "| variable | kind | default | range | meaning |",
        "|---|---|---|---|---|",
    ]
    for setting in TABLE:
        default = {True: "1", False: "0"}[bool(setting.default)] if setting.kind == "flag" else setting.default
        span = "" if setting.low is None else f"{setting.low:g} to {setting.high:g}"
        shown = f"`{default}`" if default != "" else ""
        lines.append(f"| `{setting.name}` | {setting.kind} | {shown} | {span} | {setting.meaning} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(document(), end="")
