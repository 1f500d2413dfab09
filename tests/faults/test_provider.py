"""A provider that says 429, hangs, drops the line, answers garbage or under another name, or changes its mind."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers
from tests.support import openai_stub as acts
from tests.support.openai_stub import Act

GARBAGE = [Act(raw=b"<html>gateway</html>"), Act(raw=b'{"id":'), Act(raw=b"\xff\xfe\x00"), Act(raw=b"{}")]
BUSY = acts.failing(429, headers={"Retry-After": "0.01"})


@pytest.mark.parametrize(
    "trouble",
    [[BUSY] * 15, [acts.failing(503), acts.DROPPED, acts.DROPPED, BUSY, *GARBAGE]],
    ids=["429 storm", "everything"],
)
def test_trouble_that_passes_changes_no_number_and_buys_nothing_twice(
    trouble: list[Act], tiny: Tiny, undisturbed: Tiny
) -> None:
    tiny.stub.script(*trouble)
    result = tiny.attempt("engine.retry.attempts=50")
    assert exit_code(result) == 0
    assert len(tiny.stub.requests) == QUESTIONS + len(trouble), "each refusal costs one more request, an answer none"
    assert tiny.stub.most <= 4, "the limit of 4 at once holds in the storm too"
    calls = result.tables["calls"].filter(pl.col("source") == "provider", pl.col("role") == "judging")
    assert calls.height == QUESTIONS and calls["attempts"].sum() == QUESTIONS + len(trouble)
    same_numbers(tiny.run, undisturbed.run)


@pytest.mark.parametrize(
    ("act", "more"),
    [
        (BUSY, []),
        (acts.slow(30), ["judge.litellm.timeout=0.2"]),
        (acts.DROPPED, []),
        (acts.MALFORMED, []),
    ],
    ids=["429", "hangs", "drops", "malformed"],
)
def test_trouble_that_stays_leaves_cells_owed_and_the_same_command_goes_on(
    act: Act, more: list[str], tiny: Tiny, undisturbed: Tiny
) -> None:
    sick: list[str] = []

    def first_five(body: dict[str, Any]) -> bool:
        question = str(body["messages"][:2])
        if question not in sick and len(sick) < 5:
            sick.append(question)
        return question in sick

    tiny.stub.always(act, when=first_five)
    result = tiny.attempt("engine.retry.attempts=2", *more)
    assert exit_code(result) == 2
    assert result.outcome.owed == len(result.owed) > 0
    owed = result.tables["judgments"].filter(pl.col("status") == "judge_error")
    assert owed.height > 0 and owed["value"].null_count() == owed.height, "an error is never a score"
    tiny.stub.forget()
    resumed = tiny.attempt(*more)
    assert exit_code(resumed) == 0
    same_numbers(tiny.run, undisturbed.run)
    assert len(tiny.stub.requests) == len(sick) == 5, "what was answered is not bought again"


def test_another_models_name_is_a_finding(tiny: Tiny) -> None:
    tiny.stub.script(*[acts.named("something-cheaper")] * 3)
    result = tiny.attempt()
    assert exit_code(result) == 0
    assert "asked openai/anything, answered by something-cheaper" in result.findings
    assert set(result.tables["calls"]["answered_model"]) >= {"something-cheaper", "anything-stub"}


def test_a_provider_that_changes_its_mind_changes_no_finished_run(tiny: Tiny, undisturbed: Tiny) -> None:
    tiny.attempt()
    tiny.stub.always(Act(change=lambda answer: {**answer, "score": 1}))
    again = tiny.attempt(f"paths.outputs={tiny.folder / 'again'}")
    assert exit_code(again) == 0
    assert len(tiny.stub.requests) == QUESTIONS
    same_numbers(again.folder.root, undisturbed.run)
    fresh = tiny.attempt(f"paths.outputs={tiny.folder / 'fresh'}", "cache.mode=refresh")
    assert len(tiny.stub.requests) == 2 * QUESTIONS
    assert fresh.tables["scores"]["value"].to_list() != again.tables["scores"]["value"].to_list(), "refresh shows the change"


@pytest.mark.parametrize(
    ("act", "more", "code"),
    [(acts.failing(401), [], 1), (None, ["engine.budget.calls=7"], 3)],
    ids=["a key refused in mid-run", "a budget"],
)
def test_a_stop_waits_for_what_is_in_flight_and_stores_it(
    act: Act | None, more: list[str], code: int, tiny: Tiny, undisturbed: Tiny
) -> None:
    """The cell that stops has calls of its own under way: they are paid, and a resumed run must find their answers."""
    seen: list[int] = []

    def fifth(body: dict[str, Any]) -> bool:
        seen.append(1)
        return len(seen) == 5

    if act:
        tiny.stub.always(act, when=fifth)
    tiny.stub.always(acts.slow(0.15))
    stopped = tiny.attempt(*more)
    assert exit_code(stopped) == code
    refused = 1 if act else 0
    answered = len(tiny.stub.requests) - refused
    assert 0 < answered < QUESTIONS
    calls = stopped.tables["calls"].filter(
        pl.col("source") == "provider", pl.col("outcome") == "ok", pl.col("role") == "judging"
    )
    assert calls.height == answered, "each answer stands in the ledger"
    tiny.stub._scripts.clear()
    resumed = tiny.attempt()
    assert exit_code(resumed) == 0
    assert len(tiny.stub.requests) == QUESTIONS + refused, "none is bought again"
    same_numbers(tiny.run, undisturbed.run)
