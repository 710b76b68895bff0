from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chitta import recall_log
from chitta import settings as table
from chitta.admission import policy
from chitta.admission.gate import admit
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

Run = Callable[..., Any]
REALM = "project:h/o/n"
HYBRID = policy.BY_LANE["hybrid"]


def note(name: str, conf: float, **fields: Any) -> Row:
    sound: dict[str, Any] = {"kind": "insight", "realm": REALM, "title": name, "cos": 0.8, "bm25": 3.0}
    return Row(name, conf, conf=conf, **{**sound, "shared": ("webhook",), **fields})


class Bands:
    threshold = 0.7

    def percent(self, maxrel: float) -> int:
        return round(100 * maxrel)


def prompt(
    number: int,
    *rows: Row,
    session: str = "s",
    maxrel: float = 0.9,
    lane: str = "hybrid",
    **environ: str,
) -> str:
    """A prompt as the merge leaves it in the log; the name of its block."""
    request = Request(
        "my words on a webhook", "q", tokens=("webhook", "stripe"), session=session, turn=number, realm=REALM
    )
    header = LaneResult("hybrid", "ok", 7.0, Header("hybrid", maxrel=maxrel, size=3_000))
    results = [header._replace(rows=rows)] if lane == "hybrid" else [header, LaneResult(lane, "ok", 9.0, None, rows)]
    settings = table.load({**environ, "CHITTA_HOME": table.load().home})
    verdict = admit(request, results, seen=(), settings=settings, calibration=Bands())
    line = recall_log.entry(
        request, results, verdict, settings=settings, total_ms=80.0, now=1e9 + number, threshold=Bands.threshold
    )
    recall_log.append(settings.state_dir, line)
    return str(line["block"])


def test_the_last_is_the_last_prompt_and_a_start_is_told_as_one(chitta: Run) -> None:
    block = prompt(1, note("one", 0.9))
    line = {"event": "SessionStart", "time": "2026-01-01T00:00:00Z", "block": "feedfeedfeed", "session": "s",
            "realm": REALM, "harness": "claude", "admitted": [{"id": "one", "tag": "hyb"}], "chars": 400,
            "lanes": {}}  # fmt: skip
    recall_log.append(table.load().state_dir, line)
    assert f"block {block}" in chitta("explain", "last").out
    for words in (("explain", "start"), ("explain", "feedfeedfeed")):
        out = chitta(*words).out
        assert out.startswith("A session began, and was given 1 note, 400 characters")
        assert "band" not in out and "Silent" not in out and "turn " not in out.replace("turn None", "")


def test_a_prompt_is_explained_whole(chitta: Run) -> None:
    said = chitta("remember", "Stripe webhooks need the raw body.", "--title", "Raw body", "--realm", REALM, "--json")
    name = said.value["id"]
    prompt(1, note(name, 0.91), note("away", 0.04))
    ran = chitta("explain")
    assert (ran.code, ran.err) == (0, "")
    for words in (
        "not kept; CHITTA_LOG_PROMPTS=1",
        "2001-09-09T01:46:41Z",
        REALM,
        "claude, session s, turn 1",
        "KNOWN 90%: the chance that the store knows of this, 0.9, reaches the threshold 0.7",
        "2 distinctive tokens",
    ):
        assert words in ran.out
    lines = ran.out.splitlines()
    (shown,) = (line for line in lines if line.startswith("admitted"))
    (other,) = (line for line in lines if line.startswith("dropped"))
    assert shown.split()[:8] == ["admitted", "hyb", "0.91", "0.80", "3.0", "1", "Raw", "body"] and shown.endswith(
        "cosine 0.80, 1 shared word"
    )
    assert "away (gone)" in other and other.endswith(f"conf 0.04 is below the lane's floor {HYBRID.conf_floor:g}")
    assert any(line.split()[:3] == ["hybrid", "hyb", "ok"] for line in lines) and "Silent" not in ran.out


