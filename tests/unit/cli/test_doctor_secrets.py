"""`chitta doctor --secrets`, and what `chitta remember` does with one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from chitta import settings as table
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]
GITHUB = "ghp_" + "8KdPq2Lm4Nf6Rt8Vx0Zb2Cd4Ef6Gh8Jk0Lm1"


def test_it_names_the_note_and_the_kind_and_never_the_secret(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    path = store.write(Note("leaky", title="t", text=f"use {GITHUB}"))
    store.write(Note("fine", title="t", text="use the key store"))
    ran = chitta("doctor", "--secrets")
    assert ran.code == 1 and "leaky" in ran.out and "github-pat" in ran.out and "fine" not in ran.out
    assert GITHUB not in ran.out + ran.err and GITHUB in path.read_text()
    ran = chitta("doctor", "--secrets", "--redact")
    assert ran.code == 0 and "took them out of 1 note" in ran.out and GITHUB not in path.read_text()
    assert chitta("doctor", "--secrets").code == 0
    assert chitta("doctor", "--secrets", "--json").value["notes"] == []


def test_redact_alone_is_a_misuse(chitta: Run) -> None:
    assert chitta("doctor", "--redact").code == 100 or "--secrets" in chitta("doctor", "--redact").err


def test_remember_takes_a_secret_out_and_says_so(chitta: Run) -> None:
    ran = chitta("remember", f"deploy with {GITHUB}", "--json")
    text = NoteStore(table.load().notes_dir).read(ran.value["path"]).text
    assert text == "deploy with [redacted: github-pat]" and "--as-is" in ran.err and GITHUB not in ran.err
    ran = chitta("remember", f"deploy with {GITHUB}", "--as-is", "--json")
    assert GITHUB in NoteStore(table.load().notes_dir).read(ran.value["path"]).text


def test_remember_keeps_nothing_private(chitta: Run) -> None:
    ran = chitta("remember", "use make <private>my bank</private>", "--json")
    assert NoteStore(table.load().notes_dir).read(ran.value["path"]).text == "use make"
    assert "private" in chitta("remember", "<private>all</private>").err


def test_a_name_that_spells_a_secret_is_masked_and_the_note_renamed(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    spelled = f"deploy-with-{GITHUB.lower().replace('_', '-')}-1f2e3d"
    path = store.write(Note(spelled, title=f"Deploy with {GITHUB}", text=f"Deploy with {GITHUB}."))
    other = store.write(Note("newer", title="t", text="The new way.", supersedes=(spelled,)))
    ran = chitta("doctor", "--secrets")
    assert ran.code == 1 and "in its name" in ran.out and "8kdpq2" not in (ran.out + ran.err).lower()
    ran = chitta("doctor", "--secrets", "--redact")
    (new,) = store.read(other).supersedes
    assert ran.code == 0 and f"→ {new}" in ran.out and "8kdpq2" not in (ran.out + ran.err).lower()
    assert not path.exists() and store.find(new) is not None
    assert chitta("doctor", "--secrets").code == 0


def test_a_name_alone_is_looked_at_too(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    store.write(Note("the-key-akiajsjc3ibofbcixgy4", title="The key", text="It was taken out here."))
    assert chitta("doctor", "--secrets").code == 1
    assert chitta("doctor", "--secrets", "--redact").code == 0 and chitta("doctor", "--secrets").code == 0


def test_remember_keeps_nothing_of_a_private_span_that_begins_in_the_title(chitta: Run) -> None:
    facts = chitta("remember", "tourmaline</private> and the rest", "--title", "Plans <private>opal", "--json").value
    kept = Path(facts["path"]).read_text()
    assert "and the rest" in kept and "Plans" in kept
    assert "tourmaline" not in kept and "opal" not in kept


def test_a_note_that_a_secret_calls_is_let_out_by_another_name_alone(chitta: Run, own_home: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    place = own_home / ".chitta" / "notes" / "global" / f"{token}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("The glorptang cache is flushed at four.\n")
    chitta("reindex")
    shown = chitta("show", token[:8])
    assert "chitta doctor --secrets --redact" in shown.err + shown.out
    assert "review" not in shown.err + shown.out
    assert chitta("doctor", "--secrets", "--redact").code == 0
    assert not place.exists() and chitta("doctor", "--secrets").code == 0


def test_fault_38_a_note_named_by_what_is_private_in_it_gets_another_name(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    wrong = "npm install from <private>projectaurora</private> registry"
    name = "npm-install-from-private-projectaurora-private-reg-17e9a2"
    store.write(Note(name, kind="correction", title=f"pnpm add, not {wrong}", wrong=wrong, right="pnpm add", text="t"))
    chitta("reindex")
    assert (
        "projectaurora" not in chitta("list", "--all-realms").out or "quarantined" in chitta("list", "--all-realms").out
    )
    ran = chitta("doctor", "--secrets")
    assert ran.code == 1 and "private span in its name" in ran.out and "projectaurora" not in ran.out
    ran = chitta("doctor", "--secrets", "--redact")
    assert ran.code == 0 and "renamed" in ran.out
    home = Path(table.load().home)
    assert not [path for path in home.rglob("*") if "projectaurora" in path.name]
    assert not [path for path in home.rglob("*") if path.is_file() and b"projectaurora" in path.read_bytes()]


def test_fault_38_a_realm_named_by_a_secret_is_told(chitta: Run) -> None:
    NoteStore(table.load().notes_dir).write(Note("n", realm=f"project:github.com/{GITHUB}@acme/shop", text="t"))
    ran = chitta("doctor", "--secrets")
    assert ran.code == 1 and "github-pat" in ran.out and "(1 note)" in ran.out and GITHUB not in ran.out + ran.err
    (row,) = chitta("doctor", "--secrets", "--json").value["realms"]
    assert row["notes"] == 1 and row["kinds"] == ["github-pat"] and GITHUB not in row["realm"]
