"""How much of the allowed concurrency a run uses: Factuality and CI on demo reports, against a model on loopback whose answers
take log-normal times, ten calls in flight at most.

python -m bench.use [MEAN [REPEATS]]    mean seconds of an answer (0.5), judgings of each report (10)

The server is a process of its own, as a provider is. A slot is busy while it works on a call. The tail begins when the last
call is sent. The same calls stage by stage (all first questions of all reports, then all second ones, ...) are computed from
the times that their answers took.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from bench.worker import start
from dreambench.config.compose import compose
from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.records import Judgment
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute
from tests.support.openai_stub import OpenAIStub, Seen

SLOTS = 10
SIGMA = 0.5


@dataclass(frozen=True, slots=True)
class Served:
    """One call at the server: when it came and went (seconds on the monotonic clock), and what was asked of the model."""

    came: float
    went: float
    stage: str

    @property
    def seconds(self) -> float:
        return self.went - self.came


class Timed(OpenAIStub):
    """The scripted server, with the times of every call."""

    def __init__(self, mean: float) -> None:
        super().__init__(latency=mean / math.exp(SIGMA**2 / 2), sigma=SIGMA)
        self.served: list[Served] = []

    async def _respond(self, seen: Seen) -> bytes | None:
        reply = await super()._respond(seen)
        tools = seen.body.get("tools") or [{"function": {"name": "words"}}]
        self.served.append(Served(seen.at, time.monotonic(), tools[0]["function"]["name"]))
        return reply


class Silent:
    """Progress that shows nothing."""

    def __init__(self, **_: Any) -> None: ...

    def call_recorded(self, record: CallRecord) -> None: ...

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None: ...

    def stopping(self, why: str) -> None: ...
    def note(self, line: str) -> None: ...

    def close(self) -> None: ...


def busy(calls: Sequence[Served], start: float, end: float) -> float:
    """The share of all slots that were busy between two moments, from 0 to 1."""
    inside = sum(max(0.0, min(call.went, end) - max(call.came, start)) for call in calls)
    return inside / (SLOTS * (end - start))


def packed(seconds: Iterable[float]) -> float:
    """How long calls of these lengths take on the slots when each starts as soon as one is free."""
    free = [0.0] * SLOTS
    for length in seconds:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def staged(calls: Sequence[Served]) -> float:
    """Seconds when no stage begins before the one before it is over."""
    stages = dict.fromkeys(call.stage for call in calls)
    return sum(packed(call.seconds for call in calls if call.stage == stage) for stage in stages)


def serve(mean: float) -> None:
    """The server's process: its address, and when its input ends the calls that it has served."""
    with Timed(mean) as stub:
        print(stub.url, flush=True)
        sys.stdin.read()
        print(json.dumps([astuple(call) for call in stub.served]), flush=True)


def measure(folder: Path, mean: float, repeats: int) -> list[Served]:
    """The calls of one cold run, in the order in which they came."""
    with ExitStack() as ends:
        server = start(ends, folder, "-m", "bench.use", "serve", str(mean))
        assert server.stdin and server.stdout
        url = server.stdout.readline().strip()
        model = ["judge=litellm", "judge.litellm.model=openai/anything", f"judge.litellm.api_base={url}"]
        widths = [f"engine.start={SLOTS}", f"engine.most={SLOTS}"]
        paths = [f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"]
        metrics = ["metric=[factuality,ci]", f"metric.factuality.repeats={repeats}", f"metric.ci.repeats={repeats}"]
        composed = compose([*metrics, *model, *widths, *paths])
        clock = Clock()
        result = asyncio.run(execute(validate(composed, clock), "", Silent, clock))
        if not result.outcome.complete:
            raise RuntimeError(f"{result.outcome.owed} cells are owed: {result.outcome.stopped}")
        server.stdin.close()
        served = (Served(*call) for call in json.loads(server.stdout.readline()))
        return sorted(served, key=lambda call: call.came)


def main(mean: float = 0.5, repeats: int = 10) -> None:
    with tempfile.TemporaryDirectory() as name:
        calls = measure(Path(name), mean, repeats)
    first, last_sent = calls[0].came, calls[-1].came
    wall = max(call.went for call in calls) - first
    total = sum(call.seconds for call in calls)
    ideal = total / SLOTS
    print(
        f"calls {len(calls)}, mean {total / len(calls):.2f} s, at most {SLOTS} at once, {len({c.stage for c in calls})} stages"
    )
    print(f"slots busy until the last call was sent {busy(calls, first, last_sent):7.1%}   target at least 95%")
    print(f"wall time, first call to last answer    {wall:7.2f} s")
    print(f"calls x mean / slots                    {ideal:7.2f} s   ratio {wall / ideal:.2f}   target at most 1.10")
    print(f"the same calls stage by stage           {staged(calls):7.2f} s   (computed from their times)")


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["serve"]:
        serve(float(given[1]))
        sys.exit()
    main(*map(float, given[:1]), *map(int, given[1:2]))
