"""One prompt through the real hook, as a harness would run it, and what can be told about it."""

from __future__ import annotations

import ast
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from chitta.cli import checkout, recall_history
from chitta.cli.failure import Failure
from chitta.sessions import TRIAL
from chitta.settings import Settings
from chitta.wire import codec

#: Seconds beyond the hook's own budget after which something is badly wrong.
_PATIENCE_S = 10.0
#: Seconds that a hook which is told to end has for ending its lanes.
_FAREWELL_S = 2.0
#: Lines of the recall log looked through for this prompt's own.
_LOG_LINES = 50
#: The store knows nothing of a prompt up to this relevance, where no candidate has this much of a chance.
_NOTHING_PERCENT, _NEAR_CONF = 5, 0.1
#: What is said of the best candidate by what it was dropped for; causes that say nothing of how near it is.
_UNSURE = "not sure enough"
_JUDGED = {
    "dup": "nothing new",
    "cap": "no room",
    "floor": "no evidence of its own, or only mentioned",
    "sup": "only notes that others replace, or that have expired",
    "quar": "only notes in quarantine or of other projects",
    "meta": "only records of what happened",
}
_WITHHELD = frozenset({"sup", "quar", "meta"})
_CANDIDATE = re.compile(
    r"""^chitta:\ (?:KNOWN|UNKNOWN|unmeasured)\ \S+\ (?P<id>'.*'|".*")\ conf=(?P<conf>-?[\d.]+)\ cos=\S+
    \ bm25=\S+\ shared=\S+\ small=\S+\ (?:dropped\ )?(?P<outcome>\S+)\n?""",
    re.MULTILINE | re.VERBOSE,
)


class Trial(NamedTuple):
    """What one prompt gave.

    ``block`` is the text that enters the model's context ("" for silence), ``reason`` a sentence on
    why there is none, ``record`` the prompt's line in the recall log (empty when there is none),
    ``wall_ms`` the whole hook as a process, which is what a person waits for.
    """

    prompt: str
    block: str
    reason: str
    record: dict[str, Any]
    wall_ms: float
    stdout: str
    stderr: str

    @property
    def admitted(self) -> dict[str, str]:
        """Lane tag by id of each note in the block."""
        return {str(item.get("id")): str(item.get("tag")) for item in self.record.get("admitted", [])}


def run(
    settings: Settings,
    prompt: str,
    *,
    cwd: str,
    realm: str = "",
    session: str = "",
    environ: Mapping[str, str] | None = None,
) -> Trial:
    """Give the prompt to the hook. Raises ``Failure`` when the hook breaks its contract.

    ``environ`` stands in for this process's environment. The hook is asked for a line on each
    candidate, to explain silence; unless the person has asked for them as well, they are not part
    of the trial's ``stderr``.
    """
    hook = checkout.hook()
    session = session or f"{TRIAL}{secrets.token_hex(8)}"
    payload = codec.dumps({"session_id": session, "cwd": cwd, "hook_event_name": "UserPromptSubmit", "prompt": prompt})
    environ = {**(os.environ if environ is None else environ), "CHITTA_HOME": settings.home}
    environ["CHITTA_ADMIT_DEBUG"] = "1"
    environ.setdefault("CHITTA_PYTHON", sys.executable)
    if realm:
        environ["CHITTA_REALM"] = realm
    budget_s = settings.integer("CHITTA_HOOK_BUDGET_MS") / 1000
    before = recall_history.size(settings)
    started = time.perf_counter()
    try:
        done = _run(hook, payload, environ, budget_s + _PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise Failure(
            f"the hook did not end within {budget_s + _PATIENCE_S:g} seconds", "run `chitta doctor`"
        ) from None
    except OSError as problem:
        raise Failure(f"{hook} cannot be run: {problem.strerror}", f"chmod +x {hook}") from None
    wall_ms = (time.perf_counter() - started) * 1000
    if done.returncode != 0:
        raise Failure(f"the hook ended with {done.returncode}; it must always end with 0", "run `chitta doctor`")
    stdout, said = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    stderr = said if settings.flag("CHITTA_ADMIT_DEBUG") else _CANDIDATE.sub("", said)
    record = _record(settings, session) if recall_history.size(settings) != before else {}
    block = context_of(stdout)
    reason = "" if block else why_silent(payload, record, settings, candidates_in(said))
    return Trial(prompt, block, reason, record, wall_ms, stdout, stderr)


def _run(hook: Path, payload: bytes, environ: Mapping[str, str], timeout: float) -> subprocess.CompletedProcess[bytes]:
    """The hook's whole run. Whatever ends it early lets the hook end its lanes first."""
    command = [str(hook), "claude"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ) as process:
        try:
            stdout, stderr = process.communicate(payload, timeout=timeout)
        except BaseException:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_FAREWELL_S)
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def context_of(stdout: str) -> str:
    """The text that the harness puts into the context. Raises ``Failure`` for output that it could not read."""
    if not stdout.strip():
        return ""
    try:
        return str(codec.loads(stdout.encode())["hookSpecificOutput"]["additionalContext"])
    except (ValueError, KeyError, TypeError):
        raise Failure("the hook printed something that a harness cannot read", stdout[:200]) from None


