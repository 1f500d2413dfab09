"""A process to be killed: the real engine on 12 cells of 4 calls each, asked of a server on loopback.

`python -m tests.faults.killable FOLDER PORT`; started again it goes on. It says "attempt" when its folder is open, so that
whoever kills it knows that work has begun.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from dreambench.engine.budget import Budget, Limits
from dreambench.engine.call import Call, CallRecord, Reply
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.engine import Engine
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import Journal
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.pending import Pending
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import AnswerStore, CacheMode
from dreambench.records import Judgment

CELLS, CALLS, WIDTH = 12, 4, 6


class Silent:
    def call_recorded(self, record: CallRecord) -> None: ...

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None: ...

    def stopping(self, why: str) -> None: ...
    def note(self, line: str) -> None: ...

    def close(self) -> None: ...


async def ask(port: int, question: str) -> Reply:
    """One request in the form that the scripted server reads."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": question}]}).encode()
    writer.write(f"POST /v1 HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(length))
    writer.close()
    return Reply(answer=answer["id"], cost=0.01)


async def main(folder: Path, port: int) -> None:
    clock, pending, store = Clock(), Pending(), AnswerStore(CacheMode.READWRITE)
    budget, limiters = Budget(Limits(), clock), Limiters(Widths(WIDTH, WIDTH), clock)
    store.open(shared=folder / "cache", run_local=folder / "answers")
    journal = Journal(folder / "journal.jsonl")
    pending.open(folder / ".pending", journal.write_lost)
    gateway = Gateway(
        store=store,
        limiters=limiters,
        retry=RetryPolicy(),
        budget=budget,
        clock=clock,
        record=journal.write_call,
        pending=pending,
    )

    async def work(cell: Cell) -> list[Judgment]:
        asked = [f"{cell.id}/{number}" for number in range(CALLS)]
        calls = (gateway.call(Call("p", "p", "m", {"q": q}), lambda q=q: ask(port, q)) for q in asked)
        replies = await asyncio.gather(*calls)
        return [Judgment(q, "f", reply.answer, 1.0) for q, reply in zip(asked, replies, strict=True)]

    sys.stdout.write("attempt\n")
    sys.stdout.flush()
    cells = [Cell(f"c{number}", "m", "j", "t", f"r{number}", 0, {}) for number in range(CELLS)]
    await Engine(journal=journal, limiters=limiters, budget=budget, progress=Silent()).run(cells, work)
    pending.close()
    journal.close()
    store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
