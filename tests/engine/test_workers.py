"""Driver and worker over a channel in memory, with the real gateway, journal and engine: who decides, who makes, who dies."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dreambench.engine.budget import BudgetReached, Limits
from dreambench.engine.call import Call, Reply, Usage
from dreambench.engine.cell import Cell
from dreambench.engine.engine import Engine, Outcome
from dreambench.engine.gateway import Gateway
from dreambench.engine.journal import Journal, read_lines
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.workers.channel import ChannelClosed, Message, pack, unpack
from dreambench.engine.workers.messages import (
    call_from_json,
    call_to_json,
    error_from_json,
    error_to_json,
    judgments_from_json,
    judgments_to_json,
)
from dreambench.engine.workers.pool import Workers, WorkersError
from dreambench.engine.workers.worker import serve
from dreambench.errors import AnswerError, CacheMissError, InputError, Problem, ProviderError, TransientError
from dreambench.records import Evidence, Judgment, Status
from tests.engine.test_engine import Silent
from tests.support.gateway import TestGateway, make_gateway

Ask = Callable[[Gateway, Cell], Awaitable[str]]
END = ""


class End:
    """One end of a channel in memory; what crosses it is text, as between processes."""

    where = "memory"

    def __init__(self, given: asyncio.Queue[str], told: asyncio.Queue[str]) -> None:
        self.given, self.told, self.worker = given, told, None

    async def send(self, message: Message) -> None:
        if self.worker is not None and self.worker.done():
            raise ChannelClosed
        self.told.put_nowait(pack(message))

    async def receive(self) -> Message:
        if (text := await self.given.get()) == END:
            raise ChannelClosed
        return unpack(text)

    async def close(self) -> None:
        if self.worker is not None:
            self.worker.cancel()


class Place:
    """A run's folder, its gateway, and workers in tasks of this process."""

    def __init__(self, folder: Path, ask: Ask, *, count: int = 2, limits: Limits | None = None) -> None:
        self.gateway: TestGateway = make_gateway(folder, limits=limits, widths=Widths(4, 4))
        self.folder = folder
        self.ask = ask
        self.ends: list[End] = []
        self.judged: list[tuple[int, str]] = []
        self.refusal: Exception | None = None
        self.unreadable: Exception | None = None
        self.lost: list[int] = []
        self.workers = Workers(
            open_channel=self.open,
            count=count,
            start={"is": "start", "replays": False},
            gateway=self.gateway,
            lost=self.lost.append,
            folder=folder / "run",
        )

    async def open(self) -> End:
        to_worker: asyncio.Queue[str] = asyncio.Queue()
        to_driver: asyncio.Queue[str] = asyncio.Queue()
        ours, its = End(to_driver, to_worker), End(to_worker, to_driver)
        number = len(self.ends)
        place = self

        class Job:
            async def work(self, cell: Cell) -> Sequence[Judgment]:
                place.judged.append((number, cell.id))
                answer = await place.ask(self.gateway, cell)
                cell.columns["protocol"] = "made"
                return [Judgment(cell.id, "f", answer, 1.0)]

            def made(self) -> Mapping[str, str]:
                if place.unreadable is not None:
                    raise place.unreadable
                return {f"trajectories/{number}.json": "half a pair: \ud800"}

            async def close(self) -> None: ...

        async def prepare(start: Message, gateway: Gateway) -> Job:
            if place.refusal is not None:
                raise place.refusal
            job = Job()
            job.gateway = gateway  # type: ignore[attr-defined]
            return job

        ours.worker = asyncio.create_task(serve(its, prepare))  # type: ignore[assignment]
        ours.worker.add_done_callback(lambda _: to_driver.put_nowait(END))  # type: ignore[attr-defined]
        self.ends.append(ours)
        return ours

    def kill(self, number: int) -> None:
        self.ends[number].worker.cancel()  # type: ignore[attr-defined]

    async def run(self, cells: Sequence[Cell]) -> Outcome:
        (self.folder / "run").mkdir(exist_ok=True)
        journal = Journal(self.folder / "journal.jsonl")
        limiters: Limiters = self.gateway._limiters
        engine = Engine(journal=journal, limiters=limiters, budget=self.gateway._budget, progress=Silent(), least_open=8)
        try:
            await self.workers.open()
            return await engine.run(cells, self.workers.work)
        finally:
            await self.gateway.drain()
            await self.workers.close()
            self.gateway.store.close()
            journal.close()


def in_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs a test in a loop of its own; one that hangs fails."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), 30))

    return run


def make_cells(count: int, texts: int = 4) -> list[Cell]:
    return [Cell(f"c{number}", "m", "j", "t", f"r{number % texts}", 0, {}) for number in range(count)]


def call_of(text: str, *, metered: bool = True) -> Call:
    return Call("p", "account", "model", {"text": text}, metered=metered)


