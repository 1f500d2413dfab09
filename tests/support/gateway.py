"""The real gateway with its parts at test size: no waiting between retries, the ledger in a list."""

from __future__ import annotations

from pathlib import Path

from dreambench.engine.budget import Budget, Limits
from dreambench.engine.call import CallRecord
from dreambench.engine.clock import Clock
from dreambench.engine.gateway import Gateway
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import AnswerStore, CacheMode


class TestGateway(Gateway):
    """A Gateway that keeps its ledger in `records` and shows its `store`."""

    __test__ = False
    records: list[CallRecord]
    store: AnswerStore


def make_gateway(
    folder: Path,
    *,
    mode: CacheMode = CacheMode.READWRITE,
    limits: Limits | None = None,
    retry: RetryPolicy | None = None,
    widths: Widths | None = None,
) -> TestGateway:
    clock = Clock()
    records: list[CallRecord] = []
    store = AnswerStore(mode)
    store.open(shared=folder / "cache", run_local=folder / "answers")
    made = TestGateway(
        store=store,
        limiters=Limiters(widths or Widths(), clock),
        retry=retry or RetryPolicy(attempts=3, base=0.01, longest=0.05),
        budget=Budget(limits or Limits(), clock),
        clock=clock,
        record=records.append,
    )
    made.records = records
    made.store = store
    return made
