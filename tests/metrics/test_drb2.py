"""DeepResearch Bench II: what is asked and asked again, what is counted, leakage, saved results and the published matrix."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.config.locations import bundled
from dreambench.config.studies import load_study
from dreambench.datasets.drb2 import Drb2Dataset
from dreambench.errors import AnswerError, ConfigError, DatasetError, InputError
from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.judge import Judge
from dreambench.judges.llm import LLMJudge
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.aggregation import dataset_scores, report_values
from dreambench.metrics.drb2.matrix import FILES, matrix_items, recorded_values, saved_items
from dreambench.metrics.drb2.metric import DeepResearchBench2
from dreambench.metrics.drb2.rubrics import read_rubrics
from dreambench.metrics.drb2.saved import read_saved
from dreambench.metrics.metric import MissingPolicy, Subject
from dreambench.records import Judgment, Status
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.openai_stub import OpenAIStub, saying
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
SLICE = Path(__file__).resolve().parents[1] / "data" / "drb2"
TASKS, MERGED = str(SLICE / "tasks_and_rubrics.jsonl"), str(SLICE / "merged.jsonl")
DATASET = Drb2Dataset(queries=TASKS, reports=str(SLICE / "report")).load()
SYSTEMS = ["OpenAI", "gemini", "doubao", "qwen", "grok-1", "perplexity", "tongyi"]


def drb2(**keys: Any) -> DeepResearchBench2:
    return DeepResearchBench2(name="drb2", shelf=SHELF, **{"rubrics": TASKS, **keys})


def subject(idx: str, agent: str = "heron") -> Subject:
    task = next(task for task in DATASET.tasks if task.id == idx)
    report = next(report for report in DATASET.reports if (report.task_id, report.agent) == (idx, agent))
    return Subject(task, report)


def measured(metric: DeepResearchBench2, about: Subject, judge: Judge | None) -> list[Judgment]:
    return asyncio.run(metric.measure(about, judge, 0))


def verdict(answer: str, quote: str = "") -> dict[str, str]:
    return {"reason": "as read", "quote": quote, "answer": answer}


def labels(rows: list[Judgment]) -> list[tuple[str, str]]:
    return [(row.family, row.label) for row in rows]


def test_every_unique_item_is_a_row_and_scores_come_from_the_table(gateway: TestGateway) -> None:
    given = {"i1": "-1", "i2": "1", "i3": "1", "i4": "1", "i5": "0", "i6": "1"}

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        assert context.blocked.title.startswith("Keeping the light")
        return {name: verdict(given[name]) for name in context.items}

    metric = drb2()
    rows = measured(metric, subject("1"), ScriptedJudge(name="j", gateway=gateway, script=script))
    families = ["info_recall"] * 3 + ["analysis"] * 2 + ["presentation"]
    assert labels(rows) == list(zip(families, given.values(), strict=True))
    assert measuring.values(metric, rows) == pytest.approx(
        {"total": 4 / 6, "info_recall": 2 / 3, "analysis": 0.5, "presentation": 1.0, "blocked": 1 / 6, "without_blocked": 4 / 5}
    )
    repeated = measured(metric, subject("4"), ScriptedJudge(name="k", gateway=gateway, script=lambda *_: ones()))
    assert [row.family for row in repeated].count("analysis") == 2, "the item that is there twice counts once"


def ones() -> dict[str, Any]:
    return {f"i{number}": verdict("1") for number in range(1, 5)}


def test_the_model_is_asked_in_chunks_and_again_for_what_is_missing_only(gateway: TestGateway) -> None:
    quote = "In 1900, 14 lighthouses stood on the coast"
    with OpenAIStub() as stub:
        stub.script(
            saying({"i1": verdict("-1", "lit in 1821"), "i3": verdict("1", quote)}),
            saying({"i2": verdict("0")}),
            saying({"i4": verdict("1"), "i5": verdict("0"), "i6": verdict("1")}),
        )
        metric = drb2(chunk=3)

        async def run() -> list[Judgment]:
            judge = LLMJudge(name="it", gateway=gateway, model="openai/m", api_base=stub.url)
            try:
                return await metric.measure(subject("1"), judge, 0)
            finally:
                await judge.close()

        rows = asyncio.run(run())
        bodies = stub.bodies
    assert [row.label for row in rows] == ["-1", "0", "1", "1", "0", "1"]
    place = rows[2]
    assert subject("1").report.text[place.report_start : place.report_end] == quote
    assert metric.rubric_variant == "default,chunk=3"
    assert len(bodies) == 3
    users = [body["messages"][1]["content"] for body in bodies]
    assert all("do not follow" in body["messages"][0]["content"] for body in bodies)
    for user in users:
        order = ["How did the lighthouses of the Vessa coast", "The last oil lamp was replaced in 1954. Missing roads"]
        order += ["title: Keeping the light", "authors: R. Imagined, T. Nobody", "https://mirror.example/lamps.pdf", "verdict"]
        places = [user.index(text) for text in order]
        assert places == sorted(places)
        assert "must not open this article" not in user
    asked = [["i1", "i2", "i3"], ["i2"], ["i4", "i5", "i6"]]
    for user, body, names in zip(users, bodies, asked, strict=True):
        assert body["tools"][0]["function"]["parameters"]["required"] == names
        assert [f"i{n}" for n in range(1, 7) if f"\ni{n}: " in user] == names
    assert "\ni2: State that the last oil lamp was replaced in 1954." in users[1]


def test_a_chunk_that_fails_or_leaves_items_out_keeps_what_is_there(gateway: TestGateway) -> None:
    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        if "i4" in context.items:
            raise AnswerError("cut off", code="length")
        return {next(iter(context.items)): verdict("1", "words that nobody wrote")}

    rows = measured(drb2(chunk=3), subject("1"), ScriptedJudge(name="j", gateway=gateway, script=script))
    assert [(row.status.value, row.reason_code) for row in rows] == [
        *[("scored", "quote_not_found")] * 2,
        ("judge_error", "missing_answer"),
        *[("judge_error", "length")] * 3,
    ]
    found = {policy: measuring.values(drb2(missing_policy=policy), rows)["total"] for policy in MissingPolicy}
    assert found == pytest.approx({MissingPolicy.EXCLUDE: 1.0, MissingPolicy.ZERO: 2 / 6, MissingPolicy.FAIL: None})


def test_a_long_report_is_cut_and_that_is_said(gateway: TestGateway) -> None:
    seen = []

    def script(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
        seen.append((len(context.report), rubric.render(context)[1]["content"]))
        return {name: verdict("0") for name in context.items}

    rows = measured(drb2(report_limit=40), subject("2"), ScriptedJudge(name="j", gateway=gateway, script=script))
    assert {row.reason_code for row in rows} == {"report_cut"}
    ((length, prompt),) = seen
    assert length == 40
    assert "only its beginning is shown" in prompt
    assert "No source is forbidden" in prompt, "task 2 forbids nothing"


def test_the_embedded_judge_reads_content_and_refuses_presentation(gateway: TestGateway) -> None:
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    refusals = [judge.refusal(rubric) for rubric in drb2().rubrics()]
    assert refusals == ["it cannot see presentation; type metric.drb2.dimensions=[info_recall,analysis]"]
    metric = drb2(dimensions=["info_recall", "analysis"])
    assert [judge.refusal(rubric) for rubric in metric.rubrics()] == [None]
    assert metric.rubric_variant == "default,info_recall+analysis"
    rows = measured(metric, subject("1"), judge)
    assert [row.label for row in rows] == ["-1", "1", "1", "1", "0"], "the first stands on the forbidden source alone"
    assert "presentation" not in measuring.values(metric, rows)


def all_absent(rubric: Rubric, context: Any, repeat: int) -> dict[str, Any]:
    return dict.fromkeys(context.items, verdict("0"))


def test_leakage_has_three_states(gateway: TestGateway) -> None:
    metric = drb2(traces=str(SLICE / "traces"))
    judge = ScriptedJudge(name="j", gateway=gateway, script=all_absent)
    found = {}
    for idx, agent in [("1", "heron"), ("4", "heron"), ("1", "gull"), ("2", "heron"), ("4", "gull")]:
        row = measured(metric, subject(idx, agent), judge)[-1]
        assert row.family == "leakage"
        found[idx, agent] = row.label or row.reason_code
    assert found == {
        ("1", "heron"): "cited",
        ("4", "heron"): "viewed_not_cited",
        ("1", "gull"): "clean",
        ("2", "heron"): "no_forbidden_source",
        ("4", "gull"): "no_trace",
    }
    assert drb2(traces=str(SLICE / "traces")).identity() != drb2().identity()
    with pytest.raises(DatasetError, match="holds no trace"):
        drb2(traces=str(SLICE / "report"))


def test_saved_results_are_taken_as_the_original_aggregates_them() -> None:
    metric = drb2(saved=MERGED)
    assert metric.evaluator == "code"
    rows = measured(metric, subject("1"), None)
    assert measuring.values(metric, rows)["total"] == pytest.approx(4 / 6)
    twice = measured(metric, subject("2", "gull"), None)
    assert len(twice) == 8
    assert measuring.values(metric, twice)["total"] == pytest.approx((1 / 4 + 2 / 4) / 2), "two lines are averaged"
    failed = measured(metric, subject("4"), None)
    assert {(row.status, row.reason_code) for row in failed} == {(Status.MISSING_RUN, "evaluation_failed")}
    assert len(failed) == 4, "every unique item of the task, so that zero counts them"
    assert measuring.values(metric, failed)["total"] is None
    assert measuring.values(drb2(saved=MERGED, missing_policy="zero"), failed)["total"] == 0.0
    assert metric.prepare(DATASET) == []


def test_what_cannot_be_used_is_said_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dataset=drb2"):
        DeepResearchBench2(name="drb2", shelf=SHELF)
    bad = tmp_path / "bad.jsonl"
    lines = [{"model": "m", "idx": 1, "result": {"scores": {"analysis": {"x": {"score": 2}}}}}, {"model": "m", "idx": 2}]
    bad.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(DatasetError, match=r"(?s)bad.jsonl:1.*score 2 is none of.*bad.jsonl:2: has no result"):
        drb2(saved=str(bad))
    bad.write_text(json.dumps({"idx": 1, "content": {"rubric": {"recall": [], "analysis": [3]}}}) + "\n")
    with pytest.raises(DatasetError, match=r"(?s)dimension 'recall'.*rubric.analysis is no list of texts"):
        drb2(rubrics=str(bad))
    bad.write_text(Path(MERGED).read_text(encoding="utf-8").replace('"gull"', '"gulls"'), encoding="utf-8")
    (problem,) = drb2(saved=str(bad)).prepare(DATASET)
    assert (problem.what, problem.type) == ("holds no result of gull", "mv gull gulls")


def study_run(folder: Path, values: pl.DataFrame, **inputs: Any) -> FinishedRun:
    """A finished run that has nothing but these report scores."""
    run = RunFolder(folder)
    run.study.mkdir(parents=True)
    values.write_parquet(run.report_scores)
    values.select("dataset", "agent").write_parquet(run.scores)
    run.summary.write_text(json.dumps({"judges": {}, "run": "r"}))
    run.config.write_text("dataset: {}\nmetric: {}\n")
    return FinishedRun(run, inputs)


def test_the_study_shows_who_moves_under_which_policy(tmp_path: Path) -> None:
    study = load_study("drb2")
    with pytest.raises(InputError, match="did you mean matrix"):
        study.check({"matrx": "x"})
    inputs: dict[str, Any] = {"matrix": str(SLICE / "matrix"), "results": MERGED, "exclude": [4]}
    study.check(inputs)
    run = study_run(tmp_path / "run", recorded_values(matrix_items(inputs["matrix"], "m")).clear(), **inputs)
    names = {path.name for path in study.make(run)}
    assert {
        "policies.csv",
        "ranks.md",
        "order_changes.tex",
        "agreement.csv",
        "tests.csv",
        "policies.svg",
        "findings.md",
    } <= names
    table = pl.read_csv(run.output / "policies.csv").filter(pl.col("source") == "matrix")
    rows = {row["agent"]: row for row in table.iter_rows(named=True)}
    assert rows["gull"]["macro"] == pytest.approx(0.875) and rows["gull"]["missing"] == 1
    assert rows["gull"]["missing_zero"] == pytest.approx(1.75 / 3, abs=1e-6)
    assert rows["heron"]["without_withdrawn"] == pytest.approx(5 / 6, abs=1e-6)
    assert rows["heron"]["minus_blocked"] == pytest.approx(13 / 18 - (1 / 6 + 1 / 2) / 3, abs=1e-6)
    findings = (run.output / "findings.md").read_text(encoding="utf-8")
    assert "gull is before heron by macro, micro, without_withdrawn, minus_blocked" in findings


def test_a_matrix_that_is_no_share_of_items_is_refused(tmp_path: Path) -> None:
    for path in (SLICE / "matrix").iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace("0.750000", "0.740000"))
    with pytest.raises(DatasetError, match=r"gull, idx 2: 0.74 is no share of 4 items"):
        matrix_items(str(tmp_path), "study_inputs.matrix")


def test_saved_lines_give_the_same_scores_with_and_without_reports() -> None:
    rubrics = read_rubrics(TASKS, "k").by_task
    values = recorded_values(saved_items(read_saved(MERGED, "k"), rubrics), MissingPolicy.ZERO)
    scores = dataset_scores(values, seed=0).filter(pl.col("variant") == "total")
    found = {(row["agent"], row["aggregation"]): row["value"] for row in scores.iter_rows(named=True)}
    assert found["heron", "macro"] == pytest.approx((4 / 6 + 1 + 3 / 4 + 0) / 4)
    assert found["heron", "micro"] == pytest.approx((4 + 4 + 3) / (6 + 4 + 4 + 4))


@pytest.fixture(scope="module")
def matrix(real_data: Path) -> pl.DataFrame:
    return matrix_items(str(real_data / "drb2"), "study_inputs.matrix")


PUBLISHED = {  # macro, missing = 0, micro, without tasks 112 and 114, blocked, info_recall, analysis, presentation
    "OpenAI": (0.4540, 0.4505, 0.4433, 0.4549, 0.0267, 0.3998, 0.4985, 0.8916),
    "gemini": (0.4198, 0.4198, 0.4056, 0.4192, 0.0454, 0.3491, 0.5191, 0.9024),
    "doubao": (0.4099, 0.3912, 0.3876, 0.4094, 0.0164, 0.3483, 0.4943, 0.8351),
    "qwen": (0.3925, 0.3866, 0.3711, 0.3935, 0.1320, 0.3418, 0.4804, 0.7459),
    "grok-1": (0.3923, 0.3893, 0.3775, 0.3926, 0.0024, 0.3352, 0.4250, 0.9142),
    "perplexity": (0.3858, 0.3858, 0.3679, 0.3849, 0.0085, 0.3305, 0.4447, 0.7934),
    "tongyi": (0.2989, 0.2943, 0.2881, 0.2970, 0.0232, 0.2295, 0.3589, 0.8613),
}
COLUMNS = ["macro", "missing_zero", "micro", "without_withdrawn", "blocked", "info_recall", "analysis", "presentation"]


def test_the_published_matrix_is_reproduced_under_every_policy(matrix: pl.DataFrame) -> None:
    study = load_study("drb2")
    assert matrix["agent"].n_unique() == 7 and matrix["task"].n_unique() == 132
    assert matrix.filter(pl.col("agent") == "OpenAI").height == 9409, "unique items"
    values = recorded_values(matrix).with_columns(source=pl.lit("matrix"))
    policies = study.policy_table(values, ["112", "114"])
    found = {row["agent"]: [row[name] for name in COLUMNS] for row in policies.iter_rows(named=True)}
    assert list(found) == SYSTEMS
    for system, expected in PUBLISHED.items():
        assert found[system] == pytest.approx(expected, abs=6e-5), system
    rows = {row["agent"]: row for row in policies.iter_rows(named=True)}
    assert rows["qwen"]["minus_blocked"] == pytest.approx(0.2605, abs=6e-5)
    assert [rows[name]["missing"] for name in SYSTEMS] == [1, 0, 6, 2, 1, 0, 2]
    assert [round(rows["OpenAI"][end], 3) for end in ("low", "high")] == pytest.approx([0.424, 0.485], abs=4e-3)
    ranks = {row["agent"]: row for row in study.rank_table(policies).iter_rows(named=True)}
    assert [(ranks["qwen"][p], ranks["grok-1"][p]) for p in ("macro", "micro", "missing_zero")] == [(4, 5), (5, 4), (5, 4)]
    assert ranks["qwen"]["minus_blocked"] == 7
    agreement = study.agreement_table(values)
    spearman = agreement.filter(pl.col("method") == "Spearman")["effect"]
    assert (round(spearman.mean(), 4), round(spearman.max(), 4), round(spearman.min(), 4)) == (0.7157, 0.8386, 0.5804)
    assert round(agreement.filter(pl.col("method") == "Kendall tau-b")["effect"].mean(), 4) == 0.5374
    tests = {row["b"]: row for row in study.leader_tests(values).iter_rows(named=True)}
    assert all(row["p_adjusted"] < 0.002 for row in tests.values()) and len(tests) == 6
    assert (round(tests["doubao"]["p_adjusted"], 5), tests["doubao"]["n"]) == (0.00194, 125)


def test_the_means_that_the_files_print_are_those_of_the_item_table(matrix: pl.DataFrame, real_data: Path) -> None:
    scores = dataset_scores(recorded_values(matrix), seed=0).filter(pl.col("aggregation") == "macro")
    found = {(row["variant"], row["agent"]): row["value"] for row in scores.iter_rows(named=True)}
    for variant, name in FILES.items():
        header, *_, means = (real_data / "drb2" / name).read_text(encoding="utf-8").splitlines()
        printed = dict(zip(header.split(",")[3:-1], map(float, means.split(",")[3:-1]), strict=True))
        assert len(printed) == 7
        assert {agent: found[variant, agent] for agent in printed} == pytest.approx(printed, abs=1e-6)


def test_the_missing_policy_of_the_metric_gives_the_same_as_the_study(matrix: pl.DataFrame) -> None:
    scores = dataset_scores(recorded_values(matrix, MissingPolicy.ZERO), seed=0)
    macro = scores.filter(pl.col("variant") == "total", pl.col("aggregation") == "macro")
    found = dict(macro.select("agent", "value").iter_rows())
    assert {name: round(found[name], 4) for name in SYSTEMS} == {name: PUBLISHED[name][1] for name in SYSTEMS}


def test_rubrics_of_the_real_slice(real_data: Path) -> None:
    found = read_rubrics(str(real_data / "drb2" / "tasks_and_rubrics_slice.jsonl"), "k").by_task
    assert {idx: (len(rubric.items), rubric.blocked is None) for idx, rubric in found.items()} == {
        "41": (57, False),
        "63": (64, False),
        "80": (37, False),
        "116": (50, False),
        "119": (59, False),
        "124": (79, True),
    }


def test_report_values_need_nothing_but_the_table() -> None:
    metric = drb2()
    rows = [Judgment("a", "analysis", "1", 1.0), Judgment("b", "analysis", "-1", 0.0), Judgment("c", "analysis", "0", 0.0)]
    table = report_values(measuring.item_table(metric, rows), [metric])
    assert dict(table.filter(pl.col("denominator") > 0).select("variant", "value").iter_rows()) == pytest.approx(
        {"total": 1 / 3, "analysis": 1 / 3, "blocked": 1 / 3, "without_blocked": 0.5}
    )


@pytest.mark.parametrize("name", ["items", "content"])
def test_terse_asks_the_same_in_fewer_words(name: str) -> None:
    default, terse = SHELF.load(f"drb2/{name}.default"), SHELF.load(f"drb2/{name}.terse")
    assert default.kind is terse.kind and default.settings == terse.settings
    given = {"question": "q", "as_of": None, "report": "A report.", "items": {"i1": "State it."}}
    context = default.kind.context(**given)
    assert len(terse.render(context)[1]["content"]) < len(default.render(context)[1]["content"])
    assert ("form" in default.render(context)[1]["content"]) is (name == "items")
