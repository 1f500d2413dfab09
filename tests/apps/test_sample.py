"""`sample` and the study that reads its sheets: strata with known chances, blind and harmless sheets, labels that come back."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.errors import ConfigError
from dreambench.labelling.labels import LabelError, read_key, read_sheets
from dreambench.labelling.sampling import Sample, Unit, allocate
from dreambench.labelling.sheet import as_csv, as_page
from dreambench.records import Report, Task
from tests.apps.conftest import ClaimRuns, JudgedRuns, command, json_of


@pytest.fixture(scope="module")
def labels(judged_runs: JudgedRuns, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blind sample of the first run, drawn once."""
    folder = tmp_path_factory.mktemp("labels")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(judged_runs.folder)
        ran = command("sample", str(judged_runs.first), "--n", "80", "--blind", "--out", str(folder))
    assert ran.code == 0, ran.err
    return folder


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(labels: Path, path: Path, answer: Any, rater: str = "") -> Path:
    """The sheet as a rater saves it; `answer` gives the label of a unit of the key."""
    units = {unit["id"]: unit for unit in json.loads((labels / "key.json").read_text(encoding="utf-8"))["units"]}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "rater", "label", "note"])
        writer.writeheader()
        for row in rows_of(labels / "sheet.csv"):
            writer.writerow({"id": row["id"], "rater": rater, "label": answer(units[row["id"]]), "note": ""})
    return path


def test_the_chance_of_every_unit_is_recorded(labels: Path, runs: JudgedRuns) -> None:
    key = json.loads((labels / "key.json").read_text(encoding="utf-8"))
    items = pl.read_parquet(runs.first / "judgments.parquet").filter(pl.col("metric").is_in(["wq", "da"]))
    sizes = {f"{metric} / {label}": n for metric, label, n in items.group_by("metric", "label").len().iter_rows()}
    assert {name: stratum["population"] for name, stratum in key["strata"].items()} == sizes
    assert sum(stratum["drawn"] for stratum in key["strata"].values()) == len(key["units"]) == 80
    for unit in key["units"]:
        stratum = key["strata"][unit["stratum"]]
        assert unit["probability"] == pytest.approx(stratum["drawn"] / stratum["population"])
    weights = sum(1 / unit["probability"] for unit in key["units"])
    assert weights == pytest.approx(items.height)


def test_a_blind_sheet_tells_neither_agent_nor_judge_nor_verdict(labels: Path, runs: JudgedRuns) -> None:
    items = pl.read_parquet(runs.first / "judgments.parquet")
    rows = rows_of(labels / "sheet.csv")
    assert len(rows) == 80 and not {"agent", "judge", "judge_label"} & set(rows[0])
    page = (labels / "sheet.html").read_text(encoding="utf-8")
    for agent in items["agent"].unique():
        assert not any(agent == cell for row in rows for cell in row.values())
        assert f'"{agent}"' not in page
    assert '"shown"' not in page.partition('id="data"')[2].partition("</script>")[0]


def test_the_same_draw_again_and_no_other_over_it(labels: Path, runs: JudgedRuns) -> None:
    before = (labels / "sheet.csv").read_bytes()
    assert command("sample", str(runs.first), "--n", "80", "--blind", "--out", str(labels)).code == 0
    assert (labels / "sheet.csv").read_bytes() == before
    ran = command("sample", str(runs.first), "--n", "80", "--seed", "1", "--blind", "--out", str(labels))
    assert ran.code == 1
    assert "holds the key of another sample, whose labels could not be read without it" in ran.err
    assert (labels / "sheet.csv").read_bytes() == before


def test_without_blind_raters_see_what_the_judge_said(runs: JudgedRuns, tmp_path: Path) -> None:
    shown = json_of("sample", str(runs.first), "--n", "40", "--by", "metric", "--out", str(tmp_path / "open"))
    assert {name: stratum["drawn"] for name, stratum in shown["strata"].items()} == {"da": 20, "wq": 20}
    row = rows_of(tmp_path / "open" / "sheet.csv")[0]
    assert row["judge"] == "litellm" and row["judge_label"] and row["agent"]


