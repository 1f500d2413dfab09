"""Every metric's page: its expression gives the score of a run again, and it names the rows and keys that there are."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from tests.docs.pages import DOCS, ROOT, blocks, page, run, section, table
from tests.support.openai_stub import OpenAIStub

KEYS = ["report", "judge", "rubric", "repeat"]
TINY = ["dataset.ids=[saturn-moons]", "dataset.agents=[good,badly_cited]"]
BY_RULES = ["wq", "factuality", "ci", "da", "kic", "rq", "fact", "citations", "length"]
METRICS = [*BY_RULES, "race"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run by rules and, for the metric that needs a language model, one against a scripted server."""
    home = tmp_path_factory.mktemp("runs")
    rules = run(home, *TINY, f"metric=[{','.join(BY_RULES)}]", "metric.factuality.claims=4")
    with OpenAIStub() as stub:
        model = ["judge=openai_compatible", "judge.openai_compatible.model=openai/any"]
        model += [f"judge.openai_compatible.api_base={stub.url}", "metric=[race]", "metric.race.reference_agent=good"]
        by_model = run(home, *TINY, *model)
    return {**dict.fromkeys(BY_RULES, rules), "race": by_model}


def last_value(code: str) -> Any:
    """What the last expression of a block gives."""
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, Any] = {}
    exec(compile(tree, "page", "exec"), names)
    return eval(compile(ast.Expression(last.value), "page", "eval"), names)


@pytest.mark.parametrize("metric", METRICS)
def test_the_expression_of_the_page_gives_the_score_of_the_run(
    metric: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folders[metric])
    (code,) = blocks(section(page(f"metrics/{metric}.md"), "Its score again"), "python")
    found = last_value(code).select(*KEYS, found="value").drop_nulls()
    scores = pl.read_parquet("report_scores.parquet").filter(pl.col("metric") == metric, "primary").drop_nulls("value")
    assert scores.height >= 1, "nothing to compare"
    both = scores.join(found, on=KEYS, how="full")
    assert both["found"].to_list() == pytest.approx(both["value"].to_list())


@pytest.mark.parametrize("metric", METRICS)
def test_the_page_names_every_family_and_label_of_the_run(metric: str, folders: dict[str, Path]) -> None:
    rows = pl.read_parquet(folders[metric] / "judgments.parquet").filter(pl.col("metric") == metric)
    named = section(page(f"metrics/{metric}.md"), "Rows")
    if metric == "wq":
        named += section(page("metrics/wq.md"), "Formula")
    for family, label in rows.select("family", "label").unique().rows():
        assert f"`{family}`" in named
        free = (family == "domain" and metric == "citations") or family == "question"
        assert free or not label or label in named, f"{family}: {label}"


@pytest.mark.parametrize("metric", METRICS)
def test_the_page_names_exactly_the_keys_of_the_option_with_their_defaults(metric: str) -> None:
    option = yaml.safe_load((ROOT / "conf" / "metric" / f"{metric}.yaml").read_text(encoding="utf-8"))
    wanted = {key: value for key, value in option.items() if key != "_target_"}
    listed = {cells[0].strip("`"): cells[1].strip("`") for cells in table(section(page(f"metrics/{metric}.md"), "Keys"))}
    assert set(listed) == set(wanted)
    for key, value in wanted.items():
        if not isinstance(value, dict):
            assert yaml.safe_load(listed[key]) == value, key


def test_every_metric_has_a_page_with_all_sections_and_is_in_the_list() -> None:
    pages = {path.stem for path in (DOCS / "metrics").glob("*.md")} - {"README"}
    assert pages == set(METRICS)
    listing = page("metrics/README.md")
    for metric in METRICS:
        text = page(f"metrics/{metric}.md")
        assert f"({metric}.md)" in listing
        assert "**Asks**" in text and "Example: " in text
        for heading in ("Formula", "How it is executed", "Rows", "Edge cases", "What it does not see", "Cost", "Keys"):
            assert section(text, heading).strip()