class Candidate(NamedTuple):
    """A line of CHITTA_ADMIT_DEBUG: a note that a lane found, and what became of it."""

    id: str
    conf: float
    outcome: str


def candidates_in(stderr: str) -> list[Candidate]:
    """What the hook said of each candidate, as :func:`chitta.merge.debug_lines` writes it."""
    found = []
    for line in _CANDIDATE.finditer(stderr):
        try:
            name = str(ast.literal_eval(line["id"]))
        except (ValueError, SyntaxError):
            name = line["id"]
        found.append(Candidate(name, float(line["conf"]), line["outcome"]))
    return found


def why_silent(payload: bytes, record: dict[str, Any], settings: Settings, candidates: Sequence[Candidate] = ()) -> str:
    """A sentence on why nothing entered the context, from the log line, the payload and the candidates."""
    if not record:
        return _why_no_record(payload, settings)
    lanes = record.get("lanes", {})
    failed = [
        f"{name} {facts.get('state')}"
        for name, facts in lanes.items()
        if facts.get("state") not in ("ok", "empty", "ablated")
    ]
    dropped = record.get("dropped", {})
    count = sum(int(facts.get("rows", 0)) for facts in lanes.values())
    if failed and len(failed) == sum(facts.get("state") != "ablated" for facts in lanes.values()):
        return f"no lane could answer: {', '.join(failed)}"
    if not count:
        return "no lane found a single candidate" + (f" ({', '.join(failed)})" if failed else "")
    return f"{_band(record, candidates)}: none of the {count} candidates passed ({_causes(dropped)})"


def _band(record: dict[str, Any], candidates: Sequence[Candidate]) -> str:
    best = max(candidates, key=lambda candidate: (candidate.outcome not in _WITHHELD, candidate.conf), default=None)
    judged = _JUDGED.get(best.outcome, _UNSURE) if best is not None else _UNSURE
    near = f"{judged}: best candidate {best.id} (conf {best.conf:.2f}), dropped for {best.outcome}" if best else ""
    if record.get("band") is None:
        return f"relevance was not measured; {near}" if near else "relevance was not measured"
    band = f"{record['band']} {record.get('percent')}%"
    nothing_near = best is None or best.conf < _NEAR_CONF
    if record["band"] != "KNOWN" and nothing_near and int(record.get("percent") or 0) <= _NOTHING_PERCENT:
        return f"{band}, nothing in the store looks near"
    return f"{band}, {near or _UNSURE}"


def _causes(dropped: dict[str, int]) -> str:
    return ", ".join(
        f"{cause} {count}" for cause, count in sorted(dropped.items(), key=lambda item: (-item[1], item[0]))
    )


def _why_no_record(payload: bytes, settings: Settings) -> str:
    from chitta.turn import prepare

    reason = prepare(payload, settings=settings, harness="claude").reason
    if reason:
        return f"nothing was asked of the store: {reason}"
    return "the hook ended without a word in its log; `chitta doctor` says why"


def _record(settings: Settings, session: str) -> dict[str, Any]:
    own = [line for line in recall_history.read_last(settings, _LOG_LINES) if line.get("session") == session]
    return own[-1] if own else {}
