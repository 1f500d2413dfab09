"""Random failures against journal, scheduler and gateway: no answer is bought twice, and every run can be ended."""

from __future__ import annotations

import asyncio
import errno
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreambench.engine import journal as journal_module
from dreambench.engine.budget import Budget, BudgetReached, Limits
from dreambench.engine.call import Call, Reply
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.engine import Engine, Outcome
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import Journal, read_lines
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.pending import Pending
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import AnswerStore, CacheMode
from dreambench.errors import AnswerError, ProviderError
from dreambench.records import Judgment
from tests.engine.test_engine import Silent, make_cells
from tests.engine.test_journal import make_cell, record, row

CALLS = 3
OK = "ok"
TROUBLE = st.sampled_from([OK, OK, OK, "rate_limited", "server_error", "connection", "bad_request", "auth", "refusal", "bug"])
FEW = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Disk:
    """`os` for a journal whose writes fail where the script says so, in whole or after half of the line."""

    def __init__(self, script: Sequence[float | None]) -> None:
        self._script = list(script)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fsync(self, descriptor: int) -> None:
        """Nothing: a test loses no power."""

    def write(self, descriptor: int, data: bytes) -> int:
        part = self._script.pop(0) if self._script else None
        if part is None:
            return os.write(descriptor, data)
        if cut := int(len(data) * part):
            return os.write(descriptor, data[:cut])
        raise OSError(errno.ENOSPC, "No space left on device")


class World:
    """A provider with a script of troubles, and what it was asked and what it answered."""

    def __init__(self, folder: Path, script: Sequence[str]) -> None:
        self.folder = folder
        self.script = list(script)
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.open = 0
        self.most = 0

    async def send(self, question: str) -> Reply:
        self.asked[question] += 1
        self.open += 1
        self.most = max(self.most, self.open)
        what = self.script.pop(0) if self.script else OK
        await asyncio.sleep(0)
        self.open -= 1
        if what == "bug":
            raise ZeroDivisionError("a bug")
        if what == "refusal":
            return Reply("", finish="refusal", cost=0.1)
        if what != OK:
            raise ProviderError(what, code=what, permanent=what == "bad_request", fatal=what == "auth", retry_after=0.0)
        self.answered[question] += 1
        return Reply(f"answer to {question}", cost=0.1)

    async def attempt(self, cells: Sequence[Cell], width: int, calls: int | None) -> Outcome:
        clock, pending, store = Clock(), Pending(), AnswerStore(CacheMode.READWRITE)
        limiters, budget = Limiters(Widths(width, width), clock), Budget(Limits(calls=calls), clock)
        store.open(shared=self.folder / "cache", run_local=self.folder / "answers")
        journal = Journal(self.folder / "journal.jsonl")
        pending.open(self.folder / ".pending", journal.write_lost)
        gateway = Gateway(
            store=store,
            limiters=limiters,
            retry=RetryPolicy(attempts=2, base=0.0001, longest=0.0001),
            budget=budget,
            clock=clock,
            record=journal.write_call,
            pending=pending,
        )

        async def work(cell: Cell) -> list[Judgment]:
            asked = [f"{cell.id}/{number}" for number in range(CALLS)]
            calls = (gateway.call(Call("p", "p", "m", {"q": q}), lambda q=q: self.send(q)) for q in asked)
            return [Judgment(r.answer, "f", "l", 1.0) for r in await asyncio.gather(*calls)]

        engine = Engine(journal=journal, limiters=limiters, budget=budget, progress=Silent(), drop=gateway.drop)
        try:
            return await engine.run(cells, work)
        finally:
            await gateway.drain()
            pending.close()
            try:
                journal.close()
            finally:
                store.close()


@FEW
@given(
    script=st.lists(TROUBLE, max_size=40),
    disk=st.lists(st.sampled_from([None, None, None, 0.0, 0.5, 0.99]), max_size=20),
    width=st.integers(1, 5),
    calls=st.one_of(st.none(), st.integers(1, 12)),
    count=st.integers(1, 6),
)
def test_whatever_fails_no_answer_is_bought_twice_and_the_run_ends_whole(
    script: list[str],
    disk: list[float | None],
    width: int,
    calls: int | None,
    count: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    world, cells = World(tmp_path_factory.mktemp("world"), script), make_cells(count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "os", Disk(disk))
        try:
            outcome = asyncio.run(world.attempt(cells, width, calls))
        except (ZeroDivisionError, OSError):
            pass  # a bug or a full disk ends the attempt, and nothing else
        else:
            assert outcome.finished + outcome.owed >= count, "no cell is forgotten"
            if outcome.complete:
                assert outcome.finished == count
            assert isinstance(outcome.stop_error, ProviderError | AnswerError | BudgetReached | None)
    assert world.most <= width and world.open == 0
    for _ in range(len(world.script) + 2):
        try:
            outcome = asyncio.run(world.attempt(cells, width, None))
        except ZeroDivisionError:
            continue
        if outcome.complete:
            break
    assert outcome.complete and outcome.finished + outcome.before == count
    assert set(world.answered.values()) == {1}, "an answer that reached the process is never bought again"
    last = {
        line["cell"]: [row["item"] for row in line["judgments"]] for line in read_lines(world.folder / "journal.jsonl", "cell")
    }
    assert last == {cell.id: [f"answer to {cell.id}/{number}" for number in range(CALLS)] for cell in cells}
    bought = [line["key"] for line in read_lines(world.folder / "journal.jsonl", "call") if _paid(line)]
    assert len(bought) == len(set(bought)), "each is in the ledger once"
    assert len(bought) == count * CALLS or any(part is not None for part in disk), "and all are, unless a disk stayed full"


def _paid(line: dict[str, Any]) -> bool:
    return line["source"] == "provider" and line["outcome"] == "ok"


@FEW
@given(
    lines=st.lists(
        st.tuples(st.sampled_from(["call", "cell", "lost"]), st.sampled_from([None, None, 0.0, 0.3, 0.9])), max_size=15
    )
)
def test_any_order_of_failing_writes_leaves_a_readable_journal(
    lines: list[tuple[str, float | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    kept: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module, "os", Disk([part for _, part in lines]))
        journal = Journal(path)
        for number, (kind, part) in enumerate(lines):
            try:
                if kind == "call":
                    journal.write_call(record("provider"))
                elif kind == "cell":
                    journal.write_cell(make_cell(str(number)), [row()])
                    kept.append(str(number))
                else:
                    journal.write_lost(1)
            except OSError:
                assert part is not None
        journal.close()
    assert [line["cell"] for line in read_lines(path, "cell")] == kept
    assert len(list(read_lines(path, "call"))) == sum(kind == "call" for kind, _ in lines), "no bought call is forgotten"
    again = Journal(path)
    assert [name for name, done in again.done.items() if done] == kept
    again.close()
