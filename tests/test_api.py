"""Use from Python: one report, the usual engine, results in memory; from an event loop and without one."""

from __future__ import annotations

import asyncio
import gc
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.console import Console

import dreambench
from dreambench import Evaluation, aevaluate, evaluate
from dreambench.datasets.demo import BUNDLED
from dreambench.errors import CacheMissError, ConfigError, DocumentError, InputError
from tests.apps.command import ROOT
from tests.support.openai_stub import OpenAIStub

QUERY = 'How many moons does Saturn have, and what is "${odd}" about $5?'
REPORT = """# Moons

Saturn has 274 moons <b>today</b> [1]. Jupiter has 97 moons.

## References
[1] Statement: https://smallbody-clearinghouse.example/statements/saturn-2025
"""
CODE = ["metric=[citations,length]"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Answers are cached in the working folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("work"))
        yield


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("shared"))
        overrides = ["metric=[ci,da,citations]", "tools=corpus", f"tools.path={BUNDLED / 'corpus'}"]
        return evaluate(REPORT, QUERY, overrides, as_of="2025-06-30")


def test_scores_and_judgments_are_the_tables_of_the_run(found: Evaluation) -> None:
    assert found.complete
    for name in ("scores", "judgments"):
        assert_frame_equal(getattr(found, name), pl.read_parquet(found.page.parent / f"{name}.parquet"))
    assert found.score("citations") == found.score("citations", "attribution", "code") == 0.5
    assert found.score("citations", "domains") == 1
    assert set(found.judgments["as_of"]) == {"2025-06-30"}
    assert "deterministic" in " ".join(found.notes), "the embedded judge says what it is"


def test_findings_are_those_of_the_page_worst_first(found: Evaluation) -> None:
    assert found.findings["severity"].is_sorted(descending=True)
    assert set(found.findings["severity"]) <= {1, 2, 3, 4}
    uncited = found.findings.filter(metric="citations", label="uncited")
    assert "Jupiter has 97 moons." in uncited["words"].to_list()


def test_an_unknown_or_ambiguous_name_is_answered_with_the_names_there_are(found: Evaluation) -> None:
    with pytest.raises(ConfigError, match="no score goes by this name") as raised:
        found.score("wq")
    assert "citations attribution by code" in str(raised.value)


def test_the_query_and_report_are_taken_as_they_are(found: Evaluation) -> None:
    texts = pl.read_parquet(found.page.parent / "reports.parquet")
    assert texts["text"].to_list() == [REPORT]
    assert texts["query"].to_list() == [QUERY]


def test_the_display_is_text_on_a_terminal_and_escaped_html_in_a_notebook(found: Evaluation) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(found)
    shown = console.export_text()
    assert "attribution" in shown and "50.00" in shown and "findings" in shown
    html = found._repr_html_()
    assert html.startswith("<pre") and "attribution" in html and "<b>today</b>" not in html


def test_many_reports_in_one_event_loop_have_the_scores_that_they_have_alone() -> None:
    async def both() -> list[Evaluation]:
        return list(await asyncio.gather(*(aevaluate(text, "q", CODE) for text in (REPORT, REPORT + "\nMore words [1]."))))

    one, other = asyncio.run(both())
    assert one.score("length") != other.score("length")
    assert one.score("length") == evaluate(REPORT, "q", CODE).score("length")


def test_inside_a_running_loop_the_plain_call_works_too() -> None:
    async def notebook_cell() -> float | None:
        return evaluate(REPORT, "q", CODE).score("citations")

    assert asyncio.run(notebook_cell()) == 0.5


def test_a_given_folder_keeps_the_run_and_the_same_call_goes_on_with_it(tmp_path: Path) -> None:
    first = evaluate(REPORT, "q", CODE, outputs=tmp_path)
    again = evaluate(REPORT, "q", CODE, outputs=tmp_path)
    assert first.page == again.page and first.page.is_relative_to(tmp_path)
    assert sorted(path.name for path in (first.page.parent / "attempts").iterdir()) == ["1", "2"]


def test_a_file_is_read_like_a_text(tmp_path: Path) -> None:
    page = tmp_path / "bridge.html"
    page.write_text("<h1>Bridge</h1><p>It was opened in 1894.</p>", encoding="utf-8")
    found = evaluate(page, "q", CODE)
    assert set(found.judgments["task"]) == {"bridge"} and found.score("length", "sentences") == 1
    with pytest.raises(InputError, match="no_such"):
        evaluate(tmp_path / "no_such.md", "q", CODE)


def test_a_path_given_as_text_is_not_judged_as_a_text(tmp_path: Path) -> None:
    there = tmp_path / "my report"
    there.write_text(REPORT, encoding="utf-8")
    for name in ("../mine/q1.md", "Q1.PDF", str(there)):
        with pytest.raises(ConfigError) as caught:
            evaluate(name, "q", CODE)
        assert f"type: evaluate(Path({name!r}), ...)" in str(caught.value)
    assert evaluate("The bridge is described in bridge.md", "q", CODE).score("length", "words") == 6


def test_a_temporary_folder_goes_with_the_object() -> None:
    result = evaluate(REPORT, "q", CODE)
    page = result.page
    assert page.is_file()
    del result
    gc.collect()
    assert not page.exists()


def test_mistakes_are_input_errors_in_the_words_of_the_command_line() -> None:
    with pytest.raises(InputError, match="wqq"):
        evaluate(REPORT, "q", ["metric=[wqq]"])
    with pytest.raises(ConfigError, match="dataset=demo"):
        evaluate(REPORT, "q", ["dataset=demo"])
    with pytest.raises(ConfigError, match=r"(?s)a list of strings is needed.*\['metric=\[wq\]'\]"):
        evaluate(REPORT, "q", "metric=[wq]")
    with pytest.raises(DocumentError, match="surrogate at character 0"):
        evaluate("\ud800", "q", CODE)
    with pytest.raises(InputError, match="searches as of a date"):
        evaluate(REPORT, "q", ["metric=[factuality]", "tools=corpus", f"tools.path={BUNDLED / 'corpus'}"])


def test_a_model_judges_and_replay_without_answers_is_an_error() -> None:
    with OpenAIStub() as stub:
        model = ["judge=openai_compatible", "judge.openai_compatible.model=openai/any"]
        model += [f"judge.openai_compatible.api_base={stub.url}", "metric=[wq]"]
        with pytest.raises(CacheMissError):
            evaluate(REPORT, "q", [*model, "cache.mode=replay"])
        assert not stub.requests
        result = evaluate(REPORT, "q", model)
    assert result.complete and len(stub.requests) == 10
    assert 0 <= (result.score("wq") or -1) <= 1
    assert evaluate(REPORT, "q", [*model, "cache.mode=replay"]).score("wq") == result.score("wq")


def test_the_package_is_imported_without_the_engine() -> None:
    code = "import sys, dreambench; sys.exit('polars' in sys.modules or 'hydra' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert "evaluate" in dreambench.__all__
    with pytest.raises(AttributeError, match="evaluat"):
        _ = dreambench.evaluat
