"""What a note points at: entities by kind, and the relations that it states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.links import (
    LONGEST_END,
    MAX_ENTITIES,
    MAX_TRIPLETS,
    entities_of,
    query_entities,
    session_of,
    slug,
    tag_candidates,
    triplets_of,
)
from chitta.notes.note import Note
from chitta.notes.triplet import Triplet, name_key

NOTE = Note(id="n", title="Raw body")


def written(text: str) -> set[str]:
    """Entities of a text beyond the note's own name."""
    return set(entities_of(Note(id="n", text=text))) - {"note:n"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("call get_user or getUser, or `get-user()`", {"id:get_user"}),
        ("raises HTTPConnectionError.", {"id:http_connection_error"}),
        ("see ./src/App/main.py:42", {"file:src/app/main.py", "file:main.py"}),
        ("edit docker-compose.yml, then go on", {"file:docker-compose.yml"}),
        ("the `.gitignore` and `config/.env.local`", {"file:.gitignore", "file:config/.env.local", "file:.env.local"}),
        ("run `git push --force-with-lease -f --no`", {"id:--force-with-lease"}),
        ("without backticks --force is a word", set()),
        ("`jq` is `true`", {"id:jq"}),
        ("Plain words. End e.g. here, i.e. 3.14 and v1.2", set()),
        ("https://example.com/some_path/main.py", set()),
        ("see [[Raw body|the body]], [[folder/Other#part]]", {"note:raw-body", "note:the-body", "note:other"}),
        ('if [[ -f x ]] or [[:space:]] or `x [[code]]`', set()),
        ("```bash\n[[name]]\nset my_var\n```", {"id:my_var"}),
    ],
)  # fmt: skip
def test_what_a_text_names(text: str, wanted: set[str]) -> None:
    assert written(text) == wanted


def test_kinds_do_not_mix() -> None:
    note = Note(id="auth", tags=("auth",), text="`auth`", extra=(("files", ["auth.py"]),))
    assert set(entities_of(note)) == {"note:auth", "tag:auth", "id:auth", "file:auth.py"}


def test_a_note_goes_by_its_names_and_a_link_meets_them() -> None:
    note = Note(id="n-1", title="Raw Body", source="raw_body-of-hooks.md", extra=(("aliases", ["The Body"]),))
    assert entities_of(note) == ("note:n-1", "note:raw-body", "note:the-body", "note:raw-body-of-hooks")
    for link in ("[[Raw Body]]", "[[raw_body]]", "[[notes/Raw body.md#why]]", "[[the body]]"):
        assert set(query_entities(link)) & set(entities_of(note))


def test_front_matter_names_notes_too() -> None:
    extra: tuple[tuple[str, object], ...] = (
        ("links", ["[[A note]]"]),
        ("relations", [{"target": "B", "type": "uses"}]),
    )
    assert {"note:a-note", "note:b", "note:old"} <= set(entities_of(Note(id="n", supersedes=("old",), extra=extra)))


def test_entities_are_bounded_and_what_is_stated_comes_first() -> None:
    text = " ".join(f"name_{number}" for number in range(100))
    found = entities_of(Note(id="n", tags=("auth",), text=text))
    assert len(found) == MAX_ENTITIES
    assert found[:3] == ("note:n", "tag:auth", "id:name_0")


def test_a_prompt_reads_as_a_note_does() -> None:
    text = "why does get_user in `src/users.py` fail, see [[Raw body]]"
    assert set(query_entities(text)) == written(text)
    assert query_entities("what is new?") == ()


def test_words_and_pairs_are_candidates_for_tags() -> None:
    assert tag_candidates("Error handling in C++") == (
        "tag:error", "tag:handling", "tag:in", "tag:c++", "tag:error-handling", "tag:handling-in", "tag:in-c++",
    )  # fmt: skip
    assert slug("Error_Handling ") == "error-handling"


