"""`plan`: the bill before the run is near the bill after it, free where answers are there, unknown where prices are."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from dreambench.reporting.plan import PlanLine, listed_price, rounded, totals
from tests.apps.command import ROOT
from tests.apps.conftest import DATA, JudgedRuns, command, json_of
from tests.docs.pages import blocks, page
from tests.support.checking_model import CLAIMS, CheckingModel
from tests.support.openai_stub import OpenAIStub

NEAR = 0.2
PRICE = "judge.litellm.price={input:1.0,output:10.0}"


def bought(run: Path) -> pl.DataFrame:
    return pl.read_parquet(run / "calls.parquet").filter(pl.col("source") == "provider", pl.col("role") != "tools")


def test_the_plan_of_writing_quality_is_the_bill(runs: JudgedRuns, tmp_path: Path) -> None:
    cold = [f"paths.cache={tmp_path / 'cache'}", f"paths.outputs={tmp_path}"]
    before = len(runs.stub.requests)
    planned = json_of("plan", *runs.overrides("one"), "metric=[wq]", *cold)["total"]
    assert len(runs.stub.requests) == before, "a plan buys nothing"
    assert list(tmp_path.iterdir()) == [], "and writes nothing"
    calls = bought(runs.first).filter(pl.col("prompt_tokens") > 0)
    cells = pl.read_parquet(runs.first / "judgments.parquet").filter(metric="wq")["cell"].unique().to_list()
    spent = calls.filter(pl.col("cell").is_in(cells))
    assert planned["calls"] == {"low": 80, "expected": 80, "high": 80} and spent.height == 80
    assert planned["prompt"]["expected"] == pytest.approx(spent["prompt_tokens"].sum(), rel=NEAR)
    assert planned["prompt"]["low"] < planned["prompt"]["expected"] < planned["prompt"]["high"]


def test_the_plan_of_factuality_is_near_the_bill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = CheckingModel()
    with OpenAIStub() as stub:
        stub.always(model.act, when=model.saw)
        line = [
            "dataset.limit=1",
            "dataset.language=en",
            "metric=[factuality]",
            f"metric.factuality.claims={CLAIMS}",
            "judge=litellm",
            PRICE,
        ]
        line += ["judge.litellm.model=openai/any", f"judge.litellm.api_base={stub.url}"]
        planned = json_of("plan", *line)["total"]
        assert stub.requests == []
        ran = command(*line)
        assert ran.code == 0, ran.err
        (run,) = Path("outputs").iterdir()
        spent = bought(run)
        assert spent.height == len(stub.requests) > 3 * 4 * CLAIMS
        assert planned["calls"]["expected"] == pytest.approx(spent.height, rel=NEAR)
        assert planned["prompt"]["expected"] == pytest.approx(spent["prompt_tokens"].sum(), rel=NEAR)
        assert planned["calls"]["low"] < spent.height < planned["calls"]["high"]
        warm = json_of("plan", *line, "paths.outputs=elsewhere")
        assert warm["total"]["calls"]["high"] == 0 and warm["total"]["cached"] == spent.height
        assert warm["total"]["cost"]["high"] == 0
        again = json_of("plan", *line)
        assert again["cells"] == {} and again["cells_done"] == 4


def test_a_finished_run_costs_nothing(runs: JudgedRuns) -> None:
    ran = command("plan", *runs.overrides("one"))
    assert ran.code == 0, ran.err
    assert f"run {runs.first.name}: 0 cells to judge (none)\n24 cells are done already\n" in ran.out


def test_unknown_prices_are_unknown(runs: JudgedRuns, tmp_path: Path) -> None:
    line = [*runs.overrides("one"), "judge.litellm.model=openai/no-such-model", "judge.litellm.price=null", "metric=[wq]"]
    planned = json_of("plan", *line, f"paths.outputs={tmp_path}")
    assert planned["total"]["cost"] is None
    assert planned["total"]["calls"]["expected"] == 80
    shown = command("plan", *line, f"paths.outputs={tmp_path}").out
    assert "price unknown: openai/no-such-model; give it: judge.<name>.price={input:1.0,output:2.0}" in shown


def test_the_embedded_judge_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    planned = json_of("plan", *DATA, "metric=[wq]")["total"]
    assert planned["calls"]["high"] == 0 and planned["local"] == 80 and planned["cost"]["high"] == 0


def test_a_plan_needs_no_key_and_no_litellm(tmp_path: Path) -> None:
    code = (
        "import sys; from dreambench.commands.main import main_code; "
        f"assert main_code({['plan', *DATA, 'judge=claude_sonnet_4_5', 'metric=[wq]', 'dataset.limit=1']!r}) == 0; "
        "print(*[name for name in ('litellm', 'instructor', 'openai', 'scipy') if name in sys.modules], 'end')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "end"
    assert "anthropic/claude-sonnet-4-5-20250929" in done.stdout and "$" in done.stdout


def test_the_total_is_the_sum_of_what_is_shown() -> None:
    def line(value: float) -> PlanLine:
        sides = dict.fromkeys(("low", "expected", "high"), value)
        return PlanLine("judging", "m", sides, 0, 0, sides, sides, sides)

    total = totals([rounded(line(356.4)), rounded(line(2101.4))])
    assert total.calls["expected"] == total.prompt["low"] == total.answer["high"] == 356 + 2101
    total = totals([rounded(line(1.594)), rounded(line(12.414))])
    assert total.cost is not None and f"{total.cost['expected']:.2f}" == "14.00"


def test_the_plan_of_the_documentation_is_near_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (told,) = [block for block in blocks(page("commands.md"), "") if block.startswith("$ python -m dreambench plan ")]
    asked, *lines = told.splitlines()
    printed = command(*shlex.split(asked)[4:]).out

    def figures(text: str) -> list[list[float]]:
        rows = [line for line in text.splitlines() if " – " in line and not line.startswith("calls")]
        ranges = [re.findall(r"([\d.,]+) – \$?([\d.,]+) – \$?([\d.,]+)", row) for row in rows]
        return [[float(figure.replace(",", "")) for found in row for figure in found] for row in ranges]

    shown = figures(told)
    assert [len(row) for row in shown] == [12, 12, 12]
    for row, now in zip(shown, figures(printed), strict=True):
        assert row == pytest.approx(now, rel=0.05)
    assert all(line in printed for line in [lines[0].partition(": ")[2], *lines[1:3], *lines[-3:]])


def test_a_plan_and_a_run_say_that_a_judge_retires(runs: JudgedRuns, tmp_path: Path) -> None:
    ends = ["judge.litellm.retires=2020-01-02", "judge.litellm.successor=claude_sonnet_5_5"]
    line = [*runs.overrides("one"), *ends, "metric=[wq]", "dataset.limit=1", f"paths.outputs={tmp_path}"]
    said = "judge litellm (openai/one) retired on 2020-01-02: stored answers remain, new ones may fail; "
    said += "its successor: judge=claude_sonnet_5_5"
    assert json_of("plan", *line)["warnings"] == [said]
    assert command("plan", *line).out.splitlines()[-1] == said
    ran = command(*line)
    assert ran.code == 0 and said in ran.out.splitlines()


def test_prices_are_litellms() -> None:
    price = listed_price("openai/gpt-4o-2024-08-06")
    assert price is not None and (price.input, price.output) == pytest.approx((2.5, 10.0))
    assert listed_price("openai/no-such-model") is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--jsn"], "error: --jsn: is no option of plan; did you mean --json?\n  allowed: --help, --json\n"),
        (["dataset=dmeo"], "error: dataset=dmeo: there is no dataset called dmeo; did you mean demo?\n"),
        (["metric=[wq]", "judge=[embedded,embedded]"], "error: judge=[embedded,embedded]: names embedded twice\n"),
    ],
)
def test_mistakes(line: list[str], said: str) -> None:
    ran = command("plan", *line)
    assert ran.code == 1 and ran.err.startswith(said)


def test_batches_are_planned_at_their_price_and_said_to_take_hours(tmp_path: Path) -> None:
    model = ["judge=litellm", "judge.litellm.model=openai/anything", "judge.litellm.api_base=http://127.0.0.1:9/v1", PRICE]
    told = ["plan", *DATA, *model, "metric=[wq]", f"paths.outputs={tmp_path}", f"paths.cache={tmp_path / 'cache'}"]
    usual, halved = (json_of(*told, *more)["total"] for more in ([], ["judge.litellm.delivery=batch"]))
    for side in ("low", "expected", "high"):
        assert halved["cost"][side] == pytest.approx(usual["cost"][side] / 2)
    assert halved["calls"] == usual["calls"]
    shown = command(*told, "judge.litellm.delivery=batch", "judge.litellm.batch.price=0.25").out
    assert "calls go out in batches at 0.25 of the price; answers come within hours" in shown
