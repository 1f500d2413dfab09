"""Bad input: one readable message with the nearest valid name, exit code 1, no traceback, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.command import dreambench, process

CASES = [
    (["dataste=demo"], ["dataste=demo: no such group or key; did you mean dataset?", "type: dataset=demo"]),
    (["dataset=dmeo"], ["dataset=dmeo: there is no dataset called dmeo; did you mean demo?", "type: dataset=demo"]),
    (["judge=[embeded]"], ["judge=embeded: there is no judge called embeded; did you mean embedded?"]),
    (["metric.wq.rubrik=terse"], ["metric.wq.rubrik=terse: no such key; did you mean metric.wq.rubric?"]),
    (["engine.budgt.money=3"], ["engine.budgt.money=3: no such key; did you mean engine.budget.money?"]),
    (["+metric.wq.repeat=2"], ["metric.wq.repeat: no such key; did you mean repeats?", "type: metric.wq.repeats=2"]),
    (["+seeed=2"], ["seeed: no such key; did you mean seed?"]),
    (["metric.wq.rubric=ters"], ["rubric wq/main_idea_clarity.ters", "did you mean wq/main_idea_clarity.terse?"]),
    (["judge.model=x"], ["judge.model=x: a key of judge starts with the option that it belongs to", "judge.embedded.model"]),
    (
        ["judge.litellm.model=openai/x"],
        ["litellm is not among this run's judge options (embedded)", "type: judge=litellm judge.litellm.model=openai/x"],
    ),
    (["judge=[embedded,embedded]"], ["judge=[embedded,embedded]: names embedded twice"]),
    (["experiment=backbone_sweep"], ["type: +experiment=backbone_sweep"]),
    (["+experiment=backbone_swep"], ["did you mean backbone_sweep?", "type: +experiment=backbone_sweep"]),
    (["metric=[wq"], ["metric=[wq: cannot be read", "allowed: key=value"]),
    (["cache.mode=reply"], ["cache.mode: input should be 'readwrite', 'replay', 'refresh' or 'off', got 'reply'"]),
    (["seed=-1"], ["seed: input should be greater than or equal to 0, got -1"]),
    (["dataset=drb", "dataset.reports=nowhere", "dataset.queries=query.jsonl"], ["nowhere"]),
    (["judge=claude_sonnet_5_5"], ["ANTHROPIC_API_KEY"]),
    (["judge=panel"], ["judge.panel.members: claude_sonnet_5_5", "type: judge.panel.members=[option_a,option_b]"]),
    (
        ["metric.wq.rubric=[default,tersee]"],
        [
            "rubric wq/main_idea_clarity.tersee",
            "did you mean wq/main_idea_clarity.terse?\n  allowed: default, report_last, scale10, scale5, terse\n",
        ],
    ),
    (["debug=tinny"], ["debug=tinny: there is no debug called tinny; did you mean tiny?", "type: debug=tiny"]),
    (
        ["as_of=tomorrow"],
        ["as_of: a date is needed, got 'tomorrow'", "  allowed: a date as YYYY-MM-DD, such as 2025-06-30, today\n"],
    ),
    (["metric=[da]", "metric.da.repeats=0"], ["metric.da.repeats: a whole number from 1 is needed, got 0"]),
    (
        ["metric=[length]", "paths.outputs=/proc/none"],
        ["paths.outputs: No such file or directory (/proc/none)", "type: paths.outputs=FOLDER"],
    ),
    (
        ["judge.embeded.x=1"],
        ["judge.embeded.x=1: there is no judge called embeded; did you mean embedded?", "type: judge.embedded.x=1"],
    ),
    (["judge.embedded.x=1"], ["judge.embedded.x=1: no such key: judge.embedded has none"]),
    (["engine.workers=2"], ["allowed: engine=processes, engine=ray\n", "type: engine=processes engine.workers=2\n"]),
    (["engine.telemetrie=x"], ["did you mean engine.telemetry?"]),
    (["tools=pages", "tools.path=x"], ["tools=sandbox\n", "type: tools=corpus tools.path=x\n"]),
    (["tools=pages", "tools.base_url=x"], ["no such key of the option", "type: tools=web_brave tools.base_url=x\n"]),
    (["dataset.reports=foo"], ["dataset.reports=foo: no such key", "type: dataset=reports dataset.reports=foo\n"]),
    (
        ["judge=openai/gpt-5.1"],
        ["judge=openai/gpt-5.1: there is no judge called", "type: judge=litellm judge.litellm.model=openai/gpt-5.1\n"],
    ),
    (["metric=wq,da"], ["metric=wq,da: a list stands in brackets", 'type: "metric=[wq,da]"\n']),
    (["dataset.ids=a,b"], ['type: "dataset.ids=[a,b]"\n']),
    (["dataset=demo,holdout"], ["one option of this group", "type: -m dataset=demo,holdout\n"]),
    (["judge=claude"], ["did you mean claude_sonnet_4_5?", "type: judge=claude_sonnet_4_5\n"]),
    (["study=backbone_swep"], ["did you mean backbone_sweep?"]),
]


@pytest.mark.parametrize(("arguments", "expected"), CASES, ids=[" ".join(case[0]) for case in CASES])
def test_bad_input_is_explained(arguments: list[str], expected: list[str], tmp_path: Path) -> None:
    ran = dreambench(*arguments, cwd=tmp_path)
    assert ran.code == 1, ran.err
    assert ran.err.startswith("error: ")
    assert "Traceback" not in ran.err
    for text in expected:
        assert text in ran.err
    assert ran.out == ""
    assert not (tmp_path / "outputs").exists()


def test_all_problems_are_said_at_once(tmp_path: Path) -> None:
    ran = dreambench("+metric.wq.repeat=2", "judge=claude_sonnet_4_5", "+engine.budget.mony=1", cwd=tmp_path)
    assert ran.code == 1
    assert "engine.budget.mony" in ran.err


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent.jsonl").write_text('{"id": 1, "prompt": "q", "article": "a"}\n{"id": 2,,}\n', encoding="utf-8")
    ran = dreambench("dataset=drb", "dataset.reports=agent.jsonl", "dataset.strict=true", cwd=tmp_path)
    assert ran.code == 1
    assert "agent.jsonl:2" in ran.err
    assert "Traceback" not in ran.err


def test_usage_errors_are_user_errors(tmp_path: Path) -> None:
    ran = process("--cfgg", cwd=tmp_path)
    assert ran.code == 1 and "Traceback" not in ran.err
