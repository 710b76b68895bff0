"""Notes as capture writes them, in any number: what a store holds after months, to measure beside.

Equal arguments give equal notes. They speak of what developers' sessions speak of, and of nothing that a test set
asks for on purpose.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from chitta.capture.draft import COMMIT, CORRECTION, FIX, PREFERENCE, TODO, Draft
from chitta.capture.note import CONFIDENCE, KIND
from chitta.notes.ids import make_id
from chitta.notes.note import Note

REALMS = ("global", "project:github.com/acme/shop", "project:github.com/acme/telemetry")
#: Of a hundred notes of a month's sessions, guessed: commits and fixes are the most.
_SHARES = ((FIX, 35), (COMMIT, 30), (TODO, 15), (CORRECTION, 12), (PREFERENCE, 8))

_FILES = """
    cart.py orders.py invoice.ts checkout.tsx session.go worker.rs router.ts schema.sql settings.py conftest.py main.go
    Dockerfile values.yaml ci.yml Makefile package.json tsconfig.json pyproject.toml Cargo.toml webhook.py mailer.rb
""".split()
_PARTS = """
    cart checkout invoice session webhook mailer search scheduler uploader importer exporter gateway parser cache queue
    migration dashboard profile tenant billing report audit notifier crawler renderer tokenizer limiter registry
