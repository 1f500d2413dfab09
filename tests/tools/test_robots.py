"""robots.txt as RFC 9309 has it."""

from __future__ import annotations

import time

import pytest

from dreambench.tools.robots import DISALLOWED, Robots

FILE = """
# all
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-agent: Foobot
User-agent: DreamBench/2.0
Disallow: /
Allow: /example/page.html
Allow: /example/allowed.gif
Crawl-delay: 2.5

User-agent: empty
Disallow:
"""


def allows(name: str, path: str, text: str = FILE) -> bool:
    return Robots.parse(text, name).allows(f"https://a.example{path}")


@pytest.mark.parametrize(
    ("name", "path", "allowed"),
    [
        ("dreambench", "/example/page.html", True),
        ("dreambench", "/example/page.htm", False),
        ("dreambench", "/", False),
        ("dreambench", "/robots.txt", True),
        ("foobot", "/example/allowed.gif", True),
        ("other", "/example/page.html", False),
        ("other", "/publications/x.html", True),
        ("other", "/a.gif", False),
        ("other", "/a.gif?x", True),
        ("other", "/a.giff", True),
        ("empty", "/anything", True),
    ],
)
def test_the_group_of_the_name_and_the_longest_rule(name: str, path: str, allowed: bool) -> None:
    assert allows(name, path) is allowed


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("Disallow: /fish", "/fish.html", False),
        ("Disallow: /fish", "/Fish", True),
        ("Disallow: /fish*", "/fishheads/yummy.html", False),
        ("Disallow: /*.php$", "/folder/filename.php", False),
        ("Disallow: /*.php$", "/filename.php/", True),
        ("Disallow: /fish*.php", "/fishheads/catfish.php?x=1", False),
        ("Disallow: /*?", "/a?b", False),
        ("Disallow: /*?", "/a", True),
        ("Disallow: /$", "/", False),
        ("Disallow: /$", "/a", True),
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Disallow: /茶", "/%E8%8C%B6/x", False),
        ("Disallow: /", "/a", False),
    ],
)
def test_patterns(rule: str, path: str, allowed: bool) -> None:
    assert allows("dreambench", path, f"User-agent: *\n{rule}") is allowed


def test_a_file_without_rules_forbids_nothing() -> None:
    for text in ("", "<html>not found</html>", "Sitemap: https://a.example/s.xml", "Disallow: /before-any-group"):
        assert allows("dreambench", "/a", text)


def test_groups_of_one_name_count_together_and_delays_are_read() -> None:
    text = "User-agent: dreambench\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: dreambench\nDisallow: /b\n"
    assert [allows("dreambench", path, text) for path in ("/a", "/b", "/c")] == [False, False, True]
    assert Robots.parse(FILE, "dreambench").delay == 2.5
    assert Robots.parse("User-agent: *\nCrawl-delay: soon", "dreambench").delay == 0


def test_all_is_forbidden() -> None:
    assert not DISALLOWED.allows("https://a.example/")


def test_patterns_cannot_take_long() -> None:
    text = "User-agent: *\n" + f"Disallow: /{'*a' * 2000}b\n" * 50
    started = time.perf_counter()
    assert allows("dreambench", "/" + "a" * 4000, text)
    assert time.perf_counter() - started < 20  # tried in every way it would take longer than anyone waits
