"""Whole runs offline with the embedded judge on material of the test's own, and what is refused before a run."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.errors import InputError
from dreambench.runs.assembly import assemble, validate
from tests.apps.command import dreambench
from tests.support.gateway import TestGateway

REPORT = """# Two bridges

The Aar Bridge near Olten is 503 metres long [1]. The Rhine Bridge was opened in 1932 [2].

The Reuss Bridge carried 41,000 vehicles a day in 2021 [3].

## Sources

[1] https://survey.example/aar
[2] https://survey.example/rhine
[3] https://gone.example/reuss
"""
CHINESE = "# 大桥\n\n青江大桥全长1200米，于1998年建成通车 [1]。\n\n## 参考文献\n\n[1] https://survey.example/qingjiang\n"
PAGES = [
    ("https://survey.example/aar", "Aar Bridge", "The Aar Bridge near Olten is 503 metres long. It was surveyed twice."),
    ("https://survey.example/rhine", "Rhine Bridge", "The Rhine Bridge was opened in 1935 after four years of work."),
    ("https://counts.example/reuss", "Reuss Bridge", "In 2021 the Reuss Bridge carried 41,000 vehicles a day."),
    ("https://survey.example/qingjiang", "青江大桥", "青江大桥全长1200米，1998年建成通车。"),
]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    """Overrides that name a report on two tasks in two languages and a corpus."""
    lines = [
        {"id": "en", "query": "How long and how busy are the bridges?", "report": REPORT},
        {"id": "zh", "query": "青江大桥有多长？", "report": CHINESE},
    ]
    (tmp_path / "reports.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    pages = [{"url": url, "title": title, "published": "2023-01-01", "text": text} for url, title, text in PAGES]
    (tmp_path / "pages.jsonl").write_text("\n".join(json.dumps(page) for page in pages), encoding="utf-8")
    dataset = ["dataset=jsonl", "dataset.reports=reports.jsonl", "as_of=2024-01-01"]
    return [*dataset, "tools=corpus", "tools.path=pages.jsonl", "metric=[factuality,ci]", "judge=embedded"]


def judgments(outputs: Path) -> pl.DataFrame:
    (run,) = (path for path in outputs.iterdir() if path.is_dir())
    return pl.read_parquet(run / "judgments.parquet")


def test_a_run_offline(tmp_path: Path, data: list[str]) -> None:
    ran = dreambench(*data, cwd=tmp_path)
    assert ran.code == 0, ran.err
    rows = judgments(tmp_path / "outputs")
    texts = {"en": REPORT, "zh": CHINESE}
    claims = rows.filter(pl.col("family") == "claim")
    for row in claims.iter_rows(named=True):
        sentence = texts[row["task"]][row["report_start"] : row["report_end"]]
        assert sentence in texts[row["task"]] and sentence.strip() == sentence and sentence
    verdicts = {
        (row["metric"], texts[row["task"]][row["report_start"] :][:8]): (row["label"], row["reason_code"])
        for row in claims.iter_rows(named=True)
    }
    assert verdicts["factuality", "The Aar "] == ("supported", "")
    assert verdicts["factuality", "The Rhin"] == ("contradicted", "")
    assert verdicts["ci", "The Aar "] == ("supported", "")
    assert verdicts["ci", "The Rhin"] == ("contradicted", "")
    assert verdicts["ci", "The Reus"] == ("unverifiable", "not_in_corpus")
    assert verdicts["factuality", "The Reus"] == ("supported", ""), "a page that the report does not cite says so"
    assert verdicts["ci", "青江大桥全长12"] == ("supported", "")
    again = dreambench(*data, "paths.outputs=again", "cache.mode=replay", cwd=tmp_path)
    assert again.code == 0, again.err
    assert judgments(tmp_path / "again").equals(rows)


def test_searching_metrics_are_refused_before_a_run(gateway: TestGateway, tmp_path: Path, data: list[str]) -> None:
    reports = f"dataset.reports={tmp_path / 'reports.jsonl'}"
    asked = ["dataset=jsonl", reports, "tools=none", "metric=[factuality,ci]", "judge=embedded"]
    with pytest.raises(InputError) as caught:
        assemble(validate(compose(asked), Clock()), gateway)
    text = str(caught.value)
    assert "metric.factuality: searches the web or a corpus, and tools=none cannot" in text
    assert "metric.factuality: searches as of a date, and 2 of 2 tasks have none: en, zh" in text
    assert "metric.ci" not in text, "attribution needs neither tools nor a date"


def test_of_tools_that_cannot_be_built_only_that_is_said(gateway: TestGateway, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    asked = ["metric=[factuality,rq,safe]", "tools=corpus", f"tools.path={tmp_path / 'empty'}", "as_of=2025-06-30"]
    with pytest.raises(InputError) as caught:
        assemble(validate(compose(asked), Clock()), gateway)
    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "empty") and problem.what == "holds no page"
