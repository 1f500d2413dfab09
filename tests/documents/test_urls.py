"""Where a URL ends, which ones are the same page, and who owns the domain."""

import pytest

from dreambench.documents import normalize_url, registrable_domain
from dreambench.documents.urls import UrlMap, find_identifier, link_target, trim_url


@pytest.mark.parametrize(
    ("raw", "url"),
    [
        ("https://a.example/x.", "https://a.example/x"),
        ("https://a.example/x),", "https://a.example/x"),
        ("https://a.example/Mercury_(planet)", "https://a.example/Mercury_(planet)"),
        ("https://a.example/Mercury_(planet)).", "https://a.example/Mercury_(planet)"),
        ("https://a.example/x**", "https://a.example/x"),
        ("https://a.example/x]", "https://a.example/x"),
        ("https://a.example/x的报告", "https://a.example/x"),
        ("https://zh.wikipedia.org/wiki/中文", "https://zh.wikipedia.org/wiki/中文"),
    ],
)
def test_a_url_ends_before_what_is_no_part_of_it(raw, url):
    assert trim_url(raw) == url


def test_addresses_are_found_in_chinese_and_english_text():
    text = "见https://a.example/x，以及(www.b.example/y)。See http://c.example; mail x@www.d.example and xhttp://"
    assert [url for _, _, url in UrlMap(text).found] == ["https://a.example/x", "https://www.b.example/y", "http://c.example"]


def test_an_archived_address_is_one_address():
    text = "https://web.archive.org/web/2020/https://www.a.example/x"
    assert [url for _, _, url in UrlMap(text).found] == [text]


def test_identifiers_have_one_resolver():
    assert find_identifier("Li (2020). doi: 10.1000/xyz.1.") == (11, 29, "https://doi.org/10.1000/xyz.1")
    assert find_identifier("preprint arXiv:2301.00001v2, 2023")[2] == "https://arxiv.org/abs/2301.00001v2"
    assert find_identifier("nothing: here") is None


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("(https://a.b/x)", "https://a.b/x"),
        ("(https://a.b/x_(y)_(z(w))) tail", "https://a.b/x_(y)_(z(w))"),
        ('(https://a.b/x "A title (new)")', "https://a.b/x"),
        ("(<https://a.b/x y>)", "https://a.b/x y"),
    ],
)
def test_link_targets_balance_their_parentheses(text, target):
    assert link_target(text, 0)[0] == target


def test_an_unclosed_link_has_no_target():
    assert link_target("(https://a.b/x", 0) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://A.example/x/", "https://a.example/x"),
        ("https://a.example:443/x", "https://a.example/x"),
        ("https://a.example", "https://a.example/"),
        ("https://www.a.example/x", "https://a.example/x"),
        ("https://a.example/x?utm_source=chat&id=3&fbclid=9", "https://a.example/x?id=3"),
        ("https://a.example/x#:~:text=some%20words", "https://a.example/x"),
        ("https://a.example/x#part:~:text=w", "https://a.example/x#part"),
        ("https://a.example/%7euser", "https://a.example/~user"),
        ("https://a.example/%e4%b8%ad", "https://a.example/%E4%B8%AD"),
    ],
)
def test_same_page(one, other):
    assert normalize_url(one) == normalize_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example/x", "https://a.example/X"),
        ("https://a.example/x?id=1", "https://a.example/x?id=2"),
        ("https://a.example:8080/x", "https://a.example/x"),
        ("https://a.example/#/one", "https://a.example/#/two"),
    ],
)
def test_other_page(one, other):
    assert normalize_url(one) != normalize_url(other)


@pytest.mark.parametrize("url", ["", "http://[broken", "mailto:a@b.example", "http://a:port/", "  x "])
def test_what_is_no_web_address_is_its_own_key(url):
    assert normalize_url(url) == url.strip() or normalize_url(url).startswith("https://")
    registrable_domain(url)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://news.bbc.co.uk/x", "bbc.co.uk"),
        ("https://user.github.io/p", "user.github.io"),
        ("https://some.blogspot.com/", "some.blogspot.com"),
        ("https://author.substack.com/p/x", "author.substack.com"),
        ("https://author.medium.com/x", "author.medium.com"),
        ("https://medium.com/@author/x", "medium.com"),
        ("https://a.b.site.example/x", "site.example"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "::1"),
        ("http://localhost:8000/x", "localhost"),
        ("WWW.Python.org", "python.org"),
        ("https://co.uk", None),
        ("https://host.notasuffixatall", None),
        ("", None),
    ],
)
def test_registrable_domain(url, domain):
    assert registrable_domain(url) == domain
