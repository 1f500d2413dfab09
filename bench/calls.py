"""Calls and prompt tokens of a report, each saving beside the one-by-one way, and how much of a prompt its predecessor shared.

python -m bench.calls

Runs on the demo reports against a scripted model on loopback; tokens are the server's own count (characters / 4). What is
marked as computed was not run: the same calls, each question alone. Ends with the plan's figures beside the server's.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bench.timing import ROOT
from bench.use import Silent
from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.runs.assembly import validate
from dreambench.runs.execute import execute
from tests.support.openai_stub import Act, OpenAIStub

SHARED = 0.8
NEAR = 0.2
TASKS = 8
"""Of the demo."""
_REPORT = re.compile(r"<report ([0-9a-f]{16})>")
_TEXT = re.compile(r"<(?:report|page) \w+>\n[^\n]*\n+([^\n]+)")
_ADDRESS = re.compile(r"https?://[^\s)\]>\"']+[\w/]")


class CitingModel:
    """Answers any schema; asked for a report's citations it names the addresses that stand there, each with two facts.

    What it quotes stands in the text that it was sent, so that no answer is sent back.
    """

    def __init__(self) -> None:
        self._body: dict[str, Any] = {}
        self.act = Act(change=self._change)

    def saw(self, body: dict[str, Any]) -> bool:
        self._body = body
        return True

    def _change(self, answer: dict[str, Any]) -> dict[str, Any]:
        prompt = str(self._body["messages"][1]["content"])
        if "citations" not in answer:
            return _quoting(answer, prompt)
        urls = dict.fromkeys(_ADDRESS.findall(prompt))
        return {"citations": [{"fact": f"Fact {n} of {url}", "url": url} for url in urls for n in (1, 2)]}


def _quoting(value: Any, prompt: str) -> Any:
    """`value` with every quote replaced by words of the report or page in `prompt`."""
    if isinstance(value, list):
        return [_quoting(one, prompt) for one in value]
    if not isinstance(value, dict):
        return value
    text = _TEXT.search(prompt)
    words = " ".join(text[1].split()[:6]) if text else ""
    return {name: words if name == "quote" else _quoting(one, prompt) for name, one in value.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: the calls that it asked for and those it bought, the bodies that the server saw, and the prompt tokens."""

    asked: int
    bought: int
    bodies: list[dict[str, Any]]
    reports: int

    @property
    def tokens(self) -> int:
        return sum(map(tokens_of, self.bodies))

    def per_report(self) -> str:
        return f"{self.bought / self.reports:6.1f} calls {self.tokens / self.reports:9,.0f} tokens"


def tokens_of(body: dict[str, Any]) -> int:
    return len(json.dumps(body["messages"])) // 4


def settings(folder: Path, url: str, *overrides: str) -> list[str]:
    model = ["judge=litellm", "judge.litellm.model=openai/anything", f"judge.litellm.api_base={url}"]
    return [*overrides, *model, f"paths.outputs={folder / 'outputs'}", f"paths.cache={folder / 'cache'}"]


def measure(*overrides: str) -> Measured:
    """A cold run."""
    with tempfile.TemporaryDirectory() as name, OpenAIStub() as stub:
        model = CitingModel()
        stub.always(model.act, when=model.saw)
        clock = Clock()
        config = validate(compose(settings(Path(name), stub.url, *overrides)), clock)
        result = asyncio.run(execute(config, "", Silent, clock))
        calls = result.tables["calls"].filter(pl.col("provider") == "litellm")
        bought = calls.filter(pl.col("source") == "provider").height
        return Measured(calls.height, bought, stub.bodies, result.tables["report_scores"]["report"].n_unique())


def shared_prefix(bodies: Sequence[dict[str, Any]]) -> tuple[float, float]:
    """The share of prompt characters that lie in a prefix shared with the call before on the same report: of the calls that
    have one before, and of all."""
    before: dict[str, str] = {}
    shared = later = total = 0
    for body in bodies:
        prompt = "".join(str(message["content"]) for message in body["messages"])
        match = _REPORT.search(prompt)
        assert match, "the prompt holds no report"
        total += len(prompt)
        if (last := before.get(match[1])) is not None:
            later += len(prompt)
            shared += next((place for place, (a, b) in enumerate(zip(last, prompt, strict=False)) if a != b), len(prompt))
        before[match[1]] = prompt
    return shared / later, shared / total


def alone(bodies: Sequence[dict[str, Any]], items: str) -> tuple[int, int]:
    """Calls and tokens when each of a call's items is asked for alone: what they share is sent with each."""
    calls = tokens = 0
    for body in bodies:
        keys = body["tools"][0]["function"]["parameters"].get("properties", {})
        count = len(keys) if items in json.dumps(body["tools"]) else 1
        calls += count
        tokens += count * tokens_of(body)
    return calls, tokens


def beside(what: str, ours: str, other: str) -> None:
    print(f"{what:<34} {ours}   one by one {other}")


def checklists() -> None:
    batched, single = measure("metric=kic"), measure("metric=kic", "metric.kic.batched=false")
    beside("kic, per report: one checklist", batched.per_report(), single.per_report())
    for name, run in (("kic, one by one", single), ("wq", measure("metric=wq"))):
        later, every = shared_prefix(run.bodies)
        what = f"{name}: prompt shared with the call before"
        print(f"{what:<46} {later:6.1%} of calls that have one, {every:6.1%} of all   target {SHARED:.0%}")


def pages_and_domains() -> None:
    run = measure("metric=fact")
    calls, tokens = alone(run.bodies, "verdict on fact")
    other = f"{calls / run.reports:6.1f} calls {tokens / run.reports:9,.0f} tokens (computed)"
    beside("fact, per report: claims of a page", run.per_report(), other)
    run = measure("metric=da")
    other = f"{run.asked / run.reports:6.1f} calls {run.tokens / run.bought * run.asked / run.reports:9,.0f} tokens (computed)"
    beside("da, per report: a domain once", run.per_report(), other)


def protocols() -> None:
    """Protocols that a model writes, once per task, beside one for each report."""
    run = measure("metric=kic", "protocol=created", "protocol.creator=llm")
    creation = [body for body in run.bodies if not _REPORT.search(str(body["messages"][-1]["content"]))]
    tokens = sum(map(tokens_of, creation))
    agents = run.reports / TASKS
    ours = f"{len(creation) / run.reports:6.1f} calls {tokens / run.reports:9,.0f} tokens"
    other = f"{agents * len(creation) / run.reports:6.1f} calls {agents * tokens / run.reports:9,.0f} tokens (computed)"
    beside("protocols, per report: one per task", ours, other)


def plan() -> None:
    """What `plan` expects beside what the server counts; both know all texts here, so nothing is an estimate but tokens."""
    wanted = ("metric=[wq,kic]",)
    with tempfile.TemporaryDirectory() as name, OpenAIStub() as stub:
        command = [sys.executable, "-m", "dreambench", "plan", "--json", *settings(Path(name), stub.url, *wanted)]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": name}
        done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True, check=True)
    total = json.loads(done.stdout)["total"]
    run = measure(*wanted)
    for what, planned, seen in (
        ("calls", total["calls"]["expected"], run.bought),
        ("prompt tokens", total["prompt"]["expected"], run.tokens),
    ):
        off = planned / seen - 1
        print(f"plan, {what:<14} {planned:12,.0f}   the server counted {seen:12,.0f}   off {off:+.1%}   target {NEAR:.0%}")


def main() -> None:
    checklists()
    pages_and_domains()
    protocols()
    plan()


if __name__ == "__main__":
    main()
