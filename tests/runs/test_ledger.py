"""The ledger by role: cached and reasoning tokens apart, what is unknown counted as unknown, stored answers as nothing."""

from __future__ import annotations

from dataclasses import asdict

import polars as pl

from dreambench.engine.call import CallRecord
from dreambench.reporting.tables import ledger_lines
from dreambench.runs.tables import CALL_SCHEMA, by_role, spent


def record(role: str, source: str = "provider", cost: float | None = 0.25, tokens: int = 100) -> CallRecord:
    named = {"key": "k", "cell": "c", "provider": "p", "account": "a", "requested_model": "m", "answered_model": "m"}
    more = {"fingerprint": "", "repeat": 0, "outcome": "ok", "attempts": 1, "seconds": 1.0}
    used = {"prompt_tokens": tokens, "completion_tokens": tokens // 5, "cached_tokens": 60, "reasoning_tokens": 8}
    return CallRecord(**named, **more, **used, role=role, source=source, cost=cost)  # type: ignore[arg-type]


CALLS = pl.DataFrame(
    [
        asdict(one)
        for one in (
            record("judging"),
            record("judging", cost=None),
            record("judging", source="cache"),
            record("creation"),
            record("tools", tokens=0, cost=0.0),
        )
    ],
    schema=CALL_SCHEMA,
)


def test_what_was_bought_for_each_role() -> None:
    table = by_role(CALLS)
    assert table["role"].to_list() == ["creation", "judging", "tools"]
    judging = table.row(1, named=True)
    assert (judging["calls"], judging["prompt_tokens"], judging["cached_tokens"]) == (2, 200, 120)
    assert (judging["completion_tokens"], judging["reasoning_tokens"]) == (40, 16)
    assert (judging["money"], judging["unpriced_calls"]) == (0.25, 1)
    assert spent(CALLS)["by_role"] == table.to_dicts()


def test_the_end_of_a_run_says_what_models_were_paid_for() -> None:
    assert ledger_lines(CALLS) == [
        "bought for creation: 1 calls, 100 prompt tokens (60 cached), 20 answer tokens (8 reasoning), $0.2500",
        "bought for judging: 2 calls, 200 prompt tokens (120 cached), 40 answer tokens (16 reasoning), $0.2500 "
        "and 1 calls of unknown price",
    ]
