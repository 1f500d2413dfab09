"""Labels of listed items: shares of labels, means of ratings, and what a failed call leaves behind."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dreambench.config.locations import bundled
from dreambench.config.nodes import build
from dreambench.datasets.listed import ListedItem, read_items, write_items
from dreambench.errors import AnswerError, ConfigError
from dreambench.judges.kinds import Context
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import Metric
from dreambench.records import Status
from tests.support import measuring
from tests.support.gateway import TestGateway
from tests.support.scripted_judge import ScriptedJudge

SHELF = RubricShelf([bundled("rubrics")])
ITEMS = [ListedItem(id=f"c{n}", text=f"Criterion {n}\nMore of it.", weight=n / 10) for n in range(1, 5)]
TEXT = write_items(ITEMS)


def metric(option: str, **keys: Any) -> Metric:
    node = yaml.safe_load((bundled("conf") / "metric" / f"{option}.yaml").read_text(encoding="utf-8"))
    built: Metric = build(f"metric.{option}", {**node, **keys}, name=option, shelf=SHELF)
    return built


def sorting(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
    labels = ["presentation_quality", "presentation_quality", "source_quality", "none"]
    return {name: {"reason": "r", "label": label} for name, label in zip(context.items, labels, strict=True)}  # type: ignore[attr-defined]


def rating(rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
    if rubric.name == "clarity":
        raise AnswerError("no answer", code="refusal")
    label = {"relevance": "3", "verifiability": "2"}[rubric.name]
    return {name: {"reason": "r", "label": label} for name in context.items}  # type: ignore[attr-defined]


def test_labels_become_shares(gateway: TestGateway) -> None:
    verticals = metric("verticals")
    rows = measuring.judgments(verticals, TEXT, ScriptedJudge(name="j", gateway=gateway, script=sorting))
    found = measuring.values(verticals, rows)
    assert found["placed"] == 0.75
    assert (found["presentation_quality"], found["source_quality"], found["task_compliance"]) == (0.5, 0.25, 0.0)
    assert [row.weight for row in rows] == [0.1, 0.2, 0.3, 0.4]
    assert rows[0].rationale == "Criterion 1\nr"


def test_ratings_become_means_and_a_failed_call_is_no_rating(gateway: TestGateway) -> None:
    quality = metric("item_quality")
    rows = measuring.judgments(quality, TEXT, ScriptedJudge(name="j", gateway=gateway, script=rating))
    found = measuring.values(quality, rows)
    assert (found["relevance"], found["verifiability"], found["mean"]) == (1.0, 0.5, 0.75)
    assert found.get("clarity") is None
    failed = [row for row in rows if row.status is Status.JUDGE_ERROR]
    assert len(failed) == 4 and {row.family for row in failed} == {"clarity"}


def test_a_label_without_a_value_and_other_kinds_are_refused() -> None:
    with pytest.raises(ConfigError, match="no value for the label 3"):
        metric("item_quality", values={"1": 0.0, "2": 1.0})
    with pytest.raises(ConfigError, match="cannot ask wq/heading_structure"):
        metric("verticals", folder="wq", questions=["heading_structure"])


def test_a_list_is_read_as_it_was_written() -> None:
    assert read_items(TEXT) == ITEMS
    assert read_items("# A report\n\nWith words.") is None
    assert read_items("[]") is None
