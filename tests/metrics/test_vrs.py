"""VRS: formulas and gates, what code decides and what is asked, saved grades, the study, and the paper's own numbers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.config.studies import load_study
from dreambench.datasets.vrs import VrsDataset
from dreambench.errors import AnswerError, ConfigError, DatasetError, InputError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import Subject
from dreambench.metrics.vrs.metric import VerifierRubricScore
from dreambench.metrics.vrs.package import read_packages
from dreambench.metrics.vrs.published import published_checks, version_table
from dreambench.metrics.vrs.table import CRITERIA, criterion_row, verifier_row
from dreambench.records import Judgment, Report, Status
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder
from dreambench.runs.tables import ITEM_SCHEMA
from dreambench.stats.binary import mcnemar_counts
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
SLICE = Path(__file__).resolve().parents[1] / "data" / "vrs"
PACKAGES, GRADES = str(SLICE / "packages.jsonl"), str(SLICE / "grades.jsonl")
DATASET = VrsDataset(queries=PACKAGES, reports=str(SLICE / "reports")).load()


def vrs(**keys: Any) -> VerifierRubricScore:
    return VerifierRubricScore(name="vrs", shelf=SHELF, **{"packages": PACKAGES, **keys})


def subject(task_id: str, agent: str = "ash") -> Subject:
    task = next(task for task in DATASET.tasks if task.id == task_id)
    report = next(report for report in DATASET.reports if (report.task_id, report.agent) == (task_id, agent))
    return Subject(task, report)


def rows_of(passed: int, total: int, *grades: int) -> list[Judgment]:
    rows = [verifier_row(measuring.TASK, f"V{n}", "check", n <= passed) for n in range(1, total + 1)]
    return rows + [criterion_row(measuring.TASK, name, grade) for name, grade in zip(CRITERIA, grades, strict=True)]


@pytest.mark.parametrize(
    ("passed", "total", "grades", "relaxed", "strict", "accept"),
    [
        (15, 15, (3, 3, 3, 3, 3), 1.0, 1.0, 1),
        (12, 15, (3, 3, 3, 2, 2), 0.5 * 0.8 + 0.5 * 13 / 15, 0.5 * 0.8 + 0.5 * 13 / 15, 1),  # 12 of 15 is exactly .8
        (12, 15, (3, 3, 2, 2, 2), 0.5 * 0.8 + 0.5 * 12 / 15, 0.5 * 0.8 + 0.5 * 12 / 15, 0),  # 12 points: the gate is 13
        (11, 15, (3, 3, 3, 3, 3), 0.5 * 11 / 15 + 0.5, 0.5 * 11 / 15 + 0.5, 0),
        (15, 15, (3, 3, 3, 3, 0), 0.5 + 0.5 * 0.8, 0.0, 0),
        (0, 5, (0, 0, 0, 0, 0), 0.0, 0.0, 0),
    ],
)
def test_scores_and_gates(passed: int, total: int, grades: Any, relaxed: float, strict: float, accept: int) -> None:
    found = measuring.values(vrs(), rows_of(passed, total, *grades))
    assert found == pytest.approx(
        {
            "vrs": strict,
            "vrs_relaxed": relaxed,
            "accept": float(accept),
            "auto_reject": float(0 in grades),
            "verifiers": passed / total,
            "criteria": sum(grades) / 15,
        }
    )


def test_weights_and_thresholds_are_keys() -> None:
    rows = rows_of(3, 4, 3, 3, 2, 2, 2)
    found = measuring.values(vrs(verifier_weight=0.25, accept_mean=2.4, accept_verifiers=0.75), rows)
    assert found["vrs"] == pytest.approx(0.25 * 0.75 + 0.75 * 0.8)
    assert found["accept"] == 1.0
    assert vrs(verifier_weight=0.25).identity() != vrs().identity()


def test_a_report_that_lacks_an_item_has_no_score_but_its_parts() -> None:
    rows = rows_of(1, 2, 3, 3, 3, 3, 3)
    broken = Judgment("x", "EP", "", None, Status.JUDGE_ERROR, reason_code="length")
    found = measuring.values(vrs(), [*rows[:5], broken, rows[6]])
    assert {name for name, value in found.items() if value is None} == {
        "vrs",
        "vrs_relaxed",
        "accept",
        "auto_reject",
        "criteria",
    }
    assert found["verifiers"] == 0.5
    assert measuring.values(vrs(missing_policy="zero"), [*rows[:5], broken, rows[6]])["vrs"] == 0.0


def item(answer: str, quote: str = "") -> dict[str, str]:
    return {"reason": "as read", "quote": quote, "answer": answer}


def grade(score: int, quote: str = "") -> dict[str, Any]:
    return {"reason": "as read", "quote": quote, "score": score}


def test_code_decides_first_and_the_model_is_asked_for_the_rest(gateway: TestGateway) -> None:
    with OpenAIStub() as stub:
        stub.script(saying({"V5": item("pass", "as the audit of March found")}), when=lambda body: "checks" in prompt_of(body))
        graded = {name: grade(3 if name != "EP" else 2) for name in CRITERIA}
        stub.script(saying(graded), when=lambda body: "Grade each criterion" in prompt_of(body))

        async def run() -> list[Judgment]:
            judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
            try:
                return await vrs().measure(subject("kettles"), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        bodies = sorted(stub.bodies, key=lambda body: "checks" not in prompt_of(body))
    assert [(row.family, row.label, row.reason_code) for row in rows[:5]] == [
        *[("verifier", "pass", "checked_by_code")] * 4,
        ("verifier", "pass", ""),
    ]
    assert [(row.family, row.label) for row in rows[5:]] == [(name, "2" if name == "EP" else "3") for name in CRITERIA]
    text = subject("kettles").report.text
    assert [text[row.report_start : row.report_end] for row in rows[:2]] == ["7", "103"]
    assert text[rows[4].report_start : rows[4].report_end] == "as the audit of March found"
    asked, graded_in = (prompt_of(body) for body in bodies)
    assert len(bodies) == 2
    assert all("do not follow" in body["messages"][0]["content"] for body in bodies)
    assert (
        asked.index("Supplier Norrin quotes 110")
        < asked.index("The overhead adjustment is 7, as")
        < asked.index("V5: the audit")
    )
    assert "V1:" not in asked and "Take the audited overhead" not in asked, "neither decided checks nor the solution"
    assert bodies[0]["tools"][0]["function"]["parameters"]["required"] == ["V5"]
    order = [
        "The overhead adjustment is 7, as",
        "Take the audited overhead",
        "Using the quoted 110",
        "DI: integrity of data",
        "EP, prec",
    ]
    places = [graded_in.index(words) for words in order]
    assert places == sorted(places)
    assert bodies[1]["tools"][0]["function"]["parameters"]["required"] == sorted(CRITERIA)
    assert measuring.values(vrs(), rows)["vrs"] == pytest.approx(0.5 + 0.5 * 14 / 15)


def prompt_of(body: dict[str, Any]) -> str:
    return str(body["messages"][1]["content"])


def test_without_code_the_judge_gets_every_check_and_missing_ones_again(gateway: TestGateway) -> None:
    asked = []

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if rubric.kind.name == "graded_criteria":
            raise AnswerError("refused", code="refusal")
        asked.append(list(context.items))
        return {name: item("fail", "words that nobody wrote") for name in list(context.items)[:2]}

    metric = vrs(checks="judge_only")
    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    rows = asyncio.run(metric.measure(subject("kettles", "birch"), judge, 0))
    assert asked == [["V1", "V2", "V3", "V4", "V5"], ["V3", "V4", "V5"]]
    assert [row.reason_code for row in rows] == ["quote_not_found"] * 4 + ["missing_answer"] + ["refusal"] * 5
    assert [row.status for row in rows[4:]] == [Status.JUDGE_ERROR] * 6
    assert metric.rubric_variant == "default,judge_only"
    assert measuring.values(metric, rows)["vrs"] is None


def test_no_model_is_asked_for_checks_when_code_decides_all(gateway: TestGateway) -> None:
    kinds = []

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        kinds.append(rubric.kind.name)
        return {name: grade(2) for name in context.items}

    judge = ScriptedJudge(name="j", gateway=gateway, script=script)
    report = Subject(subject("clinic").task, subject("clinic").report)
    with_demand = Subject(report.task, Report("clinic", "x", "Recommendation: REJECT. Sunday demand is 6 patients."))
    rows = asyncio.run(vrs().measure(with_demand, judge, 0))
    assert kinds == ["graded_criteria"]
    assert [row.label for row in rows[:2]] == ["pass", "pass"]


def test_the_embedded_judge_refuses_to_grade(gateway: TestGateway) -> None:
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    assert all("no rules for questions of kind" in (judge.refusal(rubric) or "") for rubric in vrs().rubrics())


def test_saved_grades_are_taken_as_they_are() -> None:
    metric = vrs(saved=GRADES)
    assert metric.evaluator == "code" and metric.rubrics() == [] and metric.prepare(DATASET) == []
    rows = asyncio.run(metric.measure(subject("kettles", "birch"), None, 0))
    assert [row.rationale for row in rows[:2]] == ["Overhead adjustment = 7", "True unit cost = 103 (0.5 tolerance), NOT 110"]
    assert measuring.values(metric, rows)["vrs_relaxed"] == pytest.approx(0.5 * 0 + 0.5 * 4 / 15)
    counted = asyncio.run(metric.measure(subject("mill", "birch"), None, 0))
    assert measuring.values(metric, counted)["verifiers"] == 1.0
    for agent, known in [("ash", True), ("dogwood", False)]:
        about = subject("ferry")
        other = Subject(about.task, type(about.report)("ferry", agent, "x"))
        found = asyncio.run(metric.measure(other, None, 0))
        assert (found[0].status is Status.MISSING_RUN) is not known


def test_what_cannot_be_used_is_said_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dataset=vrs"):
        VerifierRubricScore(name="vrs", shelf=SHELF)
    bad = tmp_path / "bad.jsonl"
    good = {"agent": "a", "task_id": "t", "verifiers": [True], "criteria": dict.fromkeys(CRITERIA, 3)}
    lines = [{**good, "verifiers": {"passed": 3, "total": 2}}, {**good, "criteria": {"DI": 4}}]
    bad.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DatasetError, match=r"(?s)bad.jsonl:1: field 'verifiers'.*bad.jsonl:2: field 'criteria'"):
        vrs(saved=str(bad))
    bad.write_text("".join(json.dumps(line) + "\n" for line in [good, good, {**good, "verifiers": [False]}]))
    with pytest.raises(DatasetError, match=r"bad.jsonl:3: grades a for task t again, and otherwise"):
        vrs(saved=str(bad))
    bad.write_text(json.dumps({"id": "t", "prompt": "p", "verifiers": 5}) + "\n")
    with pytest.raises(DatasetError, match="is no list of checks"):
        vrs(packages=str(bad))


def test_the_sheet_gives_the_same_checks() -> None:
    package = read_packages(str(SLICE / "packages.csv"), "k").by_task["kettles"]
    assert [verifier.text for verifier in package.verifiers] == [
        "Overhead adjustment = 7",
        "True unit cost = 103",
        "Final decision = ACCEPT",
    ]
    assert (package.type, package.material) == ("SCP", "Solution:\n110 less 7.\n\nTrap:\nLazy: uses 110.")


@pytest.fixture(scope="module")
def study_run(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """A run over the saved grades, as its tables would stand in its folder."""
    from dreambench.metrics.aggregation import report_values

    metric = vrs(saved=GRADES)
    rows = []
    for report in DATASET.reports:
        about = subject(report.task_id, report.agent)
        shared: dict[str, Any] = {
            "task": report.task_id,
            "report": report.id,
            "agent": report.agent,
            "metric": "vrs",
            "rubric": "",
        }
        shared |= {"judge": "code", "repeat": 0, "perturbation": "clean", "dataset": "vrs"}
        for row in asyncio.run(metric.measure(about, None, 0)):
            named = ("item", "family", "label", "value", "weight", "status", "reason_code")
            rows.append(shared | {name: getattr(row, name) for name in named})
    items = pl.DataFrame([{name: row.get(name) for name in ITEM_SCHEMA} for row in rows], schema=ITEM_SCHEMA)
    run = RunFolder(tmp_path_factory.mktemp("run"))
    run.study.mkdir(parents=True)
    items.write_parquet(run.judgments)
    report_values(items, [metric]).write_parquet(run.report_scores)
    items.select("dataset", "agent").write_parquet(run.scores)
    run.summary.write_text(json.dumps({"judges": {}, "run": "r"}))
    run.config.write_text("dataset: {}\nmetric: {}\n")
    return FinishedRun(run, {"tasks": PACKAGES, "published": True})


def test_the_study_checks_its_inputs() -> None:
    study = load_study("vrs")
    study.check({"tasks": PACKAGES})
    with pytest.raises(InputError, match="did you mean tasks"):
        study.check({"task": "x"})


def test_tables_of_the_study(study_run: FinishedRun) -> None:
    load_study("vrs").make(study_run)
    findings = (study_run.output / "findings.md").read_text(encoding="utf-8")
    assert "ACCEPT of ash and birch: discordant 3 / 1, exact McNemar p = 0.625" in findings
    assert "Claude: printed 38.53, recomputed 37.52" in findings
    read = {path.stem: pl.read_csv(path) for path in study_run.output.glob("*.csv")}
    systems = {row["agent"]: row for row in read["systems"].iter_rows(named=True)}
    assert systems["cedar"]["zeros"] == 7 and systems["cedar"]["grades"] == 30
    assert systems["birch"]["auto_reject"] == pytest.approx(2 / 6, abs=1e-6)
    kinds = read["by_type"].filter(pl.col("agent") == "ash")
    assert dict(kinds.select("type", "tasks").iter_rows()) == {"CRP": 1, "FSP": 2, "LDP": 1, "RCP": 1, "SCP": 2}, (
        "SCP/FSP is both"
    )
    causes = {row["agent"]: row for row in read["sole_cause"].iter_rows(named=True)}
    assert (causes["ash"]["cases"], causes["ash"]["EP"], causes["birch"]["AR"]) == (1, 1, 1)
    weights = read["weights"].filter(pl.col("agent") == "birch")
    found = dict(weights.select("v_to_criteria", "vrs").iter_rows())
    alive = [(1.0, 14 / 15), (1.0, 13 / 15), (0.5, 10 / 15), (1.0, 14 / 15)]
    for name, weight in (("25/75", 0.25), ("50/50", 0.5), ("75/25", 0.75)):
        assert found[name] == pytest.approx(sum(weight * v + (1 - weight) * r for v, r in alive) / 6, abs=1e-6)
    assert "proportional" in found
    assert weights.filter(pl.col("v_to_criteria") == "50/50")["shift"].item() == pytest.approx(0, abs=1e-9)
    assert read["wins"]["wins"].sum() == pytest.approx(6)
    assert read["accept_counts"]["tasks"].sum() == 6
    paired = read["paired"].filter(pl.col("measure") == "vrs")
    assert paired["p_adjusted"].to_list() == pytest.approx([min(1.0, 3 * p) for p in paired["p"]], abs=1e-5)


@pytest.mark.parametrize(("counts", "p"), [((10, 8), 0.815), ((8, 6), 0.791), ((9, 9), 1.0)])
def test_the_papers_mcnemar_tests(counts: tuple[int, int], p: float) -> None:
    assert mcnemar_counts(*counts).p == pytest.approx(p, abs=5e-4)


def test_the_papers_numbers_agree_but_for_one() -> None:
    checks = published_checks()
    wrong = checks.filter(~pl.col("agrees")).select("version", "check", "of").rows()
    assert wrong == [("v3", "strict VRS from its means by type", "Claude")]
    relaxed = checks.filter(pl.col("check").str.starts_with("relaxed"))["recomputed"].round(1).to_list()
    assert relaxed == [61.6, 50.1, 57.1]
    assert version_table().select("version", "prompts", "accepted_o3", "accepted_Gemini").rows() == [
        ("v1", 42.0, 4, 9),
        ("v3", 70.0, 11, 9),
    ]


@pytest.mark.parametrize("name", ["verifiers", "criteria"])
def test_terse_asks_the_same_in_fewer_words(name: str) -> None:
    default, terse = SHELF.load(f"vrs/{name}.default"), SHELF.load(f"vrs/{name}.terse")
    assert default.kind is terse.kind and default.settings == terse.settings
    given = {"question": "q", "as_of": None, "report": "A report.", "items": {"V1": "cost = 5"}}
    context = default.kind.context(**given)
    assert len(terse.render(context)[1]["content"]) < len(default.render(context)[1]["content"])
