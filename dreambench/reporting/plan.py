"""The bill before the run: calls, tokens and money by role and model, low, expected and high, from a rehearsal.

Tokens of a prompt are its characters / 4, a CJK character one (low: / 5 and 0.6; high: / 3 and 1.5, with the answer schema,
which providers count too). Tokens of an answer are a usual number per question kind (low: half, high: twice). Calls that are
known from the texts are counted as they are; those that follow an answer which is not there yet are an estimate: half and
twice as many for low and high. Prices are the judge's own (`judge.<name>.price`), else litellm's figures, read from its price
list without importing it; a price that is in neither is unknown, and so is every sum that it is part of.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from dreambench.judges.judge import Judge
from dreambench.judges.llm.judge import LLMJudge
from dreambench.judges.llm.replies import Price
from dreambench.judges.panel import PanelJudge
from dreambench.runs.rehearsal import Asked

SIDES = ("low", "expected", "high")
CHARS_PER_TOKEN = {"low": 5.0, "expected": 4.0, "high": 3.0}
PER_WIDE = {"low": 0.6, "expected": 1.0, "high": 1.5}
FOLLOWING = {"low": 0.5, "expected": 1.0, "high": 2.0}
ANSWERS = {"low": 0.5, "expected": 1.0, "high": 2.0}
ANSWER_TOKENS = {"extract_claims": 1500, "extract_citations": 1500, "checklist": 600, "deductions": 500, "key_facts": 1500}
"""Tokens of an answer by question kind; USUAL for the others."""
USUAL = 120
_PRICES = "model_prices_and_context_window_backup.json"

Sides = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One role and model: calls to buy and calls that are free, tokens and money by side. `cost` is None when unknown."""

    role: str
    model: str
    calls: Sides
    cached: int
    local: int
    prompt: Sides
    answer: Sides
    cost: Sides | None


def plan_lines(asked: Sequence[Asked], judges: Iterable[Judge]) -> list[PlanLine]:
    """Lines by role and model, the dearest role first where prices are known."""
    asking = [member for judge in judges for member in _models(judge)]
    own = {member.model: member.price for member in asking if member.price}
    shares = {member.model: member.batches.settings.price for member in asking if member.batches}
    groups: dict[tuple[str, str], list[Asked]] = {}
    for one in asked:
        groups.setdefault((one.role, one.model), []).append(one)
    return [_line(role, model, group, own, shares.get(model, 1.0)) for (role, model), group in sorted(groups.items())]


def _line(role: str, model: str, asked: Sequence[Asked], own: Mapping[str, Price], share: float) -> PlanLine:
    """`share` of the price is paid for what goes out in batches."""
    bought = [one for one in asked if one.source == "bought"]
    calls = {side: sum(_times(one, side) for one in bought) for side in SIDES}
    prompt = {side: sum(_times(one, side) * prompt_tokens(one, side) for one in bought) for side in SIDES}
    answer = {side: sum(_times(one, side) * answer_tokens(one, side) for one in bought) for side in SIDES}
    sources = [one.source for one in asked]
    price = _FREE if role == "tools" or not bought else own.get(model) or listed_price(model)
    cost = {side: sum(_cost(one, side, price, share) for one in bought) for side in SIDES} if price else None
    return PlanLine(role, model, calls, sources.count("cached"), sources.count("local"), prompt, answer, cost)


def _cost(one: Asked, side: str, price: Price, share: float) -> float:
    tokens = prompt_tokens(one, side) * price.input + answer_tokens(one, side) * price.output
    return _times(one, side) * tokens * (share if one.batched else 1.0) / 1e6


_FREE = Price(input=0.0, output=0.0)


def _times(one: Asked, side: str) -> float:
    return FOLLOWING[side] if one.follows else 1.0


def prompt_tokens(one: Asked, side: str = "expected") -> float:
    """Tokens of a prompt, from its characters."""
    narrow = one.prompt - one.wide + (one.schema if side == "high" else 0)
    return narrow / CHARS_PER_TOKEN[side] + one.wide * PER_WIDE[side]


def answer_tokens(one: Asked, side: str = "expected") -> float:
    """Tokens of an answer, from its question kind; look-ups of tools have none."""
    return 0.0 if one.role == "tools" else ANSWERS[side] * ANSWER_TOKENS.get(one.kind, USUAL)


def rounded(line: PlanLine) -> PlanLine:
    """The line as a table shows it: whole calls and tokens, money in cents. Totals of such lines are what a reader adds up."""

    def whole(sides: Sides, digits: int = 0) -> Sides:
        return {side: round(value, digits) for side, value in sides.items()}

    cost = None if line.cost is None else whole(line.cost, 2)
    return replace(line, calls=whole(line.calls), prompt=whole(line.prompt), answer=whole(line.answer), cost=cost)


def totals(lines: Sequence[PlanLine]) -> PlanLine:
    """The sum of all lines; its cost is unknown as soon as one is."""

    def add(parts: Iterable[Sides]) -> dict[str, float]:
        kept = list(parts)
        return {side: sum(part[side] for part in kept) for side in SIDES}

    costs = [line.cost for line in lines]
    return PlanLine(
        "all",
        "",
        add(line.calls for line in lines),
        sum(line.cached for line in lines),
        sum(line.local for line in lines),
        add(line.prompt for line in lines),
        add(line.answer for line in lines),
        None if any(cost is None for cost in costs) else add(cost for cost in costs if cost is not None),
    )


def _models(judge: Judge) -> list[LLMJudge]:
    """The language models that a judge asks."""
    members = judge.members if isinstance(judge, PanelJudge) else [judge]
    return [member for member in members if isinstance(member, LLMJudge)]


def batch_lines(asked: Sequence[Asked], judges: Iterable[Judge]) -> list[str]:
    """What is to be said of calls that go out in batches, a line for each judge that asks so."""
    lines = []
    for member in (member for judge in judges for member in _models(judge) if member.batches):
        bought = [one for one in asked if one.model == member.model and one.source == "bought"]
        count, now = sum(one.batched for one in bought), sum(not one.batched for one in bought)
        share = member.batches.settings.price if member.batches else 1.0
        rest = f"; {now:,} turns of agents go at once" if now else ""
        when = "answers come within hours (24 at most, for each round of questions that rest on earlier answers)"
        lines.append(f"judge.{member.name}: {count:,} calls go out in batches at {share:g} of the price; {when}{rest}")
    return lines


def listed_price(model: str) -> Price | None:
    """litellm's figures for a model (`provider/model`, or without the provider); None where it has none."""
    listed = _price_list()
    record = listed.get(model) or listed.get(model.partition("/")[2])
    if not record or record.get("input_cost_per_token") is None or record.get("output_cost_per_token") is None:
        return None
    return Price(input=1e6 * record["input_cost_per_token"], output=1e6 * record["output_cost_per_token"])


@cache
def _price_list() -> dict[str, Any]:
    """litellm's bundled price list, found beside the package without importing it."""
    spec = importlib.util.find_spec("litellm")
    path = Path(spec.origin).parent / _PRICES if spec and spec.origin else None
    if path is None or not path.is_file():
        return {}
    listed: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return listed
