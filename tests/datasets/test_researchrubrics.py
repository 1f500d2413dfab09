from __future__ import annotations

from pathlib import Path

from dreambench.datasets.researchrubrics import ResearchRubricsDataset

from .conftest import WriteLines


def test_responses_are_joined_with_their_samples(write_lines: WriteLines, write_text, tmp_path: Path):
    queries = write_lines(
        "data.jsonl",
        [
            {
                "sample_id": "6847ab",
                "prompt": "Plan a study.",
                "domain": "Research",
                "rubrics": [{"criterion": "c", "weight": 3}],
            },
            {"sample_id": "6847ac", "prompt": "Compare two.", "domain": "Law", "rubrics": []},
        ],
    )
    write_text("agent_responses/6847ab.md", "A plan.")
    dataset = ResearchRubricsDataset(reports=str(tmp_path / "agent_responses"), queries=queries, agent="ours").load()
    assert [(task.id, task.query, task.domain) for task in dataset.tasks] == [("6847ab", "Plan a study.", "Research")]
    assert [(report.agent, report.text) for report in dataset.reports] == [("ours", "A plan.")]
    assert [finding.code for finding in dataset.findings] == ["unanswered_task"]
