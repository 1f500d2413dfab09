"""The frozen corpus: what a search finds, and that no search finds what was not out yet."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.datasets.demo import BUNDLED
from dreambench.errors import DatasetError
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page, read_pages

PAGES = [
    Page("https://a.example/solar", "Solar capacity", "Solar capacity reached 1,419 GW in 2023.", date(2024, 3, 1)),
    Page("https://a.example/wind", "Wind power", "Wind grew slowly and NOT as fast as solar.", date(2024, 6, 1)),
    Page("https://b.example/风电", "风电装机", "2024年风电装机容量达到一千吉瓦，比上年增长。", date(2025, 3, 1), language="zh"),
    Page("https://b.example/茶", "茶叶出口", "中国茶叶出口下降，价格上涨。", None, language="zh"),
]
CORPUS = Corpus(PAGES)


def urls(query: str, as_of: date | None = None, k: int = 10, **keys: object) -> list[str]:
    return [hit.page.url for hit in CORPUS.search(query, as_of, k, **keys)]  # type: ignore[arg-type]


def test_english_words_are_found_by_their_stem() -> None:
    assert urls("capacities of solar power")[0] == "https://a.example/solar"


@pytest.mark.parametrize(
    ("query", "url"),
    [("风电装机容量", "https://b.example/风电"), ("茶叶价格", "https://b.example/茶"), ("出口", "https://b.example/茶")],
)
def test_chinese_queries_find_chinese_pages(query: str, url: str) -> None:
    assert urls(query)[0] == url


def test_a_mixed_query_finds_both_languages() -> None:
    assert set(urls("solar 风电")) >= {"https://a.example/solar", "https://b.example/风电"}


@pytest.mark.parametrize(
    "query", ["NOT solar", "solar AND", "title:solar", '"solar', "solar^9 (", "+solar -wind", "solar* [a TO b]"]
)
def test_a_query_is_words_and_never_a_query_language(query: str) -> None:
    assert "https://a.example/solar" in urls(query)


@pytest.mark.parametrize("query", ["", "   ", "!?", "\x00"])
def test_a_query_without_words_finds_nothing(query: str) -> None:
    assert urls(query) == []


def test_pages_without_a_date_are_kept_or_dropped() -> None:
    assert urls("茶叶", date(2024, 1, 1)) == ["https://b.example/茶"]
    assert urls("茶叶", date(2024, 1, 1), undated="drop") == []
    assert urls("茶叶", None, undated="drop") == ["https://b.example/茶"], "without a date none is needed"


def test_a_result_shows_the_passage_that_fits() -> None:
    long = Page("https://c.example", "Long", f"{'Nothing of note. ' * 200}The harvest of barley failed. {'More. ' * 300}", None)
    hit = Corpus([long]).find("barley harvest", None, 1)[0]
    assert "harvest of barley failed" in hit.snippet and len(hit.snippet) <= 302


def test_the_newest_version_out_by_the_date_is_read() -> None:
    versions = [Page("https://a.example/x", "X", f"v{year}", date(year, 1, 1)) for year in (2022, 2024, 2023)]
    corpus = Corpus(versions)
    assert [corpus.visit("http://www.a.example/x/", day).text for day in (date(2023, 5, 1), None)] == ["v2023", "v2024"]  # type: ignore[union-attr]
    assert corpus.visit("https://a.example/x", date(2021, 1, 1)) is None


def test_the_demo_corpus_holds_two_languages() -> None:
    pages = read_pages(BUNDLED / "corpus")
    assert Corpus(pages).search("warm", None, 1)
    assert {page.language for page in pages} >= {"en", "zh"}


def test_a_date_before_most_pages_still_finds_the_early_ones() -> None:
    """More later pages than are looked at before the date becomes part of the query."""
    late = [Page(f"https://l.example/{n}", "Barley", "barley barley barley", date(2025, 1, 1)) for n in range(200)]
    early = [Page(f"https://e.example/{n}", "Oats", f"barley among many other words {n}", date(2020, 1, 1)) for n in range(3)]
    hits = Corpus([*late, *early]).search("barley", date(2020, 6, 1), 5)
    assert sorted(hit.page.url for hit in hits) == [f"https://e.example/{n}" for n in range(3)]


WORDS = st.sampled_from(["solar", "wind", "barley", "风电", "茶叶", "出口"])
DAYS = st.dates(date(2020, 1, 1), date(2026, 12, 31))
SOME_PAGES = st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=5), st.none() | DAYS), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(SOME_PAGES, st.lists(WORDS, min_size=1, max_size=3), DAYS, st.integers(1, 8), st.sampled_from(["keep", "drop"]))
def test_a_search_never_finds_a_later_page(
    pages: list[tuple[list[str], date | None]], query: list[str], as_of: date, k: int, undated: str
) -> None:
    corpus = Corpus([Page(f"https://x.example/{n}", "", " ".join(words), day) for n, (words, day) in enumerate(pages)])
    hits = corpus.search(" ".join(query), as_of, k, undated)  # type: ignore[arg-type]
    assert all(hit.page.published <= as_of for hit in hits if hit.page.published)
    assert undated == "keep" or all(hit.page.published for hit in hits)
    matching = [words for words, day in pages if set(words) & set(query) and (day <= as_of if day else undated == "keep")]
    assert len(hits) == min(k, len(matching)), "and nothing that was out is kept back"


def test_a_page_without_front_matter_is_answered_with_what_to_type(tmp_path: Path) -> None:
    pages = tmp_path / "my pages"
    pages.mkdir()
    (pages / "a.md").write_text("# A page\n\nWords.\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_pages(pages)
    (problem,) = caught.value.problems
    assert problem.where == f"{pages}/a.md:1"
    assert problem.what == "has no front matter: fields between two lines of --- before its text"
    assert problem.allowed[0] == "url: and title:"
    assert problem.type is not None
    subprocess.run(["sh", "-c", problem.type], check=True, cwd=tmp_path)
    (page,) = read_pages(pages)
    assert (page.url, page.title) == ("https://ADDRESS", "TITLE") and page.text.startswith("# A page")


def test_trouble_with_many_pages_is_counted(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.md").write_text("---\ntitle: T\n---\nWords.\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_pages(tmp_path)
    said = [str(problem) for problem in caught.value.problems]
    assert len(said) == 6 and "0.md: is no page: it has no field 'url'" in said[0]
    assert "holds 4 more files or lines that are no pages" in said[5]