class Provider:
    """Counts what is made, and can hold or refuse it."""

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        self.held: Callable[[str], Awaitable[None]] | None = None

    async def ask(self, gateway: Gateway, cell: Cell) -> str:
        return (await gateway.call(call_of(cell.id), lambda: self.send(cell.id))).answer

    async def send(self, text: str) -> Reply:
        self.made[text] += 1
        if self.held is not None:
            await self.held(text)
        await asyncio.sleep(0)
        return Reply(f"answer to {text}", cost=0.01, usage=Usage(prompt=10))


@in_loop
async def test_cells_are_spread_and_every_call_goes_through_the_drivers_gateway(tmp_path: Path) -> None:
    provider = Provider()
    place = Place(tmp_path, provider.ask)
    outcome = await place.run(make_cells(20))
    assert outcome.complete and outcome.finished == 20
    assert set(provider.made.values()) == {1} and len(provider.made) == 20
    assert len(place.gateway.records) == 20 and {record.source for record in place.gateway.records} == {"provider"}
    assert {record.cell for record in place.gateway.records} == {f"c{number}" for number in range(20)}
    lines = list(read_lines(tmp_path / "journal.jsonl", "cell"))
    assert {line["columns"]["protocol"] for line in lines} == {"made"}
    assert (tmp_path / "run" / "trajectories" / "0.json").read_bytes() == "half a pair: \ud800".encode(errors="surrogatepass")
    workers_of_text = {text: {number for number, cell in place.judged if int(cell[1:]) % 4 == text} for text in range(4)}
    assert set.union(*workers_of_text.values()) == {0, 1}
    assert sum(len(numbers) for numbers in workers_of_text.values()) <= 6, "the cells of a text stay together"


@in_loop
async def test_equal_calls_of_two_workers_are_made_once(tmp_path: Path) -> None:
    provider = Provider()

    async def same(gateway: Gateway, cell: Cell) -> str:
        return (await gateway.call(call_of("same"), lambda: provider.send("same"))).answer

    place = Place(tmp_path, same)
    assert (await place.run(make_cells(12))).complete
    assert provider.made == {"same": 1}
    assert Counter(record.source for record in place.gateway.records)["provider"] == 1


@in_loop
async def test_a_worker_that_dies_loses_its_attempts_in_flight_only(tmp_path: Path) -> None:
    provider = Provider()
    place = Place(tmp_path, provider.ask)

    async def held(text: str) -> None:
        if sum(provider.made.values()) == 7:
            number = next(number for number, cell in place.judged if cell == text)
            place.kill(number)
            await asyncio.sleep(60)

    provider.held = held
    outcome = await place.run(make_cells(20))
    assert outcome.complete and outcome.finished == 20
    assert len(place.ends) == 3, "it was replaced"
    repeats = sum(provider.made.values()) - 20
    assert 1 <= repeats <= sum(place.lost) <= 4
    assert place.workers.findings == [
        f"workers that died: 1; calls in flight there: {sum(place.lost)} "
        "(asked again; the provider may have charged them twice)"
    ]
    answers = {line["cell"]: line["judgments"][0]["label"] for line in read_lines(tmp_path / "journal.jsonl", "cell")}
    assert answers == {f"c{number}": f"answer to c{number}" for number in range(20)}


@in_loop
async def test_who_shares_a_flight_with_a_dead_worker_makes_the_call_itself(tmp_path: Path) -> None:
    provider = Provider()
    place = Place(tmp_path, provider.ask)
    both = asyncio.Event()

    async def same(gateway: Gateway, cell: Cell) -> str:
        if len({number for number, _ in place.judged}) == 2:
            both.set()
        return (await gateway.call(call_of("same"), lambda: provider.send("same"))).answer

    async def held(text: str) -> None:
        if provider.made[text] == 1:
            await both.wait()
            await asyncio.sleep(0.01)
            place.kill(place.judged[0][0])
            await asyncio.sleep(60)

    place.ask, provider.held = same, held
    assert (await place.run(make_cells(8))).complete
    assert provider.made == {"same": 2}
    assert place.lost == [1]


@in_loop
async def test_a_cell_that_kills_every_worker_is_owed_and_the_others_are_judged(tmp_path: Path) -> None:
    provider = Provider()

    async def deadly(gateway: Gateway, cell: Cell) -> str:
        if cell.id == "c3":
            place.kill(place.judged[-1][0])
            await asyncio.sleep(60)
        return await provider.ask(gateway, cell)

    place = Place(tmp_path, deadly)
    outcome = await place.run(make_cells(8))
    assert (outcome.finished, outcome.owed, outcome.stopped) == (7, 1, "")
    (owed,) = (line for line in read_lines(tmp_path / "journal.jsonl", "cell") if line["owed"])
    assert (owed["cell"], owed["judgments"][0]["reason_code"]) == ("c3", "worker_died")


