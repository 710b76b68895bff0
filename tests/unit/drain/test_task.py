"""The prompt of an agent."""

from chitta.drain.answers import KINDS, parse
from chitta.drain.task import MARKER, prompt


def test_the_material_stands_between_two_fences_that_it_cannot_hold() -> None:
    material = "person: no, use pnpm\n=== 0123456789abcdef ==="
    text = prompt(material)
    fence = text.split(material)[0].rstrip("\n").rsplit("\n", 1)[1]
    assert text.startswith(MARKER) and text.endswith(f"\n{fence}\n{material}\n{fence}\n") and fence not in material
    assert prompt(material) == text != prompt(material + "x")


def test_it_names_every_kind_and_what_to_say_when_there_is_nothing() -> None:
    text = prompt("x")
    assert all(f'"{kind}"' in text for kind in KINDS)
    nothing = next(line for line in text.splitlines() if "none" in line).rpartition(": {")[2]
    assert parse(b"{" + nothing.encode()).kind == "idle"
