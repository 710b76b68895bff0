"""One run of a client: a home, a store with notes, a project, a stand-in for the model.

``tests/e2e/run`` installs the clients and says in the environment where they are, or why they are not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from clients import CLIENTS, ROOT, Client, variables
from dialects import ToolCall
from stand_in import Request, StandIn

#: Seconds for one prompt of a client, with its hooks, on a busy machine.
LIMIT_S = 120.0
#: Seconds for a daemon to have its models loaded.
WARM_S = 60.0

#: In the note that PROMPT asks for, and in that of the project; neither stands in anything the tests say.
PROMPT_MARK = "heron-4711"
PROJECT_MARK = "osprey-2208"
# In the note's own words, so that it is found while the models are still loading.
PROMPT = "Why does the stripe webhook answer 400 with SignatureVerificationError? Is the raw body parsed first?"
#: No note knows anything about this.
OTHER_PROMPT = "Please translate the poem about autumn leaves into Portuguese."

NOTES = [
    {
        "title": f"Stripe webhook needs the raw body ({PROMPT_MARK})",
        "text": f"{PROMPT_MARK}: the stripe webhook answers 400 with SignatureVerificationError when the body was"
        " parsed before the signature was checked; mount express.raw() on that route, ahead of express.json().",
        "kind": "bug-fix",
    },
    {
        "title": f"Grafana dashboards provisioning reloads on a folder's change ({PROJECT_MARK})",
        "text": f"{PROJECT_MARK}: grafana dashboards provisioning reads its folder again only when the folder itself is"
        " written; touch the provisioning folder after a dashboard file was edited, then count the dashboards.",
        "kind": "insight",
    },
    {
        "title": "Rebase the last three commits onto main",
        "text": "git rebase --onto main feature~3 feature moves the last three commits of a branch.",
        "kind": "reference",
    },
    {
        "title": "Postgres upsert keeps one row",
        "text": "INSERT … ON CONFLICT (id) DO UPDATE keeps one row; xmax = 0 tells an insert from an update.",
        "kind": "pattern",
    },
]
#: Commits of the project, the earliest first.
COMMITS = (
    "Add the grafana provisioning folder",
    "Provision the dashboards of the payments team",
    "Reload grafana dashboards when the provisioning folder changes",
)


@dataclass
class Run:
    """What came of one prompt: the client's exit code and output, and what the model was asked."""

    code: int
    out: str
    err: str
    asked: list[Request]

    def told(self) -> str:
        """For a failed assertion: what the client said and how often it asked."""
        return f"exit {self.code}, {len(self.asked)} requests\n{self.out[-2000:]}\n{self.err[-2000:]}"


@dataclass
class Store:
    """A store of notes and its daemon."""

    home: Path
    environ: dict[str, str]

    def chitta(self, *arguments: str, text: str | None = None, check: bool = True) -> str:
        done = subprocess.run(
            [str(ROOT / "bin" / "chitta"), *arguments],
            env=self.environ,
            input=text,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0 or not check, f"chitta {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def daemon(self) -> bool:
        """Whether a daemon runs."""
        return (self.home / "run" / "daemon.sock").exists()

    def warm(self) -> None:
        """Start the daemon and wait until its models are loaded."""
        self.chitta("start")
        end = time.monotonic() + WARM_S
        while "warming" in (said := self.chitta("recall", PROMPT)) or PROMPT_MARK not in said:
            assert time.monotonic() < end, f"the daemon does not get warm: {said}"
            time.sleep(0.2)

    def log(self) -> str:
        """The lines of the recall log."""
        path = self.home / "state" / "recall-log.jsonl"
        return path.read_text(encoding="utf-8") if path.exists() else "no recall log"


@dataclass
class Desk:
    """A client set up in a home of its own, ready to run prompts in a project."""

    client: Client
    program: Path
    home: Path
    project: Path
    stand_in: StandIn
    store: Store
    environ: dict[str, str] = field(default_factory=dict)

    def run(self, prompt: str, plan: ToolCall | None = None) -> Run:
        """Run one prompt; the model calls ``plan`` first where it is given."""
        before = len(self.stand_in.asked())
        self.stand_in.plan_call(plan)
        process = subprocess.Popen(
            self.client.command(self.program, prompt),
            env=self.environ,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"{self.client.name} did not end within {LIMIT_S:g} seconds\n{out[-2000:]}\n{err[-2000:]}")
        return Run(process.returncode, out, err, self.stand_in.asked()[before:])


@pytest.fixture(scope="session")
def installed() -> Path:
    """The folder into which npm has installed the clients; skips where it could not."""
    if why := os.environ.get("E2E_SKIP"):
        pytest.skip(why)
    if "E2E_CLIENTS" not in os.environ:
        pytest.skip("no clients: start these tests with tests/e2e/run")
    return Path(os.environ["E2E_CLIENTS"])


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.close()


@pytest.fixture
def home() -> Iterator[Path]:
    """A client's home, with a path short enough for any socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="e2e.", dir="/tmp")).resolve()
    yield folder
    end_leftovers(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """A store of a few notes, without a daemon."""
    folder = home / "store"
    found = Store(folder, variables(home, folder))
    first, *rest = NOTES
    found.chitta("remember", first["text"], "--title", first["title"], "--kind", first["kind"], "--global")
    lines = home / "notes.jsonl"
    lines.write_text("".join(json.dumps(note) + "\n" for note in rest), encoding="utf-8")
    found.chitta("import", str(lines), "--global")
    found.chitta("reindex")
    found.chitta("stop", check=False)
    assert not found.daemon()
    yield found
    found.chitta("stop", check=False)
    assert not found.daemon(), "the daemon is still there"


@pytest.fixture
def project(home: Path) -> Path:
    """A repository whose name and commits speak of PROJECT_MARK's note."""
    folder = home / "grafana-dashboards-provisioning"
    folder.mkdir()
    git = [
        "git",
        "-C",
        str(folder),
        "-c",
        "user.name=e2e",
        "-c",
        "user.email=e2e@invalid",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=dashboards"], check=True)
    for subject in COMMITS:
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", subject], check=True)
    return folder


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Client:
    """The client of the module's CLIENT, or of a test's own parameter."""
    name = getattr(request, "param", None) or request.module.CLIENT
    return CLIENTS[name]


@pytest.fixture
def desk(client: Client, installed: Path, home: Path, project: Path, stand_in: StandIn, store: Store) -> Desk:
    program = client.program(installed)
    if program is None:
        pytest.skip(f"npm has no {client.name} for this system")
    environ = {**variables(home, store.home), **client.configure(home, stand_in.url)}
    return Desk(client, program, home, project, stand_in, store, environ)


def end_leftovers(home: Path) -> None:
    """End, each by its id, what a client has left running in this home (Linux alone can tell)."""
    wanted = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)
        except (OSError, ValueError):  # gone, or another user's
            continue


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The line that `tests/run` sums up."""
    counts = {kind: len(terminalreporter.stats.get(kind, [])) for kind in ("passed", "failed", "error", "skipped")}
    failed = counts["failed"] + counts["error"]
    terminalreporter.write_line(f"{counts['passed']} passed, {failed} failed, {counts['skipped']} skipped")
