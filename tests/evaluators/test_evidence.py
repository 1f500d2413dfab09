"""Evidence: which pages are taken from several searches, how pages are cut, and which passages a claim is shown."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

from dreambench.evaluators.evidence import Pages, best_hits, cut_passages, pool_of
from dreambench.judges.kinds.entailment import Answer
from dreambench.tools.results import Search, SearchHit
from tests.support.gateway import TestGateway
from tests.support.workflow import corpus, page

LONG = " ".join(f"Filler sentence number {n} says nothing much." for n in range(40))
TEXT = f"{LONG} The Aar Bridge is 503 metres long. {LONG} Nobody measured the Aar Bridge before 1990. {LONG}"
URL = "https://a.example/p"


def search(*urls: str) -> Search:
    return Search("q", tuple(SearchHit(url, url, "") for url in urls))


def test_results_are_pooled_by_rank_then_by_how_often_they_are_found() -> None:
    first = search("https://a.example/", "https://b.example", "https://c.example")
    second = search("http://www.c.example/#top", "https://b.example/", "https://d.example?utm_source=x")
    third = search("https://d.example", "https://b.example")
    found = [hit.url for hit in best_hits([first, second, third], 9)]
    assert found == ["https://c.example", "https://d.example?utm_source=x", "https://a.example/", "https://b.example"]
    assert best_hits([first, second, third], 2) == best_hits([first, second, third], 9)[:2]
    assert best_hits([search(), search()], 3) == []


def test_a_page_is_cut_between_sentences_and_nothing_is_lost() -> None:
    passages = cut_passages(TEXT, 200)
    assert all(len(passage) <= 200 and passage.endswith(".") for passage in passages)
    assert " ".join(passages) == TEXT
    assert cut_passages("x" * 500, 200) == ["x" * 500]
    assert cut_passages(" \n ", 200) == []


def test_a_claim_is_shown_the_passages_that_fit_it_in_the_order_of_the_page(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(gateway, tmp_path, [page(URL, TEXT), page("https://b.example/", "Short page.", None)])

    async def work() -> None:
        pages = Pages(tools, date(2025, 1, 1), 120)
        read = [await pages.read(URL), await pages.read("https://b.example/"), await pages.read("https://c.example/")]
        pool = await pool_of(read, ["The Aar Bridge is 503 metres long.", "Aar Bridge length"], 2)
        assert [passage.id for passage in pool.passages] == ["p1", "p2", "p3"]
        assert "503 metres" in pool.passages[0].text and "Nobody measured" in pool.passages[1].text
        assert (pool.passages[0].published, pool.passages[2].published) == ("2024-05-01", "")
        total = len(read[0].passages) + 1
        assert pool.note == f"3 of {total} passages of 2 of 3 pages (https://c.example/ not_in_corpus)"
        quoting = Answer(reason="r", passage="p1", quote="Nobody measured the Aar Bridge", label="supported")
        evidence = pool.evidence(quoting)
        assert evidence is not None and evidence.url == URL and len(evidence.snapshot) == 64, (
            "the words are found where they stand"
        )
        assert pool.passage_of(quoting) == pool.passages[1] and not pool.misquotes(quoting)
        inventing = quoting.model_copy(update={"quote": "Everybody sang all day long"})
        assert pool.misquotes(inventing) and pool.evidence(inventing) is None

    asyncio.run(work())


def test_a_page_without_text_is_empty(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(gateway, tmp_path, [page(URL, " ")])
    read = asyncio.run(Pages(tools, None, 100).read(URL))
    assert (read.passages, read.reason_code) == ((), "empty")


def test_a_later_page_is_not_read(gateway: TestGateway, tmp_path: Path) -> None:
    tools = corpus(gateway, tmp_path, [page(URL, "News of June.", "2025-06-01")])
    assert asyncio.run(Pages(tools, date(2025, 5, 1), 100).read(URL)).reason_code == "not_in_corpus"
