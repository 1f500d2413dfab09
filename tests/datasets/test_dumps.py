"""Agents' own files, read as they are: whose report it is, which task it answers, and what is said about what is none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dreambench.datasets import Dataset
from dreambench.datasets.drb import DrbDataset
from dreambench.datasets.dumps import first_question, message_text
from dreambench.datasets.gpt_researcher import GptResearcherDataset
from dreambench.datasets.loader import Loader
from dreambench.datasets.open_deep_research import OpenDeepResearchDataset
from dreambench.datasets.openai_deep_research import OpenaiDeepResearchDataset, linked
from dreambench.datasets.perplexity import PerplexityDataset, with_references
from dreambench.datasets.smolagents import SmolagentsDataset
from dreambench.datasets.tongyi import TongyiDataset
from dreambench.documents import parse_document
from dreambench.errors import DatasetError

from .conftest import WriteLines

ADAPTERS = Path(__file__).resolve().parent.parent / "data" / "adapters"
BRIDGE = "How did the Öresund link change commuting between Malmö and Copenhagen?"
MILLS = "Which towns in Friesland still run a tidal mill?"


def found(dataset: Dataset, *codes: str) -> list[str]:
    """Findings of these codes (all: none given) without the path of the file."""
    chosen = [each for each in dataset.findings if not codes or each.code in codes]
    return [str(each).replace(f"{each.file}", Path(each.file).name) if each.file else str(each) for each in chosen]


def queries(dataset: Dataset) -> dict[str, str]:
    return {task.id: task.query for task in dataset.tasks}


def cited(text: str) -> list[tuple[str | None, str]]:
    """Every citation's address and the sentence that it belongs to."""
    document = parse_document(text)
    return [
        (one.url, document.sentences[one.sentence].span.of(text) if one.sentence is not None else "")
        for one in document.citations
    ]


def test_open_deep_research_exports_are_drb_files() -> None:
    dataset = OpenDeepResearchDataset(reports=str(ADAPTERS / "open_deep_research" / "gpt.jsonl")).load()
    assert [(report.task_id, report.agent) for report in dataset.reports] == [("1", "gpt")]
    assert queries(dataset) == {"1": BRIDGE}
    assert [url for url, _ in cited(dataset.reports[0].text)] == [
        "https://oresund.example/figures",
        "https://labour.example/note?year=2008",
    ]
    assert found(dataset, "empty_report") == ["gpt.jsonl:2: the report of gpt for task 2 is empty; left out"]


def test_open_deep_research_states_ask_what_the_user_asked() -> None:
    dataset = OpenDeepResearchDataset(reports=str(ADAPTERS / "open_deep_research" / "states")).load()
    assert sorted(queries(dataset).values()) == [BRIDGE, MILLS]
    assert {report.agent for report in dataset.reports} == {"states"}
    runs = OpenDeepResearchDataset(reports=str(ADAPTERS / "open_deep_research" / "runs.jsonl"), agent="odr").load()
    assert queries(runs) == {task_id: query for task_id, query in queries(dataset).items() if query == BRIDGE}
    (said,) = found(runs, "failed_report")
    assert said.startswith("runs.jsonl:2: odr wrote no report for task q-")
    assert said.endswith(": its state ended without a final_report")


def test_states_are_joined_with_a_list_of_tasks(write_lines: WriteLines) -> None:
    listed = write_lines("tasks.jsonl", [{"id": "tides", "query": "Reworded."}, {"id": 7, "query": BRIDGE}])
    dataset = OpenDeepResearchDataset(reports=str(ADAPTERS / "open_deep_research" / "states"), queries=listed).load()
    assert [report.task_id for report in dataset.reports] == ["tides", "7"]  # by the file's name, and by the query
    assert [each.code for each in dataset.findings] == ["query_mismatch"]


