"""What a study's run prints at its end: the findings in words, and where the files lie."""

from __future__ import annotations

import contextlib
from pathlib import Path

from tests.apps.conftest import command

RUN = ["dataset.ids=[saturn-moons,leap-second]", "dataset.agents=[good,stale]", "judge=[embedded]", "metric=[wq]"]


def test_a_study_prints_its_findings_and_one_line_with_its_folder(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        ran = command("+experiment=leaderboard", *RUN)
    assert ran.code == 0, ran.err
    (study,) = tmp_path.glob("outputs/*/study")
    findings = (study / "findings.md").read_text(encoding="utf-8")
    assert findings.rstrip() in ran.out
    lines = [line for line in ran.out.splitlines() if "/study" in line]
    assert lines == [f"study: {len(list(study.iterdir()))} files in {study.relative_to(tmp_path)}"]
    assert "† Fewer than 5 tasks: too few for an interval." in findings and "n=2†" in ran.out
