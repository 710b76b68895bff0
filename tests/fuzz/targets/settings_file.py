"""``chitta.toml`` and the environment: every setting has a value of its kind and in its range, whatever stands."""

from __future__ import annotations

from tests.fuzz.kind import Target, choice, must, text_of
from tests.fuzz.places import scratch

from chitta import settings


def toml(data: bytes) -> None:
    home = scratch("settings")
    (home / "chitta.toml").write_bytes(data)
    _sound(settings.load({"CHITTA_HOME": str(home)}))


def environment(data: bytes) -> None:
    which, data = choice(data, len(settings.TABLE))
    setting = settings.TABLE[which]
    value = text_of(data).replace("\0", "")
    loaded = settings.load({"CHITTA_HOME": str(scratch("empty")), setting.name: value})
    _sound(loaded)


def _sound(loaded: settings.Settings) -> None:
    for one in settings.TABLE:
        if one.kind == "text":
            loaded.words(one.name)
            continue
        number = loaded.real(one.name)
        must(number == number and abs(number) < 1e300, "a number that is none", one.name, number)
        if one.low is not None and one.high is not None:
            must(one.low <= number <= one.high, "out of its range", one.name, number)
        if one.kind == "integer":
            must(loaded.integer(one.name) == number, "no whole number", one.name, number)
    loaded.as_line()


_NUMBERS = [setting for setting in settings.TABLE if setting.kind != "text"]

TARGETS = (
    Target(
        "toml",
        toml,
        lambda: [
            b'lane_k = 5\nCHITTA_WARM_WAIT_MS = 100\nunknown = "x"\n[table]\na = [1, 2]\n',
            "\n".join(f"{setting.name} = {setting.default!r}" for setting in _NUMBERS).replace("True", "true").encode(),
            b"lane_k = 1979-05-27T07:32:00Z\nhook_budget_ms = inf\ndrain_run = nan\n",
        ],
        (
            b"\nlane_k = ",
            b"inf",
            b"nan",
            b"0x1f",
            b"[",
            b"]",
            b"{a = 1}",
            b"'''",
            b'"""',
            b"1979-05-27",
            b"a.b.c = ",
            b"[[x]]",
        ),
    ),
    Target(
        "environment",
        environment,
        lambda: [bytes([n]) + str(one.default).encode() for n, one in enumerate(settings.TABLE) if n < 256],
        (b"1", b"0", b"yes", b"inf", b"nan", b"1_0", b"1e3", b" ", b",", b"-", b".5", "٣".encode()),
        300,
    ),
)
