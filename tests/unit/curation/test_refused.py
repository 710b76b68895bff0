from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chitta.curation import refused


def test_what_is_refused_stays_out_until_it_is_allowed(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    assert not refused.is_refused(state, "global", "a")
    refused.refuse(state, "global", "a")
    assert refused.is_refused(state, "global", "a") and not refused.is_refused(state, "project:x.org/a", "a")
    refused.allow(state, "global", "a")
    assert not refused.is_refused(state, "global", "a")
    refused.refuse(state, "global", "a")
    assert refused.refused_keys(state) == {refused.key_of("global", "a")}


def test_refusing_twice_is_one_line_and_broken_lines_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / refused.NAME
    path.write_bytes(b'{"id": 3, "realm": "global"}\nnonsense\n[1]\n')
    for _ in range(2):
        refused.refuse(str(tmp_path), "global", "a")
    assert refused.refused_keys(str(tmp_path)) == {refused.key_of("global", "a")}
    assert len(path.read_bytes().splitlines()) == 4


def test_parallel_refusals_do_not_mix(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: refused.refuse(str(tmp_path), "global", f"n{number}"), range(100)))
    assert len(refused.refused_keys(str(tmp_path))) == 100