def test_relations_of_front_matter() -> None:
    extra: tuple[tuple[str, object], ...] = (
        ("relations", [{"source": "A", "target": "B", "type": "depends on"}, {"target": "C"}, {"type": "x"}, "odd"]),
        ("causal_relations", [{"source": "A", "target": "D"}]),
        ("relationships", {"source": "A", "target": "E", "relation": "Part-Of"}),
        ("links", ["[[F|f]]", {"target": "G", "type": "cites"}, 3]),
    )
    assert set(triplets_of(NOTE._replace(extra=extra))) == {
        Triplet("A", "depends_on", "B"),
        Triplet("Raw body", "relates_to", "C"),
        Triplet("A", "causes", "D"),
        Triplet("A", "part_of", "E"),
        Triplet("Raw body", "links", "F"),
        Triplet("Raw body", "cites", "G"),
    }


def test_supersession_names_ids_from_either_side() -> None:
    assert triplets_of(NOTE._replace(supersedes=("old",), superseded_by="new")) == (
        Triplet("n", "supersedes", "old"),
        Triplet("new", "supersedes", "n"),
    )


def test_relations_of_the_text() -> None:
    text = (
        "- depends_on [[Web server]] (since May)\n"
        "* is part of [[Shop|the shop]]\n"
        "- a longer sentence that ends with [[Prose]]\n"
        "`redis` -> caches for -> `api`\n"
        "```\n- depends_on [[Code]]\n```\n"
    )
    assert triplets_of(NOTE._replace(text=text)) == (
        Triplet("Raw body", "depends_on", "Web server"),
        Triplet("Raw body", "is_part_of", "Shop"),
        Triplet("redis", "caches_for", "api"),
        Triplet("Raw body", "links", "Prose"),
    )


def test_relations_are_bounded_and_come_once() -> None:
    links = " ".join(f"[[Note {number}]]" for number in range(200))
    assert len(triplets_of(NOTE._replace(text=links))) == MAX_TRIPLETS
    assert len(triplets_of(NOTE._replace(text="[[A]] and [[A]]"))) == 1


def test_names_are_compared_without_case_and_space() -> None:
    assert name_key(" Docker  Compose\n") == name_key("dockercompose")


PIECES = st.lists(
    st.one_of(
        st.text(max_size=8),
        st.sampled_from(
            ["[[", "]]", "|", "`", "```\n", "\n- ", " -> ", "a_b", "getUser", "x.py", "--flag", "/", "#", "."]
        ),
    ),
    max_size=30,
).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["source", "target", "type"]), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = st.sampled_from(["relations", "relationships", "causal_relations", "links", "files", "aliases", "other"])


@given(PIECES, PIECES, st.lists(st.tuples(KEYS, VALUES), max_size=3))
def test_any_note_is_read_within_bounds(title: str, text: str, extra: list[tuple[str, object]]) -> None:
    note = Note(id="n", title=title, text=text, tags=(title,), superseded_by=text, extra=tuple(extra))
    entities, triplets = entities_of(note), triplets_of(note)
    assert (entities, triplets) == (entities_of(note), triplets_of(note))
    assert len(set(entities)) == len(entities) <= MAX_ENTITIES
    assert all(entity.partition(":")[0] in ("note", "tag", "id", "file") for entity in entities)
    assert all(entity.partition(":")[2] and not entity.endswith(":") for entity in entities)
    assert all(name_key(each.source) and each.relation and name_key(each.target) for each in triplets)
    assert all(len(each.source) <= LONGEST_END and len(each.target) <= LONGEST_END for each in triplets)
    assert len(query_entities(text)) <= MAX_ENTITIES


@pytest.mark.parametrize(
    ("extra", "wanted"),
    [
        ((("session", "S 42"),), "session:s-42"),
        ((("session_id", 42),), "session:42"),
        ((("source_session", "a"), ("session", "b")), "session:b"),
        ((("session", ["a"]), ("session_id", "c")), "session:c"),
        ((("session", ""),), ""),
        ((("session", "  "),), ""),
        ((), ""),
    ],
)
def test_the_session_that_a_note_was_learned_in(extra: tuple[tuple[str, object], ...], wanted: str) -> None:
    note = Note("n", extra=extra)
    assert session_of(note) == wanted
    assert [entity for entity in entities_of(note) if entity.startswith("session:")] == ([wanted] if wanted else [])
