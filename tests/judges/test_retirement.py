"""Models end: options say when and what follows, and a plan and a run say it in time."""

from __future__ import annotations

import json
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.judges.retirement import Retirement, retirement_lines

OPTIONS = sorted((bundled("conf") / "judge").glob("*.yaml"))
END = Retirement("old", "anthropic/claude-old", date(2026, 11, 30), "claude_new")
SENTENCES = {
    "2026-10-30": None,
    "2026-10-31": "judge old (anthropic/claude-old) retires on 2026-11-30, in 30 days; its successor: judge=claude_new",
    "2026-11-29": "judge old (anthropic/claude-old) retires on 2026-11-30, in 1 day; its successor: judge=claude_new",
    "2026-11-30": "judge old (anthropic/claude-old) retires on 2026-11-30, today; its successor: judge=claude_new",
    "2026-12-01": "judge old (anthropic/claude-old) retired on 2026-11-30: stored answers remain, new ones may fail; "
    "its successor: judge=claude_new",
}


@pytest.mark.parametrize(("today", "said"), SENTENCES.items())
def test_an_end_is_said_from_thirty_days_before(today: str, said: str | None) -> None:
    assert END.sentence(date.fromisoformat(today)) == said


def test_a_successor_without_an_option_is_named_as_litellm_names_it() -> None:
    one = Retirement("old", "openai/old", date(2026, 1, 2), "openai/new")
    (line,) = retirement_lines([one, one], date(2026, 1, 2))
    assert line.endswith("2026-01-02, today; its successor: judge=litellm judge.litellm.model=openai/new")
    (line,) = retirement_lines([Retirement("old", "openai/old", date(2026, 1, 2))], date(2026, 1, 2))
    assert line == "judge old (openai/old) retires on 2026-01-02, today"


def models() -> dict[str, Any]:
    """litellm's bundled list of models."""
    spec = find_spec("litellm")
    assert spec and spec.origin
    listed: dict[str, Any] = json.loads(
        (Path(spec.origin).parent / "model_prices_and_context_window_backup.json").read_text(encoding="utf-8")
    )
    return listed


@pytest.mark.parametrize("path", OPTIONS, ids=[path.stem for path in OPTIONS])
def test_options_know_the_ends_and_successors_that_litellm_lists(path: Path) -> None:
    option, listed = yaml.safe_load(path.read_text(encoding="utf-8")), models()

    def record(model: str) -> Any:
        return listed.get(model) or listed.get(model.partition("/")[2])

    if "model" not in option or option["model"] == "???":
        pytest.skip("asks no model of its own")
    assert record(option["model"]), "litellm does not know the model"
    day = record(option["model"]).get("deprecation_date")
    assert day is None or str(option["retires"]) == day
    follows = option["successor"]
    assert (follows is None) == (option["retires"] is None)
    if follows:
        assert record(follows) if "/" in follows else (path.parent / f"{follows}.yaml").is_file()
