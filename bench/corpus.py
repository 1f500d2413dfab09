"""The frozen corpus beside bare tantivy: index time, and the median look-up with a date, in Python and through the gateway.

python -m bench.corpus [PAGES]
"""

from __future__ import annotations

import asyncio
import itertools
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

from bench.timing import seconds
from dreambench.engine.budget import Budget, Limits
from dreambench.engine.clock import Clock
from dreambench.engine.gateway import Gateway
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import AnswerStore, CacheMode
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page, read_pages
from dreambench.tools.passage import EMPTY_WORDS
from dreambench.tools.toolset import CorpusTools

LOOK_UPS = 300
WORDS = 120
"""Words of a generated page; they are as rare as the words of English: the n-th is n times rarer than the first."""
VOCABULARY = 30_000
COMMON = "the of and to in a is that for it was on are as with be by at this from".split()


def generated(count: int) -> list[Page]:
    drawn = random.Random(0)
    words = COMMON + [f"{drawn.choice('bcdfgklmnprst')}{drawn.choice('aeiou')}{number:x}" for number in range(VOCABULARY)]
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(words))))
    first = date(2015, 1, 1)
    return [
        Page(
            f"https://{number % 997}.example/{number}",
            " ".join(drawn.choices(words, cum_weights=weights, k=6)),
            " ".join(drawn.choices(words, cum_weights=weights, k=WORDS)),
            first + timedelta(days=drawn.randrange(4000)) if number % 20 else None,
        )
        for number in range(count)
    ]


def queries(pages: list[Page]) -> list[str]:
    """Questions in words of the pages, common ones among them, as judges write them."""
    drawn = random.Random(1)
    return [" ".join(["what is the", *drawn.sample(drawn.choice(pages).text.split(), 5), "in 2023"]) for _ in range(LOOK_UPS)]


def bare_index(pages: list[Page]):  # noqa: ANN201
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("row", stored=True)
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    for row, page in enumerate(pages):
        writer.add_document(tantivy.Document(row=row, body=f"{page.title} {page.text}"))
    writer.commit()
    index.reload()
    return index


def median(look_up: Callable[[str], object], asked: list[str]) -> float:
    """Median seconds of one look-up."""
    for query in asked[:10]:
        look_up(query)
    return statistics.median(seconds(lambda query=query: look_up(query)) for query in asked)


def main(count: int = 100_000) -> None:
    pages = generated(count)
    asked = queries(pages)
    as_of = date(2023, 6, 1)
    corpus = Corpus(pages)
    ours = seconds(lambda: corpus.search("warm", None, 1))
    kept: list = []
    bare = seconds(lambda: kept.append(bare_index(pages)))
    searcher = kept[0].searcher()
    print(f"{count:,} pages indexed {ours:7.2f} s    bare tantivy, one field {bare:7.2f} s    ratio {ours / bare:5.2f}")

    def bare_look_up(query: str) -> object:
        words = " ".join(word for word in query.split() if word not in EMPTY_WORDS)
        return searcher.search(kept[0].parse_query_lenient(words, ["body"])[0], 10).hits

    base = median(bare_look_up, asked)
    for what, look_up in (
        ("search, any date", lambda query: corpus.search(query, None, 10)),
        ("search as of a date", lambda query: corpus.search(query, as_of, 10)),
        ("search with passages", lambda query: corpus.find(query, as_of, 10)),
    ):
        took = median(look_up, asked)
        print(f"{what:<28} {1000 * took:6.2f} ms median    bare tantivy {1000 * base:6.2f} ms    ratio {took / base:5.2f}")
    took = through_the_gateway(corpus, asked, as_of)
    print(f"{'web_search by the gateway':<28} {1000 * took:6.2f} ms median    bare tantivy {1000 * base:6.2f} ms")
    load_demo()


def through_the_gateway(corpus: Corpus, asked: list[str], as_of: date) -> float:
    """Median seconds of the whole look-up: cache miss, search, ledger, store on disk."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as name:
        store = AnswerStore(CacheMode.READWRITE)
        store.open(shared=Path(name) / "cache", run_local=Path(name) / "run")
        gateway = Gateway(
            store=store,
            limiters=Limiters(Widths(), clock),
            retry=RetryPolicy(),
            budget=Budget(Limits(), clock),
            clock=clock,
            record=lambda record: None,
        )
        one = Path(name) / "one.jsonl"
        one.write_text('{"url": "https://a.example", "title": "A", "text": "B"}', encoding="utf-8")
        tools = CorpusTools(gateway=gateway, path=one)
        tools.corpus = corpus
        corpus.fingerprint  # noqa: B018 - counted once per run, at its start

        async def work() -> float:
            times = []
            for query in asked:
                started = clock.monotonic()
                await tools.web_search(query, as_of, 10)
                times.append(clock.monotonic() - started)
            return statistics.median(times)

        took = asyncio.run(work())
        store.close()
        return took


def load_demo() -> None:
    """The demo's corpus from disk to the first answer."""
    from dreambench.datasets.demo import BUNDLED

    folder = BUNDLED / "corpus"
    if not folder.is_dir():
        print("the demo corpus is not in this checkout")
        return
    pages: list[Page] = []
    took = seconds(lambda: (pages.extend(read_pages(folder)), Corpus(pages).search("warm", None, 1)))
    bare = seconds(lambda: bare_index(pages))
    print(f"demo corpus, {len(pages)} pages, read and indexed {1000 * took:6.0f} ms    bare tantivy {1000 * bare:6.0f} ms")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