""".split()
_ERRORS = (
    ("pytest", "pytest tests/test_{part}.py", "AssertionError: {part} total is {n}, not {m}"),
    ("npm test", "npm test -- {part}", "TypeError: Cannot read properties of undefined (reading '{part}')"),
    ("npm run build", "npm run build", "error TS2339: Property '{part}Id' does not exist on type '{Part}'"),
    ("cargo build", "cargo build --release", "error[E0382]: use of moved value: `{part}`"),
    ("go test", "go test ./{part}/...", "panic: runtime error: index out of range [{n}] with length {m}"),
    ("docker build", "docker build -t {part} .", "ERROR: failed to solve: {part}:{n}: not found"),
    ("pip install", "pip install {part}-client", "ERROR: No matching distribution found for {part}-client=={n}.{m}"),
    ("terraform plan", "terraform plan -out {part}", 'Error: Unsupported argument "{part}_policy"'),
    ("kubectl apply", "kubectl apply -f {part}.yaml", "error: unable to recognize {part}.yaml: no matches for kind"),
    ("alembic upgrade", "alembic upgrade head", "KeyError: '{part}_{n}'"),
    ("ruff check", "ruff check {part}", "error: F821 undefined name '{part}_id'"),
    ("python3 seed.py", "python3 seed.py {part}", "ValueError: {part} {n} has no owner"),
)
_DEEDS = (
    "edited {file}: `{part}_id` became `{part}.id`",
    "edited {file}",
    "ran `npm install`",
    "ran `docker compose up -d {part}`",
    "edited {file}; edited {file2}",
)
_SIDES = (
    ("moment", "date-fns"),
    ("requests", "httpx"),
    ("npm", "pnpm"),
    ("unittest", "pytest"),
    ("lodash", "native array methods"),
    ("print", "the logger"),
    ("enum", "literal types"),
    ("inline styles", "the theme tokens"),
    ("raw SQL", "the query builder"),
    ("default exports", "named exports"),
    ("axios", "fetch"),
    ("sleep", "a condition in tests"),
)
_CORRECTIONS = (
    "Use {right} instead of {wrong} in the {part}",
    "Don't use {wrong} in the {part} module, use {right}",
    "{part} code uses {right}, not {wrong}",
)
_HABITS = (
    "Always run the {part} tests before pushing",
    "Never edit the generated {part} client by hand",
    "From now on, name {part} branches after the ticket",
    "We use {right}, not {wrong}, for the {part}",
    "I prefer small commits in the {part} package",
    "Remember that the {part} staging instance is read-only",
)
_SUBJECTS = (
    "fix: {part} drops the last {part2}",
    "Add a limit of {n} to the {part}",
    "refactor({part}): split the {part2} helper",
    "{Part}: retry {n} times before giving up",
    "docs: how the {part} talks to the {part2}",
    "Bump the {part} timeout to {n} s",
    "test({part}): cover an empty {part2}",
)
_STEPS = (
    "Read the {part} code",
    "Write a failing test for the {part}",
    "Move {part2} out of the {part}",
    "Update the {part} docs",
    "Run the {part} tests",
    "Add a migration for {part2}",
    "Wire the {part} into the {part2}",
)


def captured_notes(count: int, seed: int) -> list[Note]:
    """``count`` notes with different ids, over :data:`REALMS`."""
    chance = random.Random(f"captured {seed}")
    kinds = [what for what, _ in _SHARES]
    weights = [share for _, share in _SHARES]
    notes: dict[str, Note] = {}
    while len(notes) < count:
        draft = _MAKERS[chance.choices(kinds, weights)[0]](chance, _words(chance, len(notes)))
        note = _note(draft, chance)
        notes.setdefault(note.id, note)
    return list(notes.values())


def _words(chance: random.Random, number: int) -> dict[str, str]:
    part, part2 = chance.sample(_PARTS, 2)
    file, file2 = chance.sample(_FILES, 2)
    wrong, right = chance.choice(_SIDES)
    # The number keeps texts apart, however many there are.
    numbers = {"n": str(chance.randrange(2, 90)), "m": str(number + 2)}
    names = {"part": part, "Part": part.capitalize(), "part2": part2, "file": file, "file2": file2}
    return {**names, **numbers, "wrong": wrong, "right": right}


def _fix(chance: random.Random, words: dict[str, str]) -> Draft:
    name, command, error = (text.format(**words) for text in chance.choice(_ERRORS))
    deed = chance.choice(_DEEDS).format(**words)
    place = f"\nCause: at {words['file']}:{words['m']}" if chance.random() < 0.5 else ""
    text = f"Symptom: `{command}` failed with: {error}{place}\nFix: {deed}; then it passed."
    return Draft(FIX, f"Fix for {name}: {error}", text, f"{name} {error}")


def _commit(chance: random.Random, words: dict[str, str]) -> Draft:
    subject = chance.choice(_SUBJECTS).format(**words)
    return Draft(COMMIT, f"Commit: {subject}", f"{chance.getrandbits(28):07x} {subject}", f"{subject} {words['m']}")


def _todo(chance: random.Random, words: dict[str, str]) -> Draft:
    steps = [step.format(**words) for step in chance.sample(_STEPS, chance.randrange(2, 6))]
    text = "Finished in one session:\n" + "\n".join(f"- {step}" for step in steps)
    return Draft(TODO, f"Done: {steps[0]} (and {len(steps) - 1} more)", text, f"{text} {words['m']}")


def _correction(chance: random.Random, words: dict[str, str]) -> Draft:
    sentence = chance.choice(_CORRECTIONS).format(**words)
    sentence = sentence[0].upper() + sentence[1:]
    return Draft(CORRECTION, sentence, sentence, f"{sentence} {words['m']}", words["wrong"], words["right"])


def _preference(chance: random.Random, words: dict[str, str]) -> Draft:
    sentence = chance.choice(_HABITS).format(**words)
    return Draft(PREFERENCE, sentence, sentence, f"{sentence} {words['m']}")


_MAKERS: dict[str, Callable[[random.Random, dict[str, str]], Draft]] = {
    FIX: _fix,
    COMMIT: _commit,
    TODO: _todo,
    CORRECTION: _correction,
    PREFERENCE: _preference,
}


def _note(draft: Draft, chance: random.Random) -> Note:
    realm = chance.choice(REALMS)
    session = f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}"
    harness = chance.choice(("claude", "codex", "copilot"))
    return Note(
        id=make_id(draft.key, realm, salt=draft.what),
        kind=KIND[draft.what],
        realm=realm,
        title=draft.title,
        text=draft.text,
        created=f"2026-{chance.randrange(1, 12):02d}-{chance.randrange(1, 29):02d}",
        tags=(draft.what,),
        confidence=CONFIDENCE[draft.what],
        source=f"captured: {harness} session {session[:8]}",
        authority="captured",
        wrong=draft.wrong,
        right=draft.right,
        extra=(("captured", draft.what), ("session", session), ("sessions", [session])),
    )
