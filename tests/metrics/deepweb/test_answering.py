"""A model answers a matrix task with tools on a scripted server: budgets, trace, and nothing of the reference in any call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreambench.commands.answer import answer
from dreambench.datasets.deepweb import DeepWebDataset
from dreambench.errors import ConfigError, InputError
from dreambench.judges.kinds.matrix_answer import CellAnswer
from dreambench.metrics.deepweb.answering import LIMITS, as_markdown
from dreambench.metrics.deepweb.cells import find_cells
from dreambench.metrics.deepweb.said import take_apart
from tests.metrics.deepweb.release import write_hub
from tests.support.agents import PAGES, is_turn, turn
from tests.support.openai_stub import Act, OpenAIStub

GIVEN = {"answer": "80 m", "derivation": "as the page\nsays", "reason": "", "sources": ["https://pages.example/1"]}
SECRET = "SECRETREFERENCE"


def filled(body: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(body, GIVEN)


def release(folder: Path) -> Path:
    """The lakes alone, with words planted in all that a model must not see."""
    hub = write_hub(folder)
    path = hub / "data" / "cases.jsonl"
    (case,) = (case for case in map(json.loads, path.read_text().splitlines()) if case["case_id"] == "10_lakes")
    case |= {"reference_answer_md": case["reference_answer_md"].replace("[T1]", f"[T1] {SECRET}"), "scoring_rubric_md": SECRET}
    path.write_text(json.dumps(case))
    return hub


def arguments(folder: Path, stub: OpenAIStub, *more: str) -> list[str]:
    pages = folder / "pages.jsonl"
    pages.write_text("\n".join(json.dumps(page) for page in PAGES))
    model = ["judge=litellm", "judge.litellm.model=openai/any", f"judge.litellm.api_base={stub.url}"]
    data = ["dataset=deepweb", f"dataset.path={folder / 'hub'}", "tools=corpus", f"tools.path={pages}"]
    return ["--out", str(folder / "out"), *data, *model, f"paths.cache={folder / 'cache'}", *more]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_model_answers_and_is_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release(tmp_path / "hub")
    with OpenAIStub() as stub:
        for act in turn("json", ("web_search", {"query": "lake depth"}), ("page_visit", {"url": PAGES[0]["url"]})):
            stub.script(act, when=is_turn)
        stub.always(turn("json")[0], when=is_turn)
        stub.always(Act(change=filled), when=lambda body: not is_turn(body))
        assert answer(arguments(tmp_path, stub, "judge.litellm.tool_mode=json")) == 0
        asked = json.dumps(stub.bodies, ensure_ascii=False)
        first, closing = stub.bodies[0], stub.bodies[-1]
        assert len(stub.bodies) == 4
        assert answer(arguments(tmp_path, stub, "judge.litellm.tool_mode=json")) == 0
        assert len(stub.bodies) == 4, "what is there is not asked again"
    assert "0 answered, 1 from before" in capsys.readouterr().out
    assert SECRET not in asked and "25-30 km2" not in asked and "40 km2" not in asked
    shown = first["messages"][1]["content"]
    assert "How deep and large are the lakes?" in shown
    assert "Q1 (Depth): Aare Lake" in shown and "Q2 (Area): Blue Lake" in shown
    assert "web_search" in shown and "page_visit" in shown and "- calculate:" not in shown
    assert "Bridge 1 was opened" in closing["messages"][1]["content"], "what the tools gave is in the closing question"
    assert "Q1_1: Q1 (Depth): Aare Lake" in closing["messages"][1]["content"]
    (record,) = lines(tmp_path / "out" / "model_answers.jsonl")
    assert (record["record_id"], record["ended"], record["tool_calls"]) == ("litellm::10_lakes", "finished", 2)
    assert len(lines(tmp_path / "out" / "answer_cells.jsonl")) == 4
    (trace,) = (tmp_path / "out" / "trajectories").glob("*.json")
    assert [step["tool"] for step in json.loads(trace.read_text())["steps"]] == ["web_search", "page_visit"]
    own = str(tmp_path / "out" / "model_answers.jsonl")
    (report,) = DeepWebDataset(path=str(tmp_path / "hub"), answers=own).load().reports
    assert (report.agent, report.text) == ("litellm", record["answer_md"])


def test_an_answer_is_read_back_from_its_markdown(tmp_path: Path) -> None:
    (matrix,) = DeepWebDataset(path=str(release(tmp_path)), tasks="all").load().matrices.values()
    cell = CellAnswer.model_validate(GIVEN)
    missing = ("Q2", "Blue Lake")
    text = as_markdown(matrix, {key: cell for key in matrix.cell_keys() if key != missing})
    found = find_cells(text, matrix.dimensions, matrix.entities)
    assert set(found) == set(matrix.cell_keys()) - {missing}
    said = take_apart(found["Q1", "Aare Lake"].text)
    assert (said.value, said.parts["derivation"], said.derived, said.cited) == ("80 m", "as the page says", True, True)


def test_the_budget_of_calls_ends_the_search_and_still_gives_an_answer(tmp_path: Path) -> None:
    release(tmp_path / "hub")
    with OpenAIStub() as stub:
        stub.always(turn("json", ("web_search", {"query": "lake depth"}))[0], when=is_turn)
        stub.always(Act(change=filled), when=lambda body: not is_turn(body))
        assert answer(["--calls", "2", *arguments(tmp_path, stub, "judge.litellm.tool_mode=json")]) == 0
        assert "budget of calls was nearly spent" in stub.bodies[-1]["messages"][1]["content"]
    (record,) = lines(tmp_path / "out" / "model_answers.jsonl")
    assert (record["ended"], record["tool_calls"]) == ("calls", 2)


def test_what_cannot_answer_is_said_before(tmp_path: Path) -> None:
    release(tmp_path / "hub")
    data = ["dataset=deepweb", f"dataset.path={tmp_path / 'hub'}", f"paths.cache={tmp_path / 'cache'}"]
    with pytest.raises(InputError, match=r"judge.embedded: cannot answer matrix tasks: it has no rules") as caught:
        answer([*data, "tools=none"])
    assert "tools=none cannot search" in str(caught.value)
    with pytest.raises(InputError, match="has no matrix tasks"):
        answer([f"paths.cache={tmp_path / 'cache'}"])
    with pytest.raises(ConfigError, match="did you mean --calls"):
        answer(["--call=3"])
    with pytest.raises(ConfigError, match="no whole number from 1"):
        answer(["--calls", "many"])


def test_the_budgets_are_the_benchmarks() -> None:
    assert (LIMITS.calls, LIMITS.seconds) == (200, 1800)
