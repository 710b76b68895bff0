"""Realm identity, against repositories that git itself made."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.notes.realms import GLOBAL, folder_realm, realm_folder, realm_of, valid_realm

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own, beside the repositories of a test."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, remote: str = "", name: str = "origin") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    if remote:
        git(folder, "remote", "add", name, remote)
    return folder


def with_config(folder: Path, config: str) -> str:
    """The realm of a bare-bones repository with this config, made without git."""
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text(config)
    return realm_of(str(folder))


ADDRESSES = {
    "git@github.com:acme/app.git": "github.com/acme/app",
    "github.com:acme/app": "github.com/acme/app",
    "git@GitHub.com:/acme/app.git/": "github.com/acme/app",
    "ssh://git@github.com/acme/app": "github.com/acme/app",
    "ssh://git@github.com:22/acme/app.git": "github.com/acme/app",
    "ssh://git@github.com:/acme/app.git": "github.com/acme/app",
    "git+ssh://git@github.com/acme/app.git": "github.com/acme/app",
    "https://github.com/acme/app.git": "github.com/acme/app",
    "https://github.com:443//acme/app/": "github.com/acme/app",
    "http://github.com:80/acme/app": "github.com/acme/app",
    "HTTPS://user:p%40ss:w@rd@github.com/acme/app": "github.com/acme/app",
    "git://github.com:9418/acme/app/.git": "github.com/acme/app",
    "https://x-access-token:secret@github.com/Acme/App.git": "github.com/Acme/App",
    "ssh://git@host.example:2222/acme/app": "host.example:2222/acme/app",
    "[git@host.example:2222]:acme/app": "host.example:2222/acme/app",
    "ssh://git@[2001:DB8::1]:22/acme/app": "[2001:db8::1]/acme/app",
    "git@[2001:db8::1]:acme/app": "[2001:db8::1]/acme/app",
    "https://gitlab.com/group/sub/app": "gitlab.com/group/sub/app",
    "git@host:~me/app.git": "host/~me/app",
    "https://host/@scope/app": "host/@scope/app",
    "https://host/jane.doe@example.org/app": "host/jane.doe@example.org/app",
}
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
NO_ADDRESSES = [
    "/srv/git/app.git",
    "../app",
    "./a:b/app",
    "C:/work/app",
    "file:///srv/git/app.git",
    "file://host/srv/app",
    "ext::sh -c x",
    "codecommit::eu-west-1://app",
    "https://github.com/",
    "https://github.com/../app",
    "https://host/cgi?repo=app&token=secret",
    "https://host:port/acme/app",
    "git@host:",
    "bundle.bundle",
]


@pytest.mark.parametrize(("url", "address"), ADDRESSES.items())
def test_every_way_to_write_an_address_is_one_realm(tmp_path: Path, url: str, address: str) -> None:
    config = (
        f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    )
    assert with_config(tmp_path / "any name", config) == f"project:{address}"


@pytest.mark.parametrize(
    ("url", "address"),
    {
        f"https://github.com/{SECRET}@acme/shop": "github.com/acme/shop",
        f"https://github.com/acme/{SECRET}%40shop.git": "github.com/acme/shop",
        f"https://{SECRET}@github.com/{SECRET}@acme/{SECRET}@shop": "github.com/acme/shop",
        f"git:{SECRET}@host:a/b": "host/a/b",
        f"host:{SECRET}@a/b": "host/a/b",
        f"https://host/{SECRET}@example.org/app": "host/example.org/app",
    }.items(),
)
def test_fault_38_what_stands_before_an_at_is_no_part_of_a_realm(tmp_path: Path, url: str, address: str) -> None:
    assert with_config(tmp_path / "any", f'[remote "origin"]\n\turl = {url}\n') == f"project:{address}"


def test_fault_38_an_at_with_nothing_behind_it_is_no_address(tmp_path: Path) -> None:
    realm = with_config(tmp_path / "app", f'[remote "origin"]\n\turl = https://github.com/acme/{SECRET}@/shop\n')
    assert re.fullmatch(r"project:app-[0-9a-f]{8}", realm)


@pytest.mark.parametrize("url", NO_ADDRESSES)
def test_what_is_no_network_address_is_no_identity(tmp_path: Path, url: str) -> None:
    realm = with_config(tmp_path / "app", f'[remote "origin"]\n\turl = "{url}"\n')
    assert re.fullmatch(r"project:app-[0-9a-f]{8}", realm)
    assert "secret" not in realm


@pytest.mark.parametrize(
    "config",
    [
        '[REMOTE "origin"] URL = https://h/o/n ; a comment\n',
        '[remote "origin"]\n  url = "https://h/o/n" # a comment\n',
        '\ufeff[remote "origin"]\r\n\turl=https://h/o/n\r\n',
        '[remote "origin"]\n\turl = https://h\\\n/o/n\n',
        "[remote.origin]\nurl = https://h/o/n\n",
        '[remote "origin"]\n\turl = https://h/o/n\n\turl = https://h/second/url\n\tpushurl = https://h/p/p\n',
        '[remote "a"]\nurl = https://h/a/a\n[remote "origin"]\nurl = https://h/o/n\n',
        '[remote "z"]\nurl = https://h/z/z\n[branch "origin"]\nurl = https://h/x/x\n[remote "b"]\nurl = https://h/o/n\n',
        '[remote "origin"]\nurl = /a/clone/of/a/clone\n[remote "upstream"]\nurl = https://h/o/n\n',
    ],
)
def test_config_is_read_as_git_reads_it(tmp_path: Path, config: str) -> None:
    assert with_config(tmp_path / "app", config) == "project:h/o/n"


@needs_git
def test_our_reading_agrees_with_what_git_writes(tmp_path: Path) -> None:
    root = repository(tmp_path / "a folder", 'https://h/o/"quoted";n#x', name="upstream")
    assert re.fullmatch(r"project:a folder-[0-9a-f]{8}", realm_of(str(root)))
    git(root, "remote", "add", "origin", "git@github.com:acme/app.git")
    assert realm_of(str(root)) == "project:github.com/acme/app"


@needs_git
def test_fault_35_work_trees_and_folders_below_share_their_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (root / "src" / "deep").mkdir(parents=True)
    git(root, "worktree", "add", "-q", "--detach", str(tmp_path / "other place"))
    realm = realm_of(str(root))
    assert re.fullmatch(r"project:app-[0-9a-f]{8}", realm)
    assert realm_of(str(root / "src" / "deep")) == realm
    assert realm_of(str(tmp_path / "other place")) == realm
    assert realm_of(str(root / ".git" / "hooks")) == realm


@needs_git
def test_work_trees_of_a_bare_repository_share_it(tmp_path: Path) -> None:
    seed = repository(tmp_path / "seed")
    git(tmp_path, "clone", "-q", "--bare", str(seed), "app.git")
    git(tmp_path / "app.git", "worktree", "add", "-q", "--detach", str(tmp_path / "tree"))
    realm = realm_of(str(tmp_path / "tree"))
    assert re.fullmatch(r"project:app-[0-9a-f]{8}", realm)
    assert realm_of(str(tmp_path / "app.git")) == realm


@needs_git
def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner")
    outer = repository(tmp_path / "outer", "https://h/o/outer")
    git(outer, "submodule", "add", "-q", str(inner), "parts/inner")
    realm = realm_of(str(outer / "parts" / "inner"))
    assert re.fullmatch(r"project:inner-[0-9a-f]{8}", realm)
    git(outer / "parts" / "inner", "remote", "set-url", "origin", "https://h/o/inner")
    assert realm_of(str(outer / "parts" / "inner")) == "project:h/o/inner"


@needs_git
def test_fault_36_projects_with_one_folder_name_stay_apart(tmp_path: Path) -> None:
    one, other = repository(tmp_path / "a" / "app"), repository(tmp_path / "b" / "app")
    assert realm_of(str(one)) != realm_of(str(other))
    mine = repository(tmp_path / "c" / "app", "git@h:me/app.git")
    theirs = repository(tmp_path / "d" / "app", "git@h:them/app.git")
    assert realm_of(str(mine)) != realm_of(str(theirs))


@needs_git
def test_fault_35_a_renamed_folder_keeps_its_realm_when_it_has_a_remote(tmp_path: Path) -> None:
    root = repository(tmp_path / "old", "git@h:me/app.git")
    realm = realm_of(str(root))
    assert realm_of(str(root.rename(tmp_path / "new"))) == realm


@needs_git
def test_a_path_through_a_link_is_the_same_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (tmp_path / "link to it").symlink_to(root)
    assert realm_of(str(tmp_path / "link to it")) == realm_of(str(root))


def test_outside_a_repository_is_global(tmp_path: Path) -> None:
    (tmp_path / "broken" / ".git").mkdir(parents=True)
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling" / ".git").write_text("gitdir: /nowhere/at/all\n")
    for cwd in ("", "relative", "/no/such/folder", "nul\0", "\ud800", str(tmp_path)):
        assert realm_of(cwd) == GLOBAL
    for name in ("broken", "dangling"):
        assert realm_of(str(tmp_path / name)) == GLOBAL


@needs_git
def test_dot_files_under_git_do_not_make_the_home_folder_a_project(tmp_path: Path) -> None:
    home = tmp_path / "home"
    git(home, "init", "-q")
    (home / "work").mkdir()
    assert realm_of(str(home)) == realm_of(str(home / "work")) == GLOBAL
    project = repository(home / "work" / "app", "git@h:o/n")
    assert realm_of(str(project)) == "project:h/o/n"


def test_an_override_wins_when_it_is_a_realm(tmp_path: Path) -> None:
    assert realm_of(str(tmp_path), "team:shared") == "team:shared"
    assert realm_of(str(tmp_path), "../..") == GLOBAL


@pytest.mark.parametrize(
    "text", ["global", "project:h/o/n", "project:h:8080/o/n", "team/one", "日本:プロジェクト", "a b:c d"]
)
def test_valid_realms(text: str) -> None:
    assert valid_realm(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " a",
        "a ",
        ":",
        "a:",
        ":a",
        "a://b",
        "a:b//c",
        "a:/b",
        "a:b/",
        "..",
        "a:..",
        "a:b/../c",
        ".",
        "a\nb",
        "a\0",
        "a\u202eb",
    ]
    + ["x" * 201, "\ud800"],
)
def test_invalid_realms(text: str) -> None:
    assert not valid_realm(text)
    with pytest.raises(ValueError, match="no realm"):
        realm_folder(text)


def test_a_folder_can_be_read_by_people() -> None:
    assert realm_folder("global") == "global"
    assert realm_folder("project:github.com/acme/app_1") == "project/github.com/acme/app_1"
    assert realm_folder("project:github.com/Acme/.hidden") == "project/github.com/%41cme/%2Ehidden"
    assert realm_folder("project:h/o/notes.md") == "project/h/o/notes%2Emd"


@pytest.mark.parametrize("path", ["", "/", "a/%", "a/%zz", "a/%FF", "%2E%2E", "a//b", "long%"])
def test_folders_of_no_realm(path: str) -> None:
    with pytest.raises(ValueError):
        folder_realm(path)


def test_a_folder_made_by_hand_may_have_capitals() -> None:
    assert folder_realm("project/github.com/Acme") == "project:github.com/Acme"


REALMS = st.text(
    alphabet=st.sampled_from("aAbB.%/:-_~ é日😀md") | st.characters(categories=("L", "M", "N", "P", "S", "Zs")),
    min_size=1,
    max_size=200,
).filter(valid_realm)


@settings(deadline=None)
@given(REALMS | st.just("x:" + "日" * 198) | st.just("x:" + "." * 198))
def test_a_folder_leads_back_to_its_realm(realm: str) -> None:
    folder = realm_folder(realm)
    assert folder_realm(folder) == realm
    for name in folder.split("/"):
        assert re.fullmatch(r"[a-z0-9%_-][a-zA-F0-9._%-]*", name)
        assert len(name) <= 255
        assert not name.endswith(".md")


@settings(deadline=None)
@given(REALMS, REALMS)
def test_fault_36_two_realms_never_share_a_folder_even_where_case_is_ignored(one: str, other: str) -> None:
    assert (realm_folder(one).lower() == realm_folder(other).lower()) == (one == other)


LOOK_ALIKES = [
    *("project:x.org/a/b", "project:x.org/a-b", "project:x.org/a%2Fb", "project:x.org/a%2fb", "project:x.org/a_b"),
    *("project:x.org/a.b", "project:x.org/A/b", "project:x.org/a/B", "project:x.org/\u0430/b", "project:x.org/a/b."),
    *(
        "project:x.org/a/b..",
        "project:x.org/a/b%",
        "project:x.org/a/b%20",
        "project:x.org/a\u200bb",
        "project:x.org:a/b",
    ),
    *("project/x.org/a/b", "project:x.org/caf\u00e9", "project:x.org/cafe\u0301", "project:x.org/a\u2215b"),
    *("project:x.org/\uff41/b", "project:x.org/a b", "project:x.org/a~b", "project:x.org/a/b.md", "project:x.org/a/.b"),
]


def test_fault_36_names_that_look_alike_are_realms_of_their_own_or_none() -> None:
    """Unicode and case, dots and slashes, escapes: each has a folder of its own on any file system."""
    realms = [realm for realm in LOOK_ALIKES if valid_realm(realm)]
    folders = {realm_folder(realm).lower(): realm for realm in realms}
    assert len(folders) == len(realms) >= 20
    for realm in realms:
        assert folder_realm(realm_folder(realm)) == realm
        names = realm_folder(realm).split("/")
        assert all(name.isascii() and name not in ("", ".", "..") for name in names)
    assert not any(
        valid_realm(realm) for realm in ("project:x.org/a/b/", "project:x.org//b", "project:x.org/../b", "a\n")
    )


@pytest.mark.parametrize(
    "other", ["https://x.org/a/b/", "https://x.org/a/b.git", "git@x.org:a/b", "ssh://git@x.org:22/a/b"]
)
def test_fault_35_one_address_is_one_realm_and_a_fork_is_another(tmp_path: Path, other: str) -> None:
    def of(name: str, url: str) -> str:
        folder = tmp_path / name
        (folder / ".git" / "objects").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
        return realm_of(str(folder))

    first = of("app", "https://x.org/a/b")
    assert of("other/app", other) == first
    forks = [
        of(f"f{place}", url)
        for place, url in enumerate(["https://x.org/c/b", "https://y.org/a/b", "https://x.org/a/b/c"])
    ]
    assert len({first, *forks}) == 4