@in_loop
async def test_retries_are_the_drivers_and_errors_reach_the_metric_as_they_were(tmp_path: Path) -> None:
    provider, seen = Provider(), []

    async def held(text: str) -> None:
        if text == "c1" and provider.made[text] < 3:
            raise ProviderError("busy", code="server_error")
        if text == "c2":
            raise special

    class Special(ProviderError):
        """Known to one metric only."""

    special = Special("mine", code="bad_request", permanent=True)

    async def ask(gateway: Gateway, cell: Cell) -> str:
        try:
            return await provider.ask(gateway, cell)
        except ProviderError as error:
            seen.append(error)
            raise

    provider.held = held
    outcome = await Place(tmp_path, ask).run(make_cells(4))
    assert provider.made == {"c0": 1, "c1": 3, "c2": 1, "c3": 1}
    assert seen == [special]
    assert (outcome.finished, outcome.owed) == (3, 1)
    (owed,) = (line for line in read_lines(tmp_path / "journal.jsonl", "cell") if line["owed"])
    assert owed["judgments"][0]["reason_code"] == "bad_request"


@in_loop
async def test_the_budget_of_all_workers_together_is_the_runs(tmp_path: Path) -> None:
    provider = Provider()
    outcome = await Place(tmp_path, provider.ask, count=3, limits=Limits(calls=5)).run(make_cells(20))
    assert sum(provider.made.values()) == 5
    assert isinstance(outcome.stop_error, BudgetReached)
    assert outcome.finished == 5 and outcome.owed == 15


@in_loop
async def test_a_worker_that_cannot_make_the_run_ends_it_before_anything_is_asked(tmp_path: Path) -> None:
    provider = Provider()
    place = Place(tmp_path, provider.ask)
    place.refusal = InputError(Problem("dataset.reports", "is not there"))
    with pytest.raises(InputError) as caught:
        await place.run(make_cells(4))
    assert [str(problem) for problem in caught.value.problems] == ["dataset.reports: is not there"]
    assert not provider.made


@in_loop
async def test_workers_that_never_start_end_the_run_in_words(tmp_path: Path) -> None:
    place = Place(tmp_path, Provider().ask)

    async def never() -> End:
        raise OSError("no room for a process")

    place.workers._open_channel = never
    with pytest.raises(WorkersError, match="no room for a process"):
        await place.run(make_cells(4))


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("a", code="auth", retry_after=2.5, fatal=True),
        AnswerError("b", code="length"),
        CacheMissError("c"),
        BudgetReached("d"),
        InputError(Problem("e", "f", ["g"], "h=1"), Problem("i", "j")),
        OSError(28, "No space left on device", "/x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_what_it_was_on_the_other_side(error: Exception) -> None:
    back = error_from_json(unpack(pack(error_to_json(error))))
    assert type(back) is type(error) and str(back) == str(error)
    for name in ("code", "retry_after", "permanent", "fatal", "errno"):
        assert getattr(back, name, None) == getattr(error, name, None)
    if isinstance(error, InputError):
        assert [str(problem) for problem in back.problems] == [str(problem) for problem in error.problems]


def test_other_trouble_keeps_its_code_and_a_bug_its_words() -> None:
    class OddError(TransientError):
        """Without a code of its own."""

    back = error_from_json(error_to_json(OddError("x")))
    assert isinstance(back, TransientError) and (back.code, str(back)) == ("OddError", "x")
    bug = error_from_json(error_to_json(ZeroDivisionError("division by zero")))
    assert isinstance(bug, RuntimeError) and str(bug) == "ZeroDivisionError: division by zero"
    assert "in a worker" in bug.__notes__[0]


def test_calls_and_judgments_are_what_they_were_on_the_other_side() -> None:
    call = Call("p", "a", "m", {"long": "body"}, role="tools", repeat=2, metered=False)
    leased = call_from_json(unpack(pack(call_to_json(call))))
    assert leased.key == call.key and "body" not in pack(call_to_json(call))
    assert (leased.role, leased.repeat, leased.metered) == ("tools", 2, False)
    row = Judgment("i", "f", "\ud800", 0.1 + 0.2, Status.UNANSWERED, 1 / 3, "why", "r", 3, None, (Evidence("u", "s"),))
    assert judgments_from_json(unpack(pack({"rows": judgments_to_json([row])}))["rows"]) == [row]


@in_loop
async def test_files_that_cannot_be_read_are_an_error_of_the_cell_and_keep_nobody_waiting(tmp_path: Path) -> None:
    async def ask(gateway: Gateway, cell: Cell) -> str:
        return "said"

    place = Place(tmp_path, ask, count=1)
    place.unreadable = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space left"):
        await place.run(make_cells(2))
