"""The correction key: when it fires, when it is quiet, and one pair for every innocence rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.notes.correction import make_correction, match_triggers, only_mentioned, triggers_for
from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.innocent import INNOCENT, innocent

NPM = ("npm install",)
Growth = Callable[[Callable[[int], object], int], float]


@pytest.mark.parametrize(
    ("prompt", "trigger"),
    [
        ("npm install date-fns and use it in formatDate.ts", "npm install"),
        ("please run NPM  Install, then build", "npm install"),
        ("run `npm install`.", "npm install"),
        ("first:\n  npm install\nthen test", "npm install"),
        ("ｎｐｍ ｉｎｓｔａｌｌ it", "npm install"),
        ("git push --force origin main", "git push --force"),
        ("kubectl --context=prod get pods", "--context prod"),
        ("slap an !important on it", "!important"),
        ("show it with moment(x.createdAt).fromNow()", "moment()"),
        ("just do res.status(500).send('no')", "res.status(500).send("),
        ("make it an atom with String.to_atom(x)", "String.to_atom"),
        ("due is Date.today + 30", "Date.today / Time.now"),
        ("open the PR against the main branch", "PR against main"),
        ("edit the CHANGELOG.md file", "edit CHANGELOG.md"),
        ("call fs::remove_all on it", "fs::remove_all"),
        ("write it in C++ please", "C++"),
        ("用npm install安装它", "npm install"),
        ("然后强制推送到主分支", "强制推送"),
        ("강제 푸시해 줘", "강제 푸시"),
        ("don't forget to npm install it", "npm install"),
        ("why don't you npm install it?", "npm install"),
        ("how do i npm install it?", "npm install"),
        ("can you npm install it?", "npm install"),
    ],
)
def test_the_wrong_form_used_as_an_order_fires(prompt: str, trigger: str) -> None:
    assert match_triggers(prompt, ("something else", trigger)) == trigger


@pytest.mark.parametrize(
    ("prompt", "trigger"),
    [
        ("", "npm install"),
        ("pnpm install it", "npm install"),
        ("npm installs nothing", "npm install"),
        ("npm run install", "npm install"),
        ("npm. install it", "npm install"),
        ("git push --force-with-lease", "git push --force"),
        ("rename docker-compose.yml to compose.yaml", "docker-compose"),
        ("the page is blank for a moment after login", "moment()"),
        ("important!! the copy must change", "!important"),
        ("more context on the prod outage", "--context prod"),
        ("a table of users with rights", "users table"),
        ("anything", ""),
        ("anything === at all", "==="),
        ("it is to be", "to be"),
    ],
)
def test_other_words_do_not_fire(prompt: str, trigger: str) -> None:
    assert match_triggers(prompt, (trigger,)) is None


def test_bigrams_count_from_three_content_words_on() -> None:
    trigger = "rails staging db:seed"
    assert match_triggers("staging looks empty after the restore, run rails db:seed over there", (trigger,)) == trigger
    assert match_triggers("run rails db:seed over there", (trigger,)) is None
    assert match_triggers("staging is empty. run rails db:seed over there", (trigger,)) is None
    assert match_triggers("install it with npm", ("npm install",)) is None


def test_bigrams_hold_only_for_words_that_are_near() -> None:
    far = " ".join(f"word{n}" for n in range(9))
    assert match_triggers(f"rails db:seed {far} staging", ("rails staging db:seed",)) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "add logger.info(request.body) at the top",
        "the requests' bodies should be logged",
        "logging the body of each request would help",
    ],
)
def test_bigrams_are_of_roots_and_of_the_parts_of_names(prompt: str) -> None:
    prompt = prompt.replace("bodies", "body")
    assert match_triggers(prompt, ("log the request body",)) == "log the request body"


@pytest.mark.parametrize(
    ("prompt", "fires"),
    [
        ("add a line about this fix to CHANGELOG.md", True),
        ("quickest fix: put the index straight into db/CHANGELOG.md", False),  # another file
        ("fix the typo in the CHANGELOG.md please", True),
        ("look in CHANGELOG.md since which version node 16 isn't supported any more", False),
        ("CHANGELOG.md says nothing. add a test for it", False),  # the order is of something else
        ("don't add it to CHANGELOG.md", False),
    ],
)
def test_a_file_is_edited_by_a_verb_of_writing_before_it(prompt: str, fires: bool) -> None:
    assert (match_triggers(prompt, ("edit CHANGELOG.md",)) is not None) == fires


@pytest.mark.parametrize(
    ("prompt", "fires"),
    [
        ("checkout_spec.rb is flaky, put a sleep 2 before it clicks on Pay", True),
        ("add a sleep in the specs", True),
        ("put a sleep before it clicks, and cover it in specs", False),  # a plain word needs its place soon
        ("put a sleep 2 into deploy.sh", False),  # not said where it is wrong
        ("what is the `sleep 5` in entrypoint.sh for? the spec for our image mentions it", False),
    ],
)
def test_a_place_may_stand_anywhere_in_the_prompt(prompt: str, fires: bool) -> None:
    assert (match_triggers(prompt, ("sleep in specs",)) is not None) == fires


def test_one_ordinary_word_fires_where_it_stands_for_code() -> None:
    triggers = ("print", "the `requests`")
    assert match_triggers("print the report. then add a print statement", triggers) == "print"
    assert match_triggers("the pull requests wait. use requests to fetch them", triggers) == "the `requests`"
    assert match_triggers("print the report of the pull requests", triggers) is None
    assert match_triggers("log the requests. " * 500 + "use print for it", triggers) == "print"


@pytest.mark.parametrize(
    ("prompt", "mentioned"),
    [
        ("review the pull requests", False),  # no mention: other lanes may bring the note by their evidence
        ("don't use requests here", True),
        ("how many requests do we get", True),
        ("use requests to fetch it", False),
    ],
)
def test_an_ordinary_word_is_only_mentioned_where_a_rule_says_so(prompt: str, mentioned: bool) -> None:
    assert only_mentioned(prompt, ("requests",)) == mentioned


@pytest.mark.parametrize(
    ("prompt", "trigger", "fires"),
    [
        ("edit src/gen/a.py and add a field", "edit src/gen/", True),
        ("edit src/gen_old/a.py", "edit src/gen/", False),
        ("remove the field from src/gen/a.py", "edit src/gen/", True),  # the field goes, and not the folder
        ("replace f in src/gen/a.py with g", "edit src/gen/", True),
        ("delete src/gen/a.py", "edit src/gen/", False),
        ("don't edit src/gen/a.py", "edit src/gen/", False),
        ("run scripts/old/deploy.sh", "run scripts/old/", True),
        ("run scripts/older/deploy.sh", "run scripts/old/", False),
        ("update the vendor list", "vendor/", False),
    ],
)
def test_a_folder_covers_what_lies_below_it(prompt: str, trigger: str, fires: bool) -> None:
    assert (match_triggers(prompt, (trigger,)) is not None) == fires


def test_a_file_that_is_only_read_in_a_folder_is_only_mentioned() -> None:
    assert only_mentioned("explain src/gen/a.py", ("edit src/gen/",))


@pytest.mark.parametrize(
    ("prompt", "mentioned"),
    [
        ("somebody ran npm install here last week, find out who", True),
        ("npm install lodash", False),  # that is an order
        ("pnpm add lodash", False),
        ("`await flags.isEnabled('x')` works well", False),
    ],
)
def test_a_wrong_form_can_be_only_mentioned(prompt: str, mentioned: bool) -> None:
    assert only_mentioned(prompt, ("npm install",)) == mentioned


def test_the_right_form_only_mentions_the_wrong_one() -> None:
    assert only_mentioned("`await flags.isEnabled('x')` works", ("flags.isEnabled(",), "await flags.isEnabled(...)")


def test_an_exact_phrase_goes_before_bigrams() -> None:
    triggers = ("rails staging db:seed", "db:seed")
    assert match_triggers("rails db:seed on staging", triggers) == "db:seed"


@pytest.mark.parametrize(
    ("prompt", "fires"),
    [
        ("bin/rails db:reset", True),
        ("./bin/rails db:reset", True),
        ("run bin/rails db:reset", True),
        ("then ~/.rbenv/shims/rails db:reset", True),
        ("don't run ./bin/rails db:reset", False),
        ("look at bin/rails and db:reset", False),
        ("run bin/trails db:reset", False),
    ],
)
def test_a_path_before_a_command_does_not_hide_it(prompt: str, fires: bool) -> None:
    assert bool(match_triggers(prompt, ("rails db:reset",))) is fires


def test_the_right_form_may_be_the_wrong_one_by_its_path() -> None:
    assert match_triggers("run bin/rails db:reset", ("rails db:reset",), "bin/rails db:reset") is None
    assert match_triggers("run rails db:reset", ("rails db:reset",), "bin/rails db:reset")


def test_a_correction_that_only_forbids_says_so_once() -> None:
    note = make_correction("edit vendor/", "do not edit vendor/", "it is fetched")
    assert note.title == note.right == "do not edit vendor/"
    assert note.text == "Not: edit vendor/\nWhy: it is fetched"


def test_the_right_form_may_hold_the_wrong_one() -> None:
    trigger, right = ("flags.isEnabled(",), "await flags.isEnabled(...)"
    assert match_triggers("`if (await flags.isEnabled('x'))` works, do the same in Header", trigger, right) is None
    assert match_triggers("if (flags.isEnabled('x')) return", trigger, right) == trigger[0]
    assert match_triggers("await flags.isEnabled(a), but flags.isEnabled(b) here", trigger, right) == trigger[0]


# For each rule: sentences that it explains, and orders that look like them.
RULES = {
    "negated": (
        ["don't npm install it, use pnpm", "use pnpm instead of npm install", "never ever run `npm install` here"],
        ["do not worry, npm install it", "if pnpm is not there, npm install it", "don't forget to run npm install"],
    ),
    "moved away from": (
        [
            "replace every npm install in ci with pnpm",
            "switch the scripts from npm install to pnpm",
            "`npm install` -> `pnpm install`",
        ],
        ["replace left-pad, npm install right-pad", "move to src and npm install there"],
    ),
    "documented": (
        ['the README says "npm install x", there is a typo below', "drop the old `npm install` line from the page"],
        ["read the docs, then npm install it", "add `npm install` to the Dockerfile"],
    ),
    "done by others": (
        ["somebody did an npm install here last week, clean up", "find out who ran npm install on the server"],
        ["i ran npm install and it failed, try again", "do as somebody would and npm install it"],
    ),
    "complained about": (
        ["the linter complains about npm install in ci.yml", "the hook forbids `npm install`"],
        ["the linter complains, npm install the plugin"],
    ),
    "asked about": (
        [
            "what does npm install do with peer deps?",
            "how many scripts still call npm install?",
            "ok, does ci npm install twice?",
            "how many scripts call npm install",  # many type no question mark
            "why did npm install fail on ci",
            "what does npm install do with peer deps",
            "which version of node does npm install need",
            "how does npm install resolve peers",
        ],
        [
            "what about the tests? npm install jest",
            "can you npm install jest?",
            "why not npm install jest?",
            "how do i npm install jest",
            "when you are done npm install jest",
            "what is missing is jest, npm install it",
            "which means npm install jest",
            "have it npm install jest",
            "is there a way to npm install jest",
        ],
    ),
    "looked for": (
        ["list where npm install is called", "please find all scripts with npm install", "explain npm install to me"],
        ["find a date library and npm install it", "show me the page, npm install it first"],
    ),
    "told of the past": (
        [
            "bob ran npm install yesterday and lost the lock file",
            "npm install didn't help",
            "they would npm install daily",
        ],
        ["i ran npm install and it failed, try again", "it failed, npm install it"],
    ),
    "removed": (
        ["remove npm install from ci.yml", "there is an npm install in ci.yml, delete it"],
        ["remove left-pad, and then in the folder of the new package please npm install right-pad"],
    ),
    "said by a text": (
        ["the tutorial told me to npm install it", "ann said: 'just npm install it'", "he asked if we npm install it"],
        ["as discussed, npm install it"],
    ),
    "compared or translated": (
        ["npm install vs pnpm add", "translate npm install to pnpm"],
        ["npm install or nothing"],
    ),
    "kept from others": (["make sure nobody can npm install here"], ["anybody may look: npm install it"]),
    "pasted": (["+ npm install", "$ npm install"], ["1. npm install"]),
    "asked for an opinion": (["so npm install, right?"], ["npm install it right away"]),
    "in another script": (["不要 npm install", "npm install しないで"], ["请 npm install"]),
}


def test_every_rule_has_its_cases() -> None:
    assert [rule.name for rule in INNOCENT] == list(RULES)
    assert all(rule.meaning.endswith(".") for rule in INNOCENT)


@pytest.mark.parametrize(("name", "prompt"), [(name, prompt) for name, (calm, _) in RULES.items() for prompt in calm])
def test_an_innocent_mention_is_explained_by_its_rule(name: str, prompt: str) -> None:
    start = prompt.index("npm install")
    rule = innocent(prompt, start, start + len("npm install"))
    assert rule is not None and rule.name == name
    assert match_triggers(prompt, NPM) is None


@pytest.mark.parametrize("prompt", [prompt for _, orders in RULES.values() for prompt in orders])
def test_an_order_that_looks_innocent_fires(prompt: str) -> None:
    assert match_triggers(prompt, NPM) == "npm install"


def test_one_order_is_enough_beside_innocent_mentions() -> None:
    assert match_triggers("don't npm install x. npm install y", NPM) == "npm install"


def test_a_correction_says_both_forms_and_why() -> None:
    note = make_correction("npm install", "pnpm add", "it is a workspace", "project:h/o/n", created="2026-03-01")
    assert note.kind == "correction"
    assert note.text == "Not: npm install\nInstead: pnpm add\nWhy: it is a workspace"
    assert (note.wrong, note.right, note.triggers, note.realm) == ("npm install", "pnpm add", NPM, "project:h/o/n")
    assert parse_note(format_note(note), fallback_id="x", fallback_realm="x") == note


def test_correcting_the_same_again_is_the_same_note() -> None:
    assert make_correction("a b", "c").id == make_correction("a b", "d", "why").id
    assert make_correction("a b", "c").id != make_correction("a b", "c", realm="team:x").id


@pytest.mark.parametrize(("wrong", "right"), [("", "x"), ("x", " \n")])
def test_a_correction_has_two_sides(wrong: str, right: str) -> None:
    with pytest.raises(ValueError, match="wrong"):
        make_correction(wrong, right)


@pytest.mark.parametrize(
    ("wrong", "triggers"),
    [
        ("npm install", ("npm install",)),
        ("Never use npm install", ("npm install",)),
        ("use moment()", ("moment()",)),
        ("using float", ("using float",)),
        ("Date.today / Time.now", ("Date.today", "Time.now")),
        ("running `rails db:seed` when you are on the staging host", ("rails db:seed",)),
        ("a `sleep` in specs", ("a sleep in specs",)),
        ("edit files in `src/gen/`", ("edit files in src/gen/",)),
        ("touch `gen/**` by hand", ("touch gen/** by hand",)),
        ("use `lib/old/`", ("lib/old/",)),
        ("one two three four five six seven", ("one two three four five six seven",)),
    ],
)
def test_triggers_are_what_would_be_typed(wrong: str, triggers: tuple[str, ...]) -> None:
    assert triggers_for(wrong) == triggers


def test_given_triggers_replace_made_ones() -> None:
    assert make_correction("float for money", "cents", triggers=["as a float"]).triggers == ("as a float",)


PIECES = "npm install --force moment() db:seed the a. on main Main it; use print src/gen/ src/gen/x.py edit \n 日本 é"
WORDS = st.lists(st.sampled_from(PIECES.split(" ")), max_size=12)


@settings(deadline=None)
@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_what_fires_is_never_only_mentioned(prompt: str, trigger: str) -> None:
    assert not (match_triggers(prompt, (trigger,)) and only_mentioned(prompt, (trigger,)))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=())), st.lists(st.text(max_size=12), max_size=3))
def test_any_text_has_an_answer(prompt: str, triggers: list[str]) -> None:
    assert match_triggers(prompt, triggers) in (None, *triggers)


def test_what_a_person_says_around_a_pasted_log_is_heard() -> None:
    log = "error: something failed at line 7\n" * 5000
    assert match_triggers(f"npm install it\n{log}", NPM)
    assert match_triggers(f"{log}\nnpm install it", NPM)


@pytest.mark.parametrize(
    "piece",
    [
        "requests ",
        "print,",
        "add a print ",
        "what does print and ",
        "pip install a b c ",
        "src/gen/x ",
        "fix src/gen/x ",
        "src/gen/",
        "db/x.rb ",
        "how many ",
        "in `",
    ],
)
def test_the_worst_prompt_takes_a_time_that_grows_with_its_length(piece: str, growth: Growth) -> None:
    triggers = ("print", "requests", "edit src/gen/", "run src/gen/", "src/gen/", "edit db/x.rb", "npm install")

    def work(count: int) -> None:
        prompt = piece * (count // len(piece))
        match_triggers(prompt, triggers)
        only_mentioned(prompt, triggers)

    assert growth(work, 4_000) < 30


@pytest.mark.parametrize("piece", ["x y ", "npm install ", "what npm install ", "replace ", "a.", "don't ", "`", "("])
def test_a_long_repetitive_prompt_is_answered(piece: str) -> None:
    match_triggers(piece * (200_000 // len(piece)), ("x y z", "npm install"))
