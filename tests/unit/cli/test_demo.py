from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import daemon_client
from chitta import settings as table
from chitta.cli import checkout, demo
from chitta.cli.demo import Sample, came_true
from chitta.cli.trial import Trial
from chitta.models import registry

Run = Callable[..., Any]


def result(block: str, **admitted: str) -> Trial:
    record = {"admitted": [{"id": name, "tag": tag} for name, tag in admitted.items()]}
    return Trial("prompt", block, "", record, 1.0, "", "")


@pytest.mark.parametrize(
    ("expect", "given", "true"),
    [
        ("silence", result(""), True),
        ("silence", result("block", n="kw"), False),
        ("answer", result("block", n="kw"), True),
        ("paraphrase", result("block", other="sem"), False),
        ("answer", result(""), False),
        ("correction", result("block", n="corrk"), True),
        ("correction", result("block", n="kw"), False),
    ],
)
def test_whether_a_prompt_went_as_expected(expect: str, given: Trial, true: bool) -> None:
    assert came_true(Sample("p", expect, "n"), given) is true


def test_the_shipped_prompts_are_whole_and_name_notes_that_are_there() -> None:
    realm, prompts = demo.shipped_prompts()
    names = {path.stem for path in (demo._samples_folder() / "notes").rglob("*.md")}
    assert realm and {sample.expect for sample in prompts} <= set(demo.HEADINGS)
    assert all(sample.note in names for sample in prompts if sample.expect != "silence")


def test_the_store_is_private_and_gone_afterwards_and_the_environment_is_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:mine")
    before = dict(os.environ)
    with pytest.raises(ZeroDivisionError), demo._throw_away_store() as settings:
        home = Path(settings.home)
        assert home.stat().st_mode & 0o777 == 0o700 and home != Path(before["CHITTA_HOME"])
        assert "CHITTA_REALM" not in os.environ
        assert daemon_client.ensure(settings, 60)
        pid = daemon_client.call(settings, "ping")["pid"]
        raise ZeroDivisionError
    assert not home.exists() and dict(os.environ) == before
    state = ["ps", "-o", "stat=", "-p", str(pid)]
    end = time.monotonic() + 60
    while subprocess.run(state, capture_output=True, text=True, check=False).stdout.strip()[:1] not in ("", "Z"):
        assert time.monotonic() < end  # gone, or only waiting to be reaped
        time.sleep(0.02)


@pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")
def test_the_demo_goes_as_it_should(chitta: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CHITTA_NO_DAEMON", "CHITTA_EMBED_MODEL"):
        monkeypatch.delenv(name)
    limits = ("CHITTA_HOOK_BUDGET_MS", "CHITTA_LANE_LIMIT_MS", "CHITTA_HYBRID_LIMIT_MS")
    for name in limits:
        monkeypatch.setenv(name, "60000")  # no lane is late, however busy this machine is
    monkeypatch.setattr(demo, "_KEPT_VARIABLES", (*demo._KEPT_VARIABLES, *limits))
    if any(fact.problem for fact in registry.describe(table.load())):
        pytest.skip("the shipped models are not installed")
    ran = chitta("demo")
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.count("as expected") == 4 and "NOT as expected" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    assert not (own_home / ".chitta").exists()