def test_smolagents_predictions_are_reports_and_its_failures_are_told() -> None:
    dataset = SmolagentsDataset(reports=str(ADAPTERS / "smolagents")).load()
    (report,) = dataset.reports
    assert (report.task_id, report.agent) == ("c61d22de", "o1")
    assert report.text.startswith("### 1. Task outcome") and "SECRET" not in report.text
    assert found(dataset, "failed_report") == [
        "answers.jsonl:2: o1 wrote no report for task 17b5a6a3: Error in generating model output: context window exceeded",
        "answers.jsonl:3: o1 wrote no report for task 04a04a9b: Agent stopped due to iteration limit or time limit.",
    ]


def test_tongyi_iterations_are_agents_and_its_sentinels_are_no_reports() -> None:
    dataset = TongyiDataset(reports=str(ADAPTERS / "tongyi"), agent="30b").load()
    assert [(report.agent, report.text) for report in dataset.reports] == [
        ("30b-iter1", "Trips over the bridge tripled between 2000 and 2008."),
        ("30b-iter2", "Trips doubled."),
    ]
    assert len({report.task_id for report in dataset.reports}) == 1
    assert [each.partition(" for task q-")[0] for each in found(dataset, "sentinel", "failed_report")] == [
        "iter2_split2of2.jsonl:1: 30b-iter2 wrote no report",
        "iter1.jsonl:2: the report of 30b-iter1",
        "iter2_split2of2.jsonl:2: the report of 30b-iter2",
    ]
    assert {report.agent for report in TongyiDataset(reports=str(ADAPTERS / "tongyi")).load().reports} == {
        "tongyi-iter1",
        "tongyi-iter2",
    }


def test_gpt_researcher_logs_have_the_query_and_their_markdown_is_not_read_twice(tmp_path: Path) -> None:
    dataset = GptResearcherDataset(reports=str(ADAPTERS / "gpt_researcher")).load()
    assert sorted(queries(dataset).values()) == ["", MILLS]
    assert {report.agent for report in dataset.reports} == {"gpt_researcher"} and len(dataset.reports) == 2
    (skipped,) = found(dataset, "skipped_file")
    assert skipped.startswith("task_1740000000_Which towns") and skipped.endswith("since when.json again; left out")
    (mills,) = [report for report in dataset.reports if report.task_id != "5f0c2c1e-bridge"]
    assert [url for url, _ in cited(mills.text)] == ["https://mills.example/2021"]
    shutil.copy(ADAPTERS / "gpt_researcher" / "5f0c2c1e-bridge.md", tmp_path / "bridge.md")
    shutil.copy(ADAPTERS / "gpt_researcher" / "5f0c2c1e-bridge.md", tmp_path / "bridge.docx")
    assert len(GptResearcherDataset(reports=str(tmp_path)).load().reports) == 1


def test_openai_annotations_become_links_of_the_sentences_they_stand_for() -> None:
    dataset = OpenaiDeepResearchDataset(reports=str(ADAPTERS / "openai_deep_research" / "bridge.json")).load()
    (report,) = dataset.reports
    assert (report.task_id, report.agent) == ("bridge", "o3-deep-research-2025-06-26")
    assert report.text == (
        "# Commuting over the Öresund 😀\n\nTrips tripled within eight years ([Bridge annual figures](https://oresund.example/figures))"
        " ([labour.example](https://labour.example/wiki/Trips_%282008)). Wages moved closer "
        "([Labour market note](https://labour.example/note?year=2008)) and rents rose ([Rents](https://rents.example/a))."
        "\n\nNobody counted bicycles."
    )
    assert [(url, sentence.split()[0]) for url, sentence in cited(report.text)] == [
        ("https://oresund.example/figures", "Trips"),
        ("https://labour.example/wiki/Trips_%282008", "Trips"),
        ("https://labour.example/note?year=2008", "Wages"),
        ("https://rents.example/a", "Wages"),
    ]
    (said,) = found(dataset, "unplaced_citation")
    assert said.endswith("cites https://bikes.example/none at characters 4000-4010 of 171, which is no place in it; left out")


