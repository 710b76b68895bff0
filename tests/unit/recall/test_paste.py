"""What is left of pasted output, and that prose and code are left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.paste import LEAST_IDLE, TROUBLE, gist

Growth = Callable[[Callable[[int], object], int], float]

SAID = "the api pods throw this since noon, please fix it"
ERROR = "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached"

#: Lines that say nothing of a case, a kind of paste each.
IDLE: dict[str, list[str]] = {
    "python": [
        "Traceback (most recent call last):",
        '  File "/venv/lib/site-packages/starlette/middleware/errors.py", line 164, in __call__',
        "    await self.app(scope, receive, _send)",
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        '  File "/app/src/api/routers/accounts.py", line 88, in get_statement',
        "    rows = session.execute(stmt).scalars().all()",
    ],
    "javascript": ["    at next (/app/node_modules/express/lib/router/route.js:149:13)"] * 4,
    "java": ["\tat com.acme.web.FooService.run(FooService.java:12)", "\tat a.B.c(Native Method)", "\t... 23 more"] * 2,
    "ruby": ["  from /usr/lib/ruby/3.2/net/http.rb:960:in `initialize'"] * 4,
    "go": ["goroutine 1 [running]:", "\t/src/main.go:17 +0x1d"] * 2,
    "rust": ["  12: core::panicking::panic_fmt", "             at /rustc/abc/library/core/src/panicking.rs:14:5"] * 2,
    "log": [f"2026-11-30 12:01:{n:02},201 INFO  [uvicorn.access] GET /healthz 200" for n in range(5)],
    "syslog": [f"Nov 30 12:01:{n:02} host sshd[71]: Accepted publickey for me" for n in range(5)],
    "klog": [f"I1130 12:01:{n:02}.201993       1 controller.go:114] synced" for n in range(5)],
    "access": [f'10.0.0.{n} - - [30/Nov/2026:12:01:07 +0000] "GET / HTTP/1.1" 200 612' for n in range(5)],
    "composed": [f"web-1  | job {n} flushed" for n in range(5)],
    "levels": ["[INFO] Scanning for projects", "INFO: started", "[debug] tick", "DEBUG queue empty"],
    "pytest": [
        "============ test session starts ============",
        "platform linux -- Python 3.12.1, pytest-8.3",
        "collected 231 items",
        "........................................................................ [ 31%]",
        "=================================== FAILURES ===================================",
        "1 failed, 230 passed in 12.41s",
    ],
    "image": ["#12 3.45 Setting up libc6 (2.36-9) ...", "#13 CACHED", "Step 3/12 : RUN make", " ---> 4f2a1c3b5d6e"],
    "packages": ["Get:14 http://deb.debian.org bookworm/main", "Collecting httpx==0.28", "Setting up a (2.36) ..."] * 2,
}  # fmt: skip


@pytest.mark.parametrize("kind", IDLE)
@pytest.mark.parametrize("order", ["before", "after", "around"])
def test_of_a_paste_the_words_and_the_error_stay(kind: str, order: str) -> None:
    before = IDLE[kind] if order != "after" else []
    after = IDLE[kind] if order != "before" else []
    assert gist("\n".join([SAID, *before, ERROR, *after])) == f"{SAID}\n{ERROR}"


CODE = [
    "const cart = useCart();",
    "return (",
    "  <ul>",
    "    {cart.items.map((item) => <Row key={item.id} />)}",
    "  </ul>",
    ");",
]


@pytest.mark.parametrize("paste", [CODE, [*IDLE["log"], *CODE], ["| name | kind |", "| --- | --- |", *CODE]])
def test_what_a_person_writes_below_a_paste_comes_first(paste: list[str]) -> None:
    asked = ["the list is empty after a reload,", "where do we keep the cart?"]
    above, below = gist("\n".join([*asked, "", *paste])), gist("\n".join([*paste, "", *asked, ""]))
    assert above.split("\n")[:2] == below.split("\n")[:2] == asked
    assert sorted(above.split()) == sorted(below.split())


def test_a_document_of_words_keeps_its_order() -> None:
    plan = "\n".join(["We want to move the cart.", "", *CODE, "", "Then we delete the old one."])
    assert gist(plan) == plan


@pytest.mark.parametrize(
    "lines",
    [
        [f"[10:0{n}:02] Ines: which role do I need for the feature flags?" for n in range(5)],
        [f"0{n}:30:00 nightly catalogue import" for n in range(5)],
        [f"2026-11-30 12:00:0{n},visa,declined by the bank" for n in range(5)],
        [f"web-1  | cart {n} is empty" for n in range(5)],
    ],
    ids=["chat", "timetable", "table", "composed"],
)
def test_lines_that_merely_have_a_time_stay_where_little_else_is_said(lines: list[str]) -> None:
    last = lines[-1].split("  | ")[-1].split(" ", 1)[-1].split(",", 1)[-1]
    assert last in gist("\n".join(["answer her please", *lines]))
    assert last not in gist("\n".join(["why does the staging server lose sessions after deploys?", *lines]))


@pytest.mark.parametrize(
    "trouble",
    [
        "WARN: could not obtain a connection from the pool",
        "reserve: context canceled sku=A-5531",
        "upstream: client intended to send too large body",
        "process 71 still waiting for ShareLock",
        "listen tcp :8080: bind: address already in use",
        "STATEMENT:  CREATE INDEX orders_email ON orders (email)",
    ],
)
def test_trouble_has_many_words(trouble: str) -> None:
    log = [*IDLE["log"], f"2026/11/30 09:14:02 {trouble}", *IDLE["log"]]
    assert gist("\n".join(["why do jobs die under load since the sale?", *log])).split("\n")[-1] == trouble


@pytest.mark.parametrize(
    "frame",
    [
        "activerecord (7.1.3) lib/active_record/connection_adapters/pool.rb:353:in `checkout'",
        "\tat com.acme.web.FooService.run(FooService.java:12) ~[spring-web-6.1.3.jar!/:6.1.3]",
        "github.com/acme/shop/svc/stock/api.(*Server).quote(0xc0001a2000, {0x1, 0x2})",
        "created by net/http.(*Server).Serve in goroutine 1",
    ],
)
def test_frames_of_frameworks_are_frames(frame: str) -> None:
    assert gist("\n".join([SAID, ERROR, *[frame] * 4])) == f"{SAID}\n{ERROR}"


def test_tables_and_headings_are_neither_progress_nor_rulers() -> None:
    rows = [f"| gift wrap {n} | a feature flag in Flipper | {n}% |" for n in range(6)]
    heads = [f"=== Which role does one need {n}? ===" for n in range(6)]
    ports = [f" stock | port | 808{n}" for n in range(6)]
    for lines in (rows, heads, ports):
        prompt = "\n".join(["see below", *lines])
        assert gist(prompt) == prompt


def test_a_line_of_a_log_that_tells_of_trouble_stays_once_and_without_its_time() -> None:
    log = [f"2026-11-30 12:01:{n:02} ERROR connection refused by db-1" for n in range(9)]
    assert gist("\n".join([SAID, *log, *IDLE["log"]])) == f"{SAID}\nERROR connection refused by db-1"


def test_of_a_failed_test_its_name_and_its_assertion_stay() -> None:
    kept = gist(
        "\n".join(
            [
                *IDLE["pytest"],
                "_______________ test_invoice_due_date _______________",
                "E       AssertionError: assert date(2026, 12, 15) == date(2026, 12, 14)",
                "FAILED tests/billing/test_invoice.py::test_invoice_due_date",
                "why?",
            ]
        )
    )
    assert kept.split("\n") == [
        "test_invoice_due_date",
        "E       AssertionError: assert date(2026, 12, 15) == date(2026, 12, 14)",
        "FAILED tests/billing/test_invoice.py::test_invoice_due_date",
        "why?",
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        "one line about a Traceback",
        "\n".join([SAID, *IDLE["log"][: LEAST_IDLE - 1], ERROR, "and more", "and more still"]),
        "\n".join(["Please do the following:", "1: read the notes", "2: setting up the cache", "3: at 10:30 call"] * 2),
        "\n".join(["def f(x):", "    return x", "", "class A:", "    at = 3", "    info = 'x'", "    --x", "f()"] * 2),
        "\n".join(["| name | kind |", "| --- | --- |", "| a | b |", "Processing the payment fails", "# Title"] * 2),
        "\n".join(["type T =", "  | A", "  | B", "Reading the log I see nothing", "Downloading took 50% of it"] * 2),
    ],
)  # fmt: skip
def test_prose_and_code_are_left_as_they_are(prompt: str) -> None:
    assert gist(prompt) == prompt


def test_a_paste_of_nothing_else_is_left_as_it_is() -> None:
    prompt = "\n".join(IDLE["log"] * 3)
    assert gist(prompt) == prompt


LINES = st.sampled_from([line for lines in IDLE.values() for line in lines] + [SAID, ERROR, "", "x = 1"])


@given(st.lists(LINES | st.text(max_size=80), max_size=40))
def test_only_whole_lines_go_and_trouble_stays(lines: list[str]) -> None:
    prompt = "\n".join(lines)
    kept = gist(prompt)
    assert len(kept) <= len(prompt)
    if ERROR in lines:
        assert ERROR in kept
    assert kept.strip() or not prompt.strip()
    assert not TROUBLE.search(SAID) and (SAID not in lines or SAID in kept)


@pytest.mark.parametrize(
    "line",
    ["\n" + " " * 2_000, "=" * 3_000 + "x", "at " + "a:" * 3_000, "_" * 3_000 + "a" + "_" * 3_000 + "b",
     "." * 5_000 + "[", "a" * 5_000 + " |", " a" * 3_000 + " [", '  File "' + "/" * 5_000, "1:1:1 " * 900, "[" * 4_000],
)  # fmt: skip
def test_hostile_lines_take_linear_time(line: str, growth: Growth) -> None:
    assert growth(lambda times: gist("\n".join([line] * times)), 12) < 24
    assert growth(lambda times: gist("\n".join([line * times] * 8)), 1) < 24