def test_claims_that_were_checked_on_pages_can_be_labelled(
    claim_runs: ClaimRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(claim_runs.folder)
    shown = json_of("sample", str(claim_runs.pages), "--n", "20", "--by", "metric,family", "--out", str(tmp_path / "claims"))
    items = pl.read_parquet(claim_runs.pages / "judgments.parquet")
    sizes = {f"ci / {family}": n for family, n in items.group_by("family").len().iter_rows()}
    assert {name: one["population"] for name, one in shown["strata"].items()} == {
        name: sizes[name] for name in ("ci / citation", "ci / claim")
    }
    units = rows_of(tmp_path / "claims" / "sheet.csv")
    assert len(units) == 20 and all("partially_supported" in row["answers"] for row in units)


def hostile() -> Sample:
    text = "</script><script>alert(1)</script> <!-- ' \" & \u2028 =1+1"
    task, report = Task("t", f"=cmd|' /C calc'!A0 {text}", "d"), Report("t", "a", f"before {text} after", "x")
    row = {
        "metric": "m",
        "rubric": "",
        "family": "f",
        "report": report.id,
        "item": "i",
        "occurrence": 0,
        "judge": "j",
        "label": text,
        "value": 1.0,
        "report_start": 7,
        "report_end": 7 + len(text),
        "evidence": [{"url": "javascript:alert(1)", "quote": text}],
    }
    return Sample([Unit("u", row, task, report, text, [text, "other"], "s", 1.0)], {"s": (1, 1)}, "j", ["metric"], 0)


@pytest.mark.parametrize("blind", [True, False])
def test_untrusted_text_is_data(blind: bool) -> None:
    page = as_page(hostile(), blind=blind)
    assert page.count("<script") == 2 and page.count("</script>") == 2 and "<!--" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy and policy[1].startswith("default-src &#x27;none&#x27;; ") and "unsafe" not in policy[1]
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["units"][0]["text"] == hostile().units[0].text
    (row,) = csv.DictReader(as_csv(hostile(), blind=blind).splitlines(keepends=True))
    assert row["query"].startswith("'=cmd")


def test_the_page_uses_no_html_sink() -> None:
    page = as_page(hostile(), blind=True)
    script = page.rpartition("<script>")[2]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|XMLHttp|import\(", script)


def test_strata_share_what_there_is() -> None:
    assert allocate({"a": 100, "b": 3, "c": 100}, 21) == {"a": 9, "b": 3, "c": 9}
    assert allocate({"a": 1, "b": 1}, 10) == {"a": 1, "b": 1}
    with pytest.raises(ConfigError, match="2 units cannot cover 3 strata"):
        allocate({"a": 1, "b": 1, "c": 1}, 2)


def test_bad_sheets_are_explained(labels: Path, tmp_path: Path) -> None:
    key = read_key(labels / "key.json")
    unit = key.units.filter(metric="da").row(0, named=True)["id"]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(
        f"id,rater,label,note\n{unit},ada,acedemic,\nnone,ada,news,\n{unit},ada,news,\n{unit},ada,ngo,\n", encoding="utf-8"
    )
    other = tmp_path / "other.csv"
    other.write_text("unit,label\n", encoding="utf-8")
    with pytest.raises(LabelError) as raised:
        read_sheets([wrong, other], key)
    said = [f"{problem.where.rpartition('/')[2]}: {problem.what}" for problem in raised.value.problems]
    assert said == [
        "wrong.csv:2: 'acedemic' is no answer of this unit; did you mean academic?",
        "wrong.csv:3: unit 'none' is not in the sample's key",
        f"wrong.csv:5: ada labels {unit} twice, as news and as ngo",
        "other.csv: has no column id",
    ]


def study(runs: JudgedRuns, labels: Path, *sheets: Path) -> list[str]:
    inputs = [f"study_inputs.sheets=[{','.join(map(str, sheets))}]", f"study_inputs.key={labels / 'key.json'}"]
    return [*runs.overrides("one"), "+experiment=human_agreement", *inputs]


def test_the_study_compares_judge_and_raters(labels: Path, runs: JudgedRuns, tmp_path: Path) -> None:
    items = pl.read_parquet(runs.first / "judgments.parquet")
    said = {(row["report"], row["item"]): row for row in items.iter_rows(named=True)}

    def agreeing(unit: dict[str, Any]) -> str:
        row = said[unit["report"], unit["item"]]
        return str(round(100 * row["value"])) if unit["metric"] == "wq" else row["label"]

    def contrary(unit: dict[str, Any]) -> str:
        """Says `news` of everything and gives ten points less; cannot tell the smallest stratum."""
        if unit["metric"] == "wq":
            return str(max(0, round(100 * said[unit["report"], unit["item"]]["value"]) - 10))
        return "cannot_tell" if unit["probability"] == 1 else "news"

    sheets = [fill(labels, tmp_path / "ada.csv", agreeing), fill(labels, tmp_path / "b.csv", contrary, rater="ben")]
    ran = command(*study(runs, labels, *sheets), f"paths.outputs={tmp_path / 'out'}")
    assert ran.code == 0, ran.err
    (run,) = (tmp_path / "out").iterdir()
    table = {(row["metric"], row["rater"]): row for row in pl.read_csv(run / "study" / "agreement.csv").iter_rows(named=True)}
    assert table["da", "ada"]["accuracy"] == table["da", "ada"]["kappa"] == 1
    assert table["wq", "ada"]["distance"] == pytest.approx(0, abs=0.006)
    news = items.filter(pl.col("metric") == "da", pl.col("label") == "news").height
    told = {unit["stratum"] for unit in json.loads((labels / "key.json").read_text())["units"] if unit["probability"] < 1}
    population = items.filter(pl.col("metric") == "da", pl.format("da / {}", "label").is_in(told)).height
    assert table["da", "ben"]["accuracy"] == pytest.approx(news / population, abs=1e-4), "weighted as in the whole run"
    rates = pl.read_csv(run / "study" / "base_rates.csv").filter(rater="ada", label="news")
    assert rates["human_rate"][0] == pytest.approx(news / items.filter(metric="da").height, abs=1e-4)
    assert set(pl.read_csv(run / "study" / "raters.csv")["raters"]) == {"all", "ada / ben"}
    findings = (run / "study" / "findings.md").read_text(encoding="utf-8")
    assert "- da: litellm and ada say the same in 100.0 % of units (kappa 1.00;" in findings


def test_without_sheets_the_study_says_what_it_needs(runs: JudgedRuns, tmp_path: Path) -> None:
    ran = command(*runs.overrides("one"), "+experiment=human_agreement", f"paths.outputs={tmp_path / 'out'}")
    assert ran.code == 1 and not (tmp_path / "out").exists()
    assert ran.err == (
        "error: study_inputs.sheets: human_agreement compares judges with people and needs their labels\n"
        "  allowed: CSV files that raters saved from the sheet.html of python -m dreambench sample RUN --blind\n"
        "  type: study_inputs.sheets=[labels_1.csv,labels_2.csv]\n"
    )


def test_missing_sheets_are_said_before_the_run(runs: JudgedRuns, labels: Path, tmp_path: Path) -> None:
    ran = command(*study(runs, labels, tmp_path / "none.csv"), f"paths.outputs={tmp_path / 'out'}")
    assert ran.code == 1 and not (tmp_path / "out").exists()
    assert ran.err == f"error: study_inputs.sheets[0]: {tmp_path / 'none.csv'} is no file\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["--by", "metric,lable"], "error: --by: there are no strata by lable; did you mean label?\n"),
        (["--n", "0"], "error: --n 0: is no number of units\n"),
        (["--judge", "gpt"], "error: --judge gpt: judged nothing in this run\n  allowed: litellm\n"),
        (["--n", "3"], "error: --n 3: 3 units cannot cover 1"),
    ],
)
def test_mistakes(line: list[str], said: str, runs: JudgedRuns) -> None:
    ran = command("sample", str(runs.first), *line)
    assert ran.code == 1 and ran.err.startswith(said)
    shutil.rmtree(runs.first / "labels", ignore_errors=True)