def test_openai_batches_tell_tasks_and_what_went_wrong() -> None:
    dataset = OpenaiDeepResearchDataset(reports=str(ADAPTERS / "openai_deep_research" / "batch.jsonl"), agent="o3").load()
    assert [(report.task_id, report.text[:14]) for report in dataset.reports] == [
        ("59", "# Commuting ov"),
        ("60", "Cut in the mid"),
    ]
    assert queries(dataset)["59"] == BRIDGE
    assert found(dataset, "failed_report", "incomplete_report") == [
        "batch.jsonl:2: the report of o3 for task 60 was cut off: max_output_tokens",
        "batch.jsonl:3: o3 wrote no report for task 61: It was not executed before the window expired.",
        "batch.jsonl:4: o3 wrote no report for task 62: it refused: I cannot help with that.",
    ]


@pytest.mark.parametrize(
    ("text", "spans", "expected"),
    [
        ("A. B.", [(0, 2, "u1"), (3, 5, "u2")], "A ([h](http://h/u1)). B ([h](http://h/u2))."),
        ("A claim 【1】.", [(0, 10, "u1"), (8, 11, "u2")], "A claim ([h](http://h/u2)) ([h](http://h/u1))."),
        ("答案。", [(0, 3, "u1")], "答案 ([h](http://h/u1))。"),
        ("【1】", [(0, 3, "u1"), (0, 3, "u2")], "([h](http://h/u1)) ([h](http://h/u2))"),
        ("...", [(0, 3, "u1")], "([h](http://h/u1))..."),
        ("see http://h/u1 there", [(0, 15, "u1")], "see http://h/u1 there"),
        ("text", [(0, 0, "u1"), (2, 1, "u1"), (-1, 2, "u1"), (0, 5, "u1")], "text"),
        ("text", [("0", "4", "u1"), (None, 4, "u1")], "text"),
    ],
)
def test_links_are_placed_without_breaking_the_text(text: str, spans: list[tuple[Any, Any, str]], expected: str) -> None:
    notes = [
        {"type": "url_citation", "start_index": start, "end_index": end, "url": f"http://h/{url}"} for start, end, url in spans
    ]
    placed, said = linked({"type": "output_text", "text": text, "annotations": notes})
    assert placed == expected
    assert len(said) == (len(spans) if text == "text" else 0)


def test_perplexity_sources_are_a_list_below_the_report() -> None:
    dataset = PerplexityDataset(reports=str(ADAPTERS / "perplexity")).load()
    reports = {report.task_id: report.text for report in dataset.reports}
    assert {report.agent for report in dataset.reports} == {"sonar-deep-research"}
    assert queries(dataset)["bridge"] == BRIDGE
    assert cited(reports["bridge"]) == [
        ("https://oresund.example/figures", "Trips tripled within eight years[1]."),
        ("https://labour.example/note?year=2008", "Wages moved closer[2]."),
    ]
    # Without `citations` the search results are the list, in their own order.
    assert cited(reports["mills"]) == [("https://labour.example/note?year=2008", "No tidal mill runs[1].")]
    assert reports["listed"].count("References") == 1
    assert found(dataset) == ["answers.json:47: the report of sonar-deep-research for task mills was cut off: length"]


def test_an_empty_answer_stays_empty() -> None:
    assert with_references(" ", {"citations": ["https://a.example"]}) == " "
    assert with_references("Text.", {"citations": None, "search_results": "none"}) == "Text."


CASES: list[tuple[type[Loader], dict[str, Any], dict[str, Any], str]] = [
    (
        OpenDeepResearchDataset,
        {"final_report": "x", "messages": [["user", "q"]]},
        {"final_report": 3},
        "field 'final_report' is a number",
    ),
    (SmolagentsDataset, {"question": "q", "prediction": "x"}, {"question": "q", "predicton": "x"}, "did you mean 'predicton'?"),
    (TongyiDataset, {"question": "q", "prediction": "x"}, {"question": "q", "prediction": None}, "field 'prediction' is null"),
    (GptResearcherDataset, {"query": "q", "report": "x"}, {"content": {"query": "q"}}, "has no field 'content.report'"),
    (OpenaiDeepResearchDataset, {"query": "q", "output": []}, {"output": "text"}, "field 'output' is no list"),
    (
        PerplexityDataset,
        {"query": "q", "choices": [{"message": {"content": "x"}}]},
        {"choices": []},
        "field 'choices' holds no message",
    ),
]


