from __future__ import annotations

import json

import pytest

from chitta.capture.commands import Watch
from chitta.capture.draft import Draft
from chitta.capture.errors import signature, telling_line
from chitta.capture.events import EDIT, RESULT, SHELL, Change, Event
from chitta.capture.note import note_of
from chitta.capture.shape import mends, shape_of

ERROR = 'Traceback (most recent call last):\n  File "/a/b/cart.py", line 3, in <module>\nValueError: bad total 7'


def ran(command: str, ok: bool | None, text: str = "") -> Event:
    return Event(RESULT, text=text, tool=SHELL, command=command, ok=ok)


def edited(path: str, old: str = "", new: str = "") -> Event:
    return Event(RESULT, tool=EDIT, changes=(Change(path, old, new),), ok=True)


def seen(*events: Event) -> list[Draft]:
    watch = Watch()
    return [draft for event in events if (draft := watch.take(event)) is not None]


def test_a_fix_says_symptom_cause_and_what_was_done() -> None:
    (fix,) = seen(ran("pytest tests", False, ERROR), edited("/a/cart.py", "x + 1", "x"), ran("pytest tests", True))
    assert fix.text == (
        "Symptom: `pytest tests` failed with: ValueError: bad total 7\n"
        "Cause: at cart.py:3\n"
        "Fix: edited cart.py: `x + 1` became `x`; then it passed."
    )


@pytest.mark.parametrize(
    "between",
    [[], [ran("ls -la", True)], [ran("cat cart.py", True)], [ran("git status", True)], [ran("git commit -m x", True)]],
)
def test_a_plain_retry_is_no_fix(between: list[Event]) -> None:
    assert seen(ran("pytest tests", False, ERROR), *between, ran("pytest tests", True)) == []


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pip install psycopg2", "pip install psycopg2-binary"),
        ("docker build .", "docker build --platform linux/amd64 ."),
        ("npm install", "npm install --legacy-peer-deps"),
        ("git push origin main", "git push origin main --force-with-lease"),
    ],
)
def test_another_form_of_the_command_is_a_fix(failed: str, passed: str) -> None:
    (fix,) = seen(ran(failed, False, "error: it does not work"), ran(passed, True))
    assert f"ran `{passed}` instead" in fix.text


@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest tests/test_a.py", "pytest tests/test_b.py"),
        ("npm test", "npm install"),
        ("cargo build", "cargo test"),
        ("python3 a.py", "python3 b.py"),
        ("curl http://a", "wget http://b"),
    ],
)
def test_a_pass_of_something_else_is_no_fix(failed: str, passed: str) -> None:
    assert seen(ran(failed, False, ERROR), edited("/a/b.py"), ran(passed, True)) == []


def test_a_looker_that_finds_nothing_has_not_failed() -> None:
    assert seen(ran("grep x y", False, "grep: y: No such file or directory"), edited("/y"), ran("grep x y", True)) == []


def test_a_failure_that_says_nothing_is_not_held() -> None:
    assert seen(ran("make", False, "1"), edited("/a"), ran("make", True)) == []


def test_an_unknown_outcome_is_neither() -> None:
    assert seen(ran("make", None, ERROR), edited("/a"), ran("make", True)) == []
    assert seen(ran("make", False, ERROR), edited("/a"), ran("make", None)) == []


def test_a_pipe_that_hides_the_exit_code_proves_nothing_beside_an_error() -> None:
    assert seen(ran("make", False, ERROR), edited("/a"), ran("make 2>&1 | tail -5", True, ERROR)) == []
    assert len(seen(ran("make", False, ERROR), edited("/a"), ran("make 2>&1 | tail -5", True, "done"))) == 1


def test_chittas_own_commands_and_files_are_nothing() -> None:
    assert seen(ran("chitta import x", False, "error: no"), edited("/a"), ran("chitta import x", True)) == []
    assert seen(ran("make", False, ERROR), edited("/home/d/.chitta/notes/global/a.md"), ran("make", True)) == []


def test_one_failure_is_mended_once() -> None:
    assert len(seen(ran("make", False, ERROR), edited("/a"), ran("make", True), ran("make", True))) == 1


def test_the_state_is_plain_and_bounded() -> None:
    watch = Watch()
    for number in range(100):
        watch.take(ran(f"tool{number} x", False, ERROR))
        watch.take(edited(f"/file{number}"))
    state = json.loads(json.dumps(watch.state()))
    assert Watch(state).state() == watch.state()
    assert len(json.dumps(state)) < 32_000


@pytest.mark.parametrize("state", [None, {}, {"failures": 3}, {"failures": [{"name": 1}]}, {"failures": [None]}])
def test_a_state_that_is_none_is_none(state: dict[str, object] | None) -> None:
    assert Watch(state).state() == {}


def id_of(draft: Draft) -> str:
    note = note_of(draft, realm="global", harness="claude", session="s", day="2026-01-02")
    assert note is not None
    return note.id


def test_the_same_error_has_the_same_key_whatever_it_names() -> None:
    first, second = (
        id_of(seen(ran("make", False, f"ValueError: bad {path} at {number}"), edited("/a"), ran("make", True))[0])
        for path, number in (("/home/a/x.py", "17"), ("/srv/b/x.py", "23"))
    )
    assert first == second


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (ERROR, "ValueError: bad total 7"),
        ("npm ERR! code ELIFECYCLE\nsrc/a.ts(3,1): error TS2339: no x", "src/a.ts(3,1): error TS2339: no x"),
        ("make: *** [all] Error 2\ngcc: fatal error: no input files", "gcc: fatal error: no input files"),
        ("sh: 1: foo: not found", "sh: 1: foo: not found"),
        ("\x1b[31mError: boom\x1b[0m", "Error: boom"),
        ("all good\n3 passed", ""),
    ],
)
def test_the_telling_line(output: str, line: str) -> None:
    assert telling_line(output) == line


def test_a_signature_has_no_paths_numbers_hex_or_times() -> None:
    line = "2026-01-02T03:04:05Z /usr/lib/x.py:17: object 0xdeadbeef failed 3 times"
    assert signature(line) == "<time> x.py:<n>: object <hex> failed <n> times"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cd web && npm test -- cart", "npm test"),
        ("CI=1 npx jest src", "jest"),
        ("uv run pytest -q", "pytest"),
        ("python3 -m pytest tests", "pytest"),
        ("sudo systemctl restart nginx", "systemctl restart"),
        ("npm run build", "npm run build"),
        ("timeout 60 ./gradlew build", "gradlew build"),
    ],
)
def test_the_name_of_a_command(command: str, name: str) -> None:
    shape = shape_of(command)
    assert shape is not None and shape.name == name


@pytest.mark.parametrize("command", ["", "make && npm test", "cat <<EOF\nx\nEOF", "python3 -c 'x'", "'"])
def test_what_cannot_be_told_has_no_shape(command: str) -> None:
    assert shape_of(command) is None


def test_more_of_the_same_tests_mend_fewer() -> None:
    few, more = shape_of("pytest tests/a.py"), shape_of("pytest tests/a.py tests/b.py")
    assert few and more and mends(few, more) and not mends(more, few)


def test_many_redirections_take_no_more_time_than_few() -> None:
    shape_of("pytest -q " + "2>&1 " * 700 + "x")  # took years
    found = shape_of("pytest -q tests 2>&1 2>&1 > /dev/null | tail -5")
    assert found is not None and found.name == "pytest" and found.masked
