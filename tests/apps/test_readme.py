"""What the README shows works as it stands: the metric without Python, the options it names, the expression it gives."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from dreambench.config.explain import group_options
from tests.apps.command import ROOT, dreambench
from tests.support.openai_stub import OpenAIStub

README = (ROOT / "README.md").read_text(encoding="utf-8")
SLICE = ROOT / "tests" / "data" / "drb_slice"


def block(language: str, holding: str) -> str:
    """The README's code block of `language` that holds a text."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if holding in text]
    return str(found)


@pytest.fixture
def own_metric(tmp_path: Path) -> list[str]:
    """The README's metric in folders of the user's own; returns the overrides that find it."""
    config, rubrics = tmp_path / "my_conf" / "metric", tmp_path / "my_rubrics" / "candour"
    config.mkdir(parents=True)
    rubrics.mkdir(parents=True)
    (config / "candour.yaml").write_text(block("yaml", "metric.candour"), encoding="utf-8")
    (rubrics / "limits.default.j2").write_text(block("jinja", "kind: score"), encoding="utf-8")
    return ["--config-dir", "my_conf", "paths.rubrics=[my_rubrics]", "metric=[candour]"]


def test_a_metric_needs_no_python(own_metric: list[str], tmp_path: Path) -> None:
    data = ["dataset=drb", f"dataset.reports={SLICE}", f"dataset.queries={SLICE / 'query.jsonl'}"]
    with OpenAIStub() as stub:
        model = ["judge=litellm", "judge.litellm.model=openai/any", f"judge.litellm.api_base={stub.url}"]
        ran = dreambench(*own_metric, *data, *model, cwd=tmp_path)
        assert ran.code == 0, ran.err
        assert len(stub.requests) == 12
    (run,) = (tmp_path / "outputs").iterdir()
    items = pl.read_parquet(run / "judgments.parquet")
    assert set(items["metric"]) == {"candour"}
    assert items["value"].is_between(0, 1).all()
    assert (items["value"] * 10 == (items["value"] * 10).round()).all(), "the scale of the rubric is 0 to 10"


def test_the_embedded_judge_refuses_a_question_it_has_no_rules_for(own_metric: list[str], tmp_path: Path) -> None:
    ran = dreambench(*own_metric, cwd=tmp_path)
    assert ran.code == 1
    assert "judge.embedded: cannot answer candour/limits.default of metric.candour, a question of kind score: " in ran.err
    assert (
        "  allowed: a language model: it answers every kind, what each judge answers: python -m dreambench ls kinds\n"
        in ran.err
    )
    assert "  type: judge=litellm judge.litellm.model=PROVIDER/MODEL" in ran.err


def test_every_named_option_exists() -> None:
    options = group_options()
    for group, listed in re.findall(r"^\| `\+?(\w+)`(?: \(list\))? \| `([\w ]+)`", README, re.MULTILINE):
        assert set(listed.split()) <= set(options[group]), group


def test_the_expression_over_the_item_table_gives_the_score(tmp_path: Path) -> None:
    ran = dreambench("dataset.limit=2", "metric=[wq]", cwd=tmp_path)
    assert ran.code == 0, ran.err
    (run,) = (tmp_path / "outputs").iterdir()
    code = block("python", "judgments.parquet").replace(
        "outputs/backbone_sweep-.../judgments.parquet", str(run / "judgments.parquet")
    )
    names: dict[str, pl.DataFrame] = {}
    exec(compile(code.replace("one.group_by", "scores = one.group_by"), "README", "exec"), names)
    report_scores = pl.read_parquet(run / "report_scores.parquet").filter(variant="mean").sort("agent", "task")
    assert names["scores"].sort("agent", "task")["value"].to_list() == pytest.approx(report_scores["value"].to_list())
