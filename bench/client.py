"""What a typed call costs our client: processor time per uncached call through gateway and judge, beside bare instructor on
litellm, against the same server on loopback.

python -m bench.client [CALLS [ROUNDS]]    calls of a block (30), blocks of each (9)

Ours and bare are processes of their own that work by turns, so that neither meets the other's settings; the server is a third.
Ours renders the rubric, computes the key, looks into the cache, buys, stores on disk and keeps the ledger; bare renders
it, sends it and gets the validated answer.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.worker import server, start

RUBRICS = [f"wq/{name}.default" for name in ("main_idea_clarity", "readability_and_flow", "structural_coherence")]
"""Asked of every report in turn, as a metric does; a block has a third as many reports as calls."""
AT_ONCE = 8
Ask = Callable[[int], Awaitable[Any]]


def context(number: int) -> dict[str, Any]:
    """A report of 6 kB."""
    text = f"Report {number // len(RUBRICS)}. " + "Storage grew by a fifth in the year, and costs fell again. " * 100
    return {"question": "How does grid storage grow?", "report": text, "as_of": None}


def rubrics() -> Callable[[int], Any]:
    from dreambench.config.locations import bundled
    from dreambench.judges.rubric import RubricShelf

    shelf = RubricShelf([bundled("rubrics")])
    loaded = [shelf.load(name) for name in RUBRICS]
    return lambda number: loaded[number % len(loaded)]


def ours(url: str, folder: Path) -> Ask:
    from dreambench.engine.budget import Budget, Limits
    from dreambench.engine.clock import Clock
    from dreambench.engine.gateway import Gateway
    from dreambench.engine.journal import Journal
    from dreambench.engine.limiter import Limiters, Widths
    from dreambench.engine.retry import RetryPolicy
    from dreambench.engine.store import AnswerStore, CacheMode
    from dreambench.judges.llm import LLMJudge

    clock = Clock()
    store = AnswerStore(CacheMode.READWRITE)
    store.open(shared=folder / "cache", run_local=folder / "run")
    gateway = Gateway(
        store=store,
        limiters=Limiters(Widths(AT_ONCE, AT_ONCE), clock),
        retry=RetryPolicy(),
        budget=Budget(Limits(), clock),
        clock=clock,
        record=Journal(folder / "journal.jsonl").write_call,
    )
    judge = LLMJudge(name="bench", gateway=gateway, model="openai/anything", api_base=url)
    asked = rubrics()
    return lambda number: judge.ask(asked(number), **context(number))


def bare(url: str, folder: Path) -> Ask:
    import instructor
    import litellm

    asked = rubrics()
    client = instructor.from_litellm(litellm.acompletion)

    def ask(number: int) -> Awaitable[Any]:
        rubric = asked(number)
        given = rubric.kind.context(**context(number))
        answer: Awaitable[Any] = client.chat.completions.create(
            model="openai/anything",
            api_base=url,
            api_key="none",
            messages=rubric.render(given),
            response_model=rubric.kind.answer_model(rubric.settings, given),
            max_retries=1,
        )
        return answer

    return ask


def work(side: str, url: str, folder: str, calls: int) -> None:
    """A process of one side: a block of calls for every line on standard input, answered with milliseconds per call."""
    ask = {"ours": ours, "bare": bare}[side](url, Path(folder))

    async def block(first: int) -> float:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                await ask(number)

        started = time.process_time()
        await asyncio.gather(*(one(first + number) for number in range(calls)))
        await asyncio.sleep(0.2)  # what is put off until after the answer (logging, book-keeping) is paid here
        return 1000 * (time.process_time() - started) / calls

    async def blocks() -> None:
        for number, _ in enumerate(iter(sys.stdin.readline, "")):
            sys.stdout.write(f"{await block(number * calls)}\n")
            sys.stdout.flush()

    asyncio.run(blocks())


def main(calls: int = 30, rounds: int = 9) -> None:
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        url = server(ends, folder)
        sides = {
            side: start(ends, folder, "-m", "bench.client", side, url, str(folder), str(calls)) for side in ("ours", "bare")
        }
        pairs = [tuple(_block(process) for process in sides.values()) for _ in range(rounds + 1)][1:]
        mine, base = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(pair[0] / pair[1] for pair in pairs)
    print(
        f"client, processor time of a call {mine:7.2f} ms   bare instructor + litellm {base:7.2f} ms   "
        f"ratio {ratio:5.2f}   target at most 1.10"
    )


def _block(process: subprocess.Popen[str]) -> float:
    assert process.stdin and process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["bare"]):
        work(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main(*map(int, sys.argv[1:]))
