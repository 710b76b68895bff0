"""Which of a person's projects a realm takes from a store of all of them."""

from __future__ import annotations

from collections import Counter

import pytest

from chitta.importing.projects import Projects, project_name

COUNTS = Counter({"shop": 3, "blog": 2, "": 1})


@pytest.mark.parametrize("realm", ["project:github.com/acme/Shop", "project:shop-0a1b2c3d", "project:h/shop"])
def test_a_projects_realm_takes_its_own_and_what_is_of_none(realm: str) -> None:
    projects = Projects(COUNTS, realm)
    assert [projects.takes(name) for name in ("shop", "Shop", "", "blog")] == [True, True, True, False]
    assert projects.passed_over().startswith("holds 2 of other projects, passed over: blog (2);")
    assert projects.remark("shop") == ""


@pytest.mark.parametrize("realm", ["global", "team"])
def test_any_other_realm_takes_all(realm: str) -> None:
    projects = Projects(COUNTS, realm)
    assert projects.takes("blog") and projects.passed_over() == "" and projects.remark("blog") == ""


def test_the_only_project_is_taken_under_any_name() -> None:
    projects = Projects(Counter({"old-name": 3, "": 9}), "project:h/shop")
    assert projects.takes("old-name") and projects.passed_over() == ""
    assert "old-name" in projects.remark("old-name")


def test_only_the_largest_are_named() -> None:
    projects = Projects(Counter({f"p{number}": number for number in range(1, 9)}), "project:h/shop")
    assert "p8 (8), p7 (7), p6 (6), p5 (5), p4 (4) and 3 more" in projects.passed_over()


def test_a_path_is_named_after_its_folder() -> None:
    assert [project_name(value) for value in ("/w/shop/", "C:\\w\\shop", "shop", "")] == ["shop", "shop", "shop", ""]