@pytest.mark.parametrize(("loader", "good", "bad", "said"), CASES, ids=[case[0].title for case in CASES])
@pytest.mark.parametrize("first", [True, False])
def test_a_wrong_record_is_told_by_file_and_line(
    write_lines: WriteLines, loader: Any, good: dict[str, Any], bad: dict[str, Any], said: str, first: bool
) -> None:
    path = write_lines("dump.jsonl", [bad, good] if first else [good, bad])
    with pytest.raises(DatasetError) as caught:
        loader(reports=path).load()
    (problem,) = caught.value.problems
    assert problem.where == f"{path}:{1 if first else 2}" and said in problem.what


@pytest.mark.parametrize("loader", [case[0] for case in CASES], ids=[case[0].title for case in CASES])
def test_what_is_no_json_or_no_dump_is_refused(write_text: Any, write_lines: WriteLines, loader: Any) -> None:
    torn = write_text("torn.jsonl", '{"question": "q"\n')
    with pytest.raises(DatasetError, match=r"torn\.jsonl:1: is not JSON"):
        loader(reports=torn).load()
    other = write_lines("other.jsonl", [{"name": "x"}])
    with pytest.raises(DatasetError, match="holds no reports: its records have name; a report's record has "):
        loader(reports=other).load()


def test_json_documents_and_lists_are_told_by_line(write_text: Any) -> None:
    broken = write_text("a.json", '{\n "final_report": "x",\n')
    with pytest.raises(DatasetError, match=r"a\.json:3: is not JSON"):
        OpenDeepResearchDataset(reports=broken).load()
    mixed = write_text("b.json", '[\n {"final_report": "x",\n  "messages": [["user", "q"]]},\n 3\n]')
    with pytest.raises(DatasetError, match=r"b\.json:4: is a JSON number"):
        OpenDeepResearchDataset(reports=mixed).load()
    nameless = write_text("c.json", '[\n\n {"final_report": "x"}]')
    with pytest.raises(DatasetError, match=r"c\.json:3: tells neither an id nor a query"):
        OpenDeepResearchDataset(reports=nameless).load()
    lines = write_text("d.json", '{"id": 1, "prompt": "q", "article": "x"}\n{"id": 2, "prompt": "r", "article": "y"}\n')
    assert len(OpenDeepResearchDataset(reports=lines).load().reports) == 2


def test_files_of_another_kind_in_a_folder_are_findings(write_lines: WriteLines, tmp_path: Path) -> None:
    write_lines("a.jsonl", [{"question": "q", "prediction": "x"}])
    write_lines("scores.jsonl", [{"score": 1}])
    dataset = SmolagentsDataset(reports=str(tmp_path)).load()
    assert found(dataset, "skipped_file") == ["scores.jsonl: holds no reports: its records have score; left out"]


def test_questions_are_found_in_every_shape_of_message() -> None:
    assert (
        first_question([{"type": "ai", "content": "a"}, {"role": "user", "content": [{"text": "b"}, "c", {"image": 1}]}])
        == "bc"
    )
    assert first_question([["human", "a"], 3, None]) == "a"
    assert first_question("text") == "" and first_question(None) == "" and message_text(7) == ""


def test_exports_of_open_deep_research_are_the_reports_that_drb_reads(real_data: Path) -> None:
    dataset = OpenDeepResearchDataset(reports=str(real_data / "odr")).load()
    assert len(dataset.reports) > 100
    assert dataset.fingerprint() == DrbDataset(reports=str(real_data / "odr")).load().fingerprint()
