"""Every file of conf/experiment runs to its end, by its own command, cut to little; a new file is run as it stands."""

from __future__ import annotations

import json
from importlib.util import find_spec

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.demo import BUNDLED
from dreambench.datasets.protocol_items import DEMO_WAYS
from dreambench.protocols.files import read_protocol
from dreambench.protocols.model import Creator
from tests.experiments.conftest import TinyRun

NAMES = sorted(path.stem for path in (bundled("conf") / "experiment").glob("*.yaml"))
TWO_TASKS = ["dataset.ids=[leap-second,common-charger]"]
TWO_REPORTS = ["dataset.ids=[leap-second,common-charger]", "dataset.agents=[good]"]
ONE_REPORT = ["dataset.ids=[leap-second]", "dataset.agents=[good]"]
ONE_QUESTION = ["~metric.wq.families.organization", "~metric.wq.families.sentence_fluency"]
SEED = "perturbation.adversarial_claims.seed=[0]"
CUT = {
    "adversarial_claims": ["metric=[fact_given]", "perturbation.adversarial_claims.dose=[0.4,0.8]", SEED],
    "backbone_local": ["dataset.agents=[badly_cited]", *ONE_QUESTION],
    "backbone_sweep": TWO_TASKS,
    "batching_agreement": TWO_REPORTS,
    "capability_ablation": TWO_TASKS,
    "criteria_comparison": TWO_REPORTS,
    "deepresearchgym": ONE_REPORT,
    "demo_defects": ["dataset.ids=[leap-second]", "metric=[da]"],
    "dr3": ONE_REPORT,
    "factual_injection": [*TWO_REPORTS, "metric=[fact]", "perturbation.factual_injection.dose=[0.5,1]"],
    "human_agreement": [*TWO_TASKS, "metric=[da]"],
    "judge_reliability": [*TWO_TASKS, "judge=[embedded]", "study_inputs.canary=2"],
    "label_distributions": [*ONE_REPORT, "metric=[ci]"],
    "leaderboard": TWO_TASKS,
    "liveresearchbench": ONE_REPORT,
    "metric_audit": [*ONE_REPORT, "metric=[wq,citations]"],
    "reasoning_flaws": [*TWO_REPORTS, "metric=[wq]", "perturbation.malformed_reasoning.dose=[1]"],
    "report_length": TWO_TASKS,
    "rubric_ablation": TWO_REPORTS,
    "safe": [*ONE_REPORT, "metric.safe.sentences=2"],
    "temporal_sensitivity": [*TWO_REPORTS, "metric=[wq]"],
    "wq_validity": TWO_TASKS,
}
"""What makes an experiment small; one that is not named here is small enough."""


def test_what_is_cut_exists() -> None:
    assert sorted(set(CUT) - set(NAMES)) == []


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "backbone_local")) for name in NAMES])
def test_an_experiment_runs_to_its_end(name: str, tiny_run: TinyRun) -> None:
    if name == "backbone_local" and find_spec("xllamacpp") is None:
        pytest.skip("needs the extra local")
    folder = tiny_run(name, *CUT.get(name, []))
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["complete"] and (folder / "report.html").is_file()
    findings = (folder / "study" / "findings.md").read_text(encoding="utf-8")
    assert "\nInput: the data set " in findings
    assert findings.startswith("# ") and summary["run"] in findings
    assert list((folder / "study").glob("*.csv"))


def test_findings_say_what_was_read(tiny_run: TinyRun) -> None:
    """Verdicts that nobody gave, data of nobody's systems, and stand-ins are named as such."""
    findings = (tiny_run("vrs") / "study" / "findings.md").read_text(encoding="utf-8")
    assert "Input: the data set demo (badly_cited, fluent_wrong, good, stale), bundled with the program" in findings
    assert "metric.vrs.saved is a bundled example: verdicts written by hand to show the format, which no person" in findings
    findings = (tiny_run("wq_validity", *CUT["wq_validity"]) / "study" / "findings.md").read_text(encoding="utf-8")
    assert "No RACE score was read" in findings and "against not RACE: citations (code)" in findings
    folder = tiny_run("human_agreement", *CUT["human_agreement"]) / "study"
    assert (folder / "findings.md").read_text(encoding="utf-8").startswith("# A judge in a person's place: no human agreement")
    agreement = pl.read_csv(folder / "agreement.csv")
    assert agreement.select("judge", "rater").unique().rows() == [("embedded", "embedded_semantic (a judge)")]


def test_the_bundled_protocols_of_the_embedded_judge_are_what_they_say() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (BUNDLED / "corpus").rglob("*.md"))
    files = sorted(DEMO_WAYS["embedded"].glob("*.json"))
    assert [file.stem for file in files] == sorted(file.stem for file in (BUNDLED / "tasks").glob("*.yaml"))
    for file in files:
        protocol = read_protocol(file)
        assert protocol.creator == Creator.EMBEDDED and protocol.judge["judge"] == "embedded" and len(protocol.kic) == 15
        assert all(item.quote and f"url: {item.url}\n" in pages for item in protocol.kic)
