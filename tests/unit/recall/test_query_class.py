"""Classes of queries, their weights with the seed's table written out, and the part of a prompt that asks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chitta.recall.query_class import ARMS, MULTIPLIERS, SHAPES, asking_part, classify, words_of

SENTENCE = "The daemon was moved to another machine last week and it has run there ever since. "


@pytest.mark.parametrize(
    ("query", "subject"),
    [
        ("what am I working on right now", "recency"),
        ("where did we leave off", "recency"),
        ("latest authentication design", "general"),
        ("what is the latest authentication design", "factual"),
        ("Traceback (most recent call last)", "general"),
        ("what did we decide yesterday", "temporal"),
        ("decisions from 2024-05-01", "temporal"),
        ("what changed in march", "temporal"),
        ("march the troops", "general"),
        ("may I see the notes", "general"),
        ("weekly report format", "general"),
        ("decisions of the last 3 weeks", "temporal"),
        ("summaries of this sprint", "temporal"),
        ("print the week number", "general"),
        ("now fix the tests", "general"),
        ("when did we drop the queue", "temporal"),
        ("when the build fails, retry", "general"),
        ("how is the lock related to the queue", "multi_hop"),
        ("why did Redis fail once Postgres was moved", "multi_hop"),
        ("how many lanes are there", "aggregation"),
        ("list the lanes", "aggregation"),
        ("what do we know about all the lanes", "aggregation"),
        ("squash everything into one commit", "general"),
        ("give each lane a list", "general"),
        ("which database is better", "opinion"),
        ("does Redis talk to Postgres", "entity"),
        ("what port does the daemon use", "factual"),
        ("fix it", "vague"),
        ("that thing", "vague"),
        ("", "vague"),
        ("retry policy of the queue", "general"),
    ],
)
def test_subject(query: str, subject: str) -> None:
    assert classify(query).subject == subject


def test_subjects_are_tried_in_order() -> None:
    assert classify("what is Redis related to now").subject == "multi_hop"  # before temporal
    assert classify("what did we decide right now about all lanes").subject == "recency"  # before temporal
    assert classify("list all decisions of yesterday").subject == "temporal"  # before aggregation
    assert classify("list all that you think of").subject == "aggregation"  # before opinion
    assert classify("do you think Redis beats Postgres").subject == "opinion"  # before entity
    assert classify("what do Redis and Postgres share").subject == "entity"  # before factual
    assert classify("what is that thing").subject == "factual"  # before vague


def test_words_are_whole() -> None:
    assert classify("the knowledge of the snowman").subject == "general"  # now
    assert classify("allocate the listener").subject == "general"  # all, list
    assert classify("naïve nowé").subject == "general"
    assert classify("WHAT PORT IS IT").subject == "factual"


def test_neighbouring_capitals_are_one_name() -> None:
    assert classify("does Ada Lovelace know").subject == "general"
    assert classify("does Ada know Bob").subject == "entity"
    assert classify("does Ada know Ada").subject == "general"
    assert classify("Restart the server. Then FastAPI and I go").subject == "general"
    assert classify("FastAPI or Django").subject == "entity"


def test_weights_are_base_times_multiplier() -> None:
    assert dict(classify("what port does the daemon use").weights) == pytest.approx(
        {"semantic": 1.5 * 1.2, "bm25": 1.4, "graph": 1.0, "temporal": 0.6, "spreading": 0.8, "hopfield": 0.8 * 0.8}
    )
    assert dict(classify("retry policy").weights) == pytest.approx(
        {"semantic": 1.5, "bm25": 1.0, "graph": 1.0, "temporal": 1.0, "spreading": 1.0, "hopfield": 0.8}
    )
    assert classify("what am I working on right now").weights["temporal"] == pytest.approx(2.5)
    with pytest.raises(TypeError):
        classify("retry policy").weights["semantic"] = 9.0  # type: ignore[index]


@pytest.mark.parametrize(
    ("query", "shape"),
    [
        ("does the daemon start by itself", "question"),
        ("ok so how do we restart it", "question"),
        ("we restart it how?", "question"),
        ("(really?)", "question"),
        ("队列在哪里？", "question"),
        ("do the tests need a database", "question"),
        ("when did we drop it", "question"),
        ("do it", "short request"),
        ("do not use var", "short request"),
        ("do the same for staging", "short request"),
        ("don't use var", "short request"),
        ("when the build fails, retry", "short request"),
        ("run main()", "short request"),
        ("rename C++ to cpp & C# to csharp", "short request"),
        ("if you have time, look at these:", "short request"),
        ("fix " * 24, "short request"),
        ("fix " * 25, "long request"),
        ("why this?\nTraceback (most recent call last):\n  File", "error"),
        ("it says ValueError: bad literal", "error"),
        ("error[E0308]: mismatched types", "error"),
        ("the job exited with code 3", "error"),
        ("bash: chitta: command not found", "error"),
        ("the job ended with exit code 0", "short request"),
        ("handle errors and exceptions well", "short request"),
        ("what is wrong here?\n```py\nx = 1\n```", "code"),
        ("def f(x):\n    return g(x)", "code"),
        ("SELECT id FROM notes WHERE realm = 3", "code"),
        ("const x = f(y);", "code"),
    ],
)
def test_shape(query: str, shape: str) -> None:
    assert classify(query).shape == shape


def test_code_has_to_be_most_of_the_prompt() -> None:
    line = "x = f(y);"
    assert classify(f"{line}\n{line}\nmake it short").shape == "code"
    assert classify(f"make this line shorter and give it a better name than it has: \n{line}").shape == "short request"


def test_the_last_question_asks() -> None:
    prompt = SENTENCE * 3 + "Why did it move? How do we restart it? Thanks for looking at it."
    assert asking_part(prompt) == "How do we restart it?"
    assert asking_part(SENTENCE * 3 + "\nhow do we restart it\n" + SENTENCE) == "how do we restart it"


def test_without_a_question_the_first_imperative_asks() -> None:
    prompt = SENTENCE * 3 + "Please add a test for it. Keep it short. " + SENTENCE
    assert asking_part(prompt) == "Please add a test for it."
    assert asking_part(SENTENCE * 3 + "I want you to watch it.") == "I want you to watch it."


def test_without_either_the_beginning_stands_for_the_prompt() -> None:
    assert asking_part(SENTENCE * 3, 5) == "The daemon was moved to"


def test_a_short_prompt_is_whole_and_a_long_question_keeps_its_end() -> None:
    assert asking_part("fix\nthe  lock. why?", 4) == "fix the lock. why?"
    assert asking_part(SENTENCE + "Given all of that and more, where is the lock?", 4) == "where is the lock?"
    assert asking_part("anything", 0) == ""


def test_fenced_blocks_ask_nothing() -> None:
    fenced = "```\nwhy = ask()  # really?\nis it so?\n```\n"
    assert asking_part(SENTENCE * 2 + "\nMake this faster.\n" + fenced) == "Make this faster."
    assert asking_part("```\n" + "what is this\n" * 20, 3) == "``` what is"


PIECES = st.lists(
    st.sampled_from(
        [
            "what",
            "now",
            "Redis",
            "?",
            ".",
            "\n",
            "```\n",
            "if ",
            "(",
            "=",
            ":",
            "error",
            "exit code 1",
            " ",
            "'",
            "’",
            "é",
            "_",
        ]
    ),
    max_size=60,
).map("".join)


@given(st.text() | PIECES | st.text(st.characters(), max_size=50))
@example("\ud800 now \udfff")
@example("if " + "(" * 19_000)
@example("a_'" * 7_000)
@example(" " * 30_000)
def test_never_raises_and_stays_in_its_tables(query: str) -> None:
    found = classify(query)
    assert found.subject in MULTIPLIERS and found.shape in SHAPES
    assert tuple(found.weights) == ARMS and all(weight > 0 for weight in found.weights.values())
    assert found == classify(query)
    assert all(word == word.lower() and " " not in word for word in words_of(query))


@given(PIECES | st.text(), st.integers(0, 30))
def test_the_asking_part_is_made_of_the_prompt_and_bounded(prompt: str, most: int) -> None:
    part = asking_part(prompt, most)
    assert len(part.split()) <= most
    assert set(part) - {" "} <= set(prompt)
    assert bool(part) == (most > 0 and bool(prompt.split()))
