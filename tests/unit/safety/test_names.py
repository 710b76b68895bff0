"""Secrets that names of notes spell."""

from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.ids import make_id
from chitta.safety.names import GONE, masked

GITHUB = "ghp_" + "8KdPq2Lm4Nf6Rt8Vx0Zb2Cd4Ef6Gh8Jk0Lm1"


def test_an_id_that_is_made_of_a_title_with_a_secret_is_masked() -> None:
    name = make_id(f"Use {GITHUB}", "global")
    assert masked(name).found and "8kdpq2" not in masked(name).name
    assert masked(name, f"Use {GITHUB}").found == ("github-pat",)


def test_a_password_is_found_by_the_text_that_holds_it() -> None:
    text = 'db_password = "k7Rq2vNw9xTz"'
    name = make_id(text, "global")
    assert masked(name).found == () and masked(name, text).name.startswith(f"db-password-{GONE}")


def test_a_file_that_has_the_secret_itself_as_its_name() -> None:
    assert masked(GITHUB).name == GONE


def test_an_unseen_character_does_not_hide_a_secret() -> None:
    assert masked(f"{GITHUB[:9]}\u200b{GITHUB[9:]}").name == GONE
    assert masked("the-akiaz3ms\u200bjv4wwnkzq5op-key").name == f"the-{GONE}-key"


def test_ordinary_names_stay() -> None:
    for name in ("sk-learn-pipelines-1f2e3d", "npm-install-with-a-lock-file-0a1b2c", "github-pat-expiry-5d6e7f"):
        assert masked(name, "password = hunter2") == (name, ())


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_name_without_a_find_is_as_it_was(name: str, text: str) -> None:
    done = masked(name, text)
    assert done.found or done.name == name


def test_what_is_private_is_masked_as_whole_words_or_where_the_name_was_cut() -> None:
    assert masked("ask-project-aurora-first-1a2b3c", private=["Project Aurora"]).name == f"ask-{GONE}-first-1a2b3c"
    assert masked("restores", private=["store"]).found == () and masked("a-b", private=["a"]).found == ()
    cut = make_id("steps to roll back the releases of it for projectaurora", "global")
    assert (
        "project" in cut
        and "aurora" not in cut
        and masked(cut, private=["projectaurora"]).name.endswith(f"-{GONE}{cut[-7:]}")
    )
    assert masked("café-plan-1a2b3c".replace("é", "e"), private=["Café"]).found == ("private span",)