def test_on_a_terminal_the_reason_stands_below_its_note(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt(1, note("one", 0.9), note("two", 0.04))
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = chitta("explain").out
    lines = [line.strip() for line in out.splitlines()]
    place = next(at for at, line in enumerate(lines) if line.startswith("dropped conf"))
    assert lines[place].split()[2:4] == ["hyb", "two"] and lines[place + 1].startswith("conf 0.04, cos 0.80, bm25 3.0")
    assert lines[place + 2] == f"conf 0.04 is below the lane's floor {HYBRID.conf_floor:g}"


def test_silence_comes_first(chitta: Run) -> None:
    prompt(1, note("a", 0.31), maxrel=0.2)
    ran = chitta("explain")
    assert ran.out.startswith("Silent: UNKNOWN 20%, not sure enough: best candidate a (conf 0.31), dropped for unk")
    assert "is below the threshold 0.7" in ran.out and "silenced by UNKNOWN: beyond, correction, scoped" in ran.out
    assert f"needs a shared token and conf ≥ {HYBRID.unknown_conf_floor:g} (has 0.31)" in ran.out


def test_it_is_found_by_block_session_and_note(chitta: Run) -> None:
    first = prompt(1, note("one", 0.9), session="early")
    second = prompt(2, note("one", 0.9), note("two", 0.1))
    third = prompt(3, note("three", 0.9), session="late")

    def block(*words: str) -> str:
        return str(chitta("explain", *words, "--json").value["block"])

    assert block() == block("last") == block("late") == block("three") == third
    assert block("one") == block("two") == block("s") == second
    assert block(first) == block("early") == block("one", "--session", "early") == first
    assert block("last", "--session", "s") == second


def test_the_beginning_of_a_block_is_enough_when_it_is_the_only_one(chitta: Run) -> None:
    for name in ("abcd00000001", "abcd00000002", "ef0000000003"):
        recall_log.append(table.load().state_dir, {"block": name, "lanes": {}, "admitted": []})
    assert chitta("explain", "ef00", "--json").value["block"] == "ef0000000003"
    ran = chitta("explain", "abcd")
    assert ran.code == 2 and "2 blocks begin with 'abcd'" in ran.err and "abcd00000001, abcd00000002" in ran.err
    assert chitta("explain", "ef").code == 1  # too short to be meant as one


@pytest.mark.parametrize("words", [[], ["last"], ["any"], ["last", "--session", "none"]])
def test_without_a_log_there_is_a_hint(chitta: Run, words: list[str]) -> None:
    ran = chitta("explain", *words)
    assert ran.code == 1 and ran.out == "" and ran.err.startswith("chitta: ") and "\nhint: " in ran.err


def test_what_is_not_in_the_log_is_nothing(chitta: Run) -> None:
    prompt(1, note("one", 0.9))
    ran = chitta("explain", "other")
    assert ran.code == 1 and "no block, session or candidate 'other'" in ran.err and "\nhint: " in ran.err
    assert chitta("explain", "last", "--session", "t").code == 1


def test_the_best_dozen_and_all_admitted_are_shown_unless_all_are_asked_for(chitta: Run) -> None:
    prompt(1, *(note(f"n{n:02}", n / 100) for n in range(1, 15)), note("in", 0.5), note("too", 0.4), note("three", 0.3))
    ran = chitta("explain")
    rows = [line for line in ran.out.splitlines() if line.startswith(("admitted", "dropped"))]
    assert [line.split()[0] for line in rows] == ["admitted"] * 3 + ["dropped"] * 12
    assert "n14" in rows[3] and "n03" in rows[-1] and "and 2 more; --all" in ran.out
    everything = chitta("explain", "--all").out
    assert "n01" in everything and "more; --all" not in everything


def test_the_prompts_words_are_shown_only_where_they_were_kept(chitta: Run) -> None:
    prompt(1, note("one", 0.9))
    assert "my words" not in chitta("explain").out and "webhook" not in chitta("explain").out
    prompt(2, note("one", 0.9), CHITTA_LOG_PROMPTS="1")
    ran = chitta("explain")
    assert "my words" in ran.out and "webhook" in ran.out and "not kept" not in ran.out


def test_json_holds_every_candidate_with_its_reason(chitta: Run) -> None:
    prompt(1, note("one", 0.9), note("two", 0.04))
    value = chitta("explain", "--json").value
    assert [(one["id"], one["outcome"]) for one in value["trace"]] == [("one", "admitted"), ("two", "conf")]
    assert value["trace"][1]["why"].startswith("conf 0.04") and value["trace"][0]["title"] is None
    assert value["threshold"] == 0.7 and value["silent_because"] == ""


def test_a_note_of_two_lanes_names_the_one_that_brought_it(chitta: Run) -> None:
    request = Request("p", "q", tokens=("webhook", "stripe"), session="s", realm=REALM)
    results = [
        LaneResult(lane, "ok", 1.0, Header(lane, maxrel=0.9), (note("a", 0.9),)) for lane in ("keyword", "cross-realm")
    ]
    results.append(results[0]._replace(lane="semantic"))
    verdict = admit(request, results, seen=(), settings=table.load(), calibration=Bands())
    line = recall_log.entry(request, results, verdict, settings=table.load(), total_ms=1.0, now=1e9)
    recall_log.append(table.load().state_dir, line)
    said = {one["tag"]: one["why"] for one in chitta("explain", "--json").value["trace"]}
    assert said["sem"] == "lane kw brought the same note" and said["xr"].startswith("this project had its own")


def test_a_note_that_the_session_saw_already_is_told_so(chitta: Run) -> None:
    line = {"block": "b", "lanes": {"keyword": {"state": "ok", "rows": 1}}, "admitted": [], "dropped": {"dup": 1}}
    recall_log.append(table.load().state_dir, {**line, "trace": [["kw", "a", 0.9, 0.8, 3, 1, "dup"]]})
    assert "was shown in this session already" in chitta("explain").out


@pytest.mark.parametrize(
    "line",
    [
        {"degraded": ["no interpreter: run install.sh"]},
        {"lanes": {}, "trace": 7, "admitted": None, "silent": 3, "small": [1], "prompt": 4},
        {"lanes": {"keyword": {"state": "ok"}}, "trace": [[], ["kw"], None, ["kw", 9, 1, 1, 1, 1, "x"], ["kw", 0] * 4]},
        {"lanes": {"keyword": {"state": "ok"}}, "admitted": [{"id": "a"}]},
    ],
)
def test_odd_and_old_lines_are_explained_as_far_as_they_go(chitta: Run, line: dict[str, Any]) -> None:
    recall_log.append(table.load().state_dir, line)
    assert chitta("explain").code == 0 and chitta("explain", "--json").code == 0


def test_a_line_without_an_interpreter_says_so(chitta: Run) -> None:
    recall_log.append(table.load().state_dir, {"degraded": ["no interpreter: run install.sh"]})
    assert chitta("explain").out.startswith("Silent: no interpreter: run install.sh")


def test_a_line_of_before_is_told(chitta: Run) -> None:
    recall_log.append(table.load().state_dir, {"lanes": {"keyword": {"state": "ok"}}, "admitted": [{"id": "a"}]})
    assert "before the log kept candidates" in chitta("explain", "a").out


def test_text_of_strangers_reaches_no_terminal(chitta: Run) -> None:
    bad = "x\x1b[31m\u202ey\nadmitted"
    prompt(1, note(bad, 0.31), session=bad, maxrel=0.1, CHITTA_LOG_PROMPTS="1")
    ran = chitta("explain")
    assert ran.code == 0 and "\x1b" not in ran.out and "\u202e" not in ran.out
    assert not any(line.startswith("admitted") for line in ran.out.splitlines())
    assert "\x1b" not in chitta("explain", "\x1b[31m").err
