"""Forbidden sources in reports, citations and traces; judges and contestants of one family."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dreambench.config.locations import bundled
from dreambench.datasets.dataset import Dataset
from dreambench.errors import ConfigError, DatasetError
from dreambench.judges.rubric import RubricShelf
from dreambench.metrics.fairness import family_of, references_of, same_family
from dreambench.metrics.leakage import Leakage
from dreambench.metrics.metric import Subject
from dreambench.records import Judgment, Report, Status, Task
from tests.apps.command import ROOT
from tests.support import measuring

SHELF = RubricShelf([bundled("rubrics")])
DATA = ROOT / "tests" / "data" / "leakage"


def metric(**keys: Any) -> Leakage:
    return Leakage(name="leakage", shelf=SHELF, **{"blocked": str(DATA / "blocked.jsonl"), **keys})


def rows(text: str, task: str = "t", agent: str = "a", **keys: Any) -> list[Judgment]:
    subject = Subject(Task(task, "q", "d"), Report(task, agent, text))
    return asyncio.run(metric(**keys).measure(subject, None, 0))


def labels(text: str, task: str = "t", agent: str = "a", **keys: Any) -> list[str]:
    return [row.label for row in rows(text, task, agent, **keys)]


TRACES = {"traces": str(DATA / "traces")}


def test_citations_entries_and_titles_are_seen() -> None:
    linked = "It is so ([here](https://a.example/history?utm_source=x))."
    (row,) = rows(linked)
    assert row.label == "cited" and "[here](https" in linked[row.report_start : row.report_end]
    assert labels("So [1].\n\n## References\n\n[1] A Long History of the Great Bridges, 2020") == ["cited"]
    assert labels("As 'A long history of the great bridges' says.") == ["named"]
    assert labels("A long history of great bridges is told here.") == ["not_in_report"], "not the whole title"


def test_a_trace_tells_what_was_opened_from_what_was_offered() -> None:
    assert labels("Nothing.", **TRACES) == ["viewed_not_cited"]
    assert labels("Nothing.", "u", **TRACES) == ["clean", "clean"], "a search that lists a source did not open it"
    assert labels("Nothing.", "t", "b", **TRACES) == ["not_in_report"], "no trace of this agent"


def test_whole_domains_can_be_forbidden() -> None:
    assert labels("So (https://www.b.example/deep/page).", "u") == ["cited", "not_in_report"]


def test_shares_and_what_is_not_applicable() -> None:
    made = metric(**TRACES)
    values = measuring.values(made, rows("Nothing.", **TRACES))
    assert values == {"leaked": 1.0, "cited": 0.0, "named": 0.0, "viewed_not_cited": 1.0}
    assert measuring.values(made, rows("Nothing."))["viewed_not_cited"] is None, "without a trace nobody knows"
    (nothing,) = rows("Nothing.", "v")
    assert (nothing.status, nothing.reason_code) == (Status.NOT_APPLICABLE, "nothing_forbidden")
    assert not made.asks


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="which sources a task forbids"):
        metric(blocked=None)
    with pytest.raises(DatasetError, match="holds no trace"):
        metric(traces=str(tmp_path))
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "t", "blocked": {"authors": "x"}}\n')
    with pytest.raises(DatasetError, match="neither title nor urls nor domains"):
        metric(blocked=str(bad))
    assert "has no forbidden source" in metric().prepare(Dataset(tasks=[Task("z", "q", "d")], reports=[]))[0].what


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai/gpt-5.1", "OpenAI"),
        ("o3-mini-2025-01-31", "OpenAI"),
        ("claude-3-7-sonnet", "Anthropic"),
        ("claude4-sonnet", "Anthropic"),
        ("gemini/gemini-2.5-pro", "Google"),
        ("openrouter/qwen/qwen3-max", "Alibaba"),
        ("Kimi-K2", "Moonshot"),
        ("open_deep_search", None),
        ("fluent_wrong", None),
        ("gpt-researcher-claude", None),
        ("metaphor", None),
    ],
)
def test_a_family_is_told_from_a_name(name: str, family: str | None) -> None:
    assert family_of(name) == family


def test_judges_contestants_and_references_of_one_family_are_flagged() -> None:
    judges = {
        "j": {"model": "openai/gpt-5.1"},
        "panel": {"members": [{"model": "anthropic/claude-x"}]},
        "e": {"judge": "embedded"},
    }
    references = references_of({"race": {"reference_agent": "gpt-5"}, "deepconsult": {"baseline": "baseline"}, "wq": {}})
    assert references == {"race": "gpt-5", "deepconsult": "baseline"}
    found = same_family(judges, ["gpt-4.1", "claude4-sonnet", "good"], references)
    assert found == [
        "judge j (openai/gpt-5.1) and agent gpt-4.1 are of one family (OpenAI): the judge may favour its own",
        "judge j (openai/gpt-5.1) and gpt-5, the reference of race, are of one family (OpenAI): "
        "scores against it may be too low",
        "judge panel (anthropic/claude-x) and agent claude4-sonnet are of one family (Anthropic): the judge may favour its own",
    ]
