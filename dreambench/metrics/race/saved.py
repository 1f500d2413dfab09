"""RACE scores that DeepResearch Bench's own scorer wrote (`raw_results.jsonl`): four dimension scores and the overall."""

from __future__ import annotations

from collections.abc import Mapping

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.metrics.race.formula import DIMENSIONS
from dreambench.metrics.race.lookup import ByTask, read_by_task
from dreambench.records import Judgment, Status, Task, item_id

OVERALL = "overall"
FIELDS = {**{dimension: dimension for dimension in DIMENSIONS}, OVERALL: "overall_score"}
"""Family in the item table -> field of a record."""
NOT_SAVED = "not_in_saved"


def read_saved(name: str, key: str) -> ByTask[Mapping[str, float]]:
    """Scores by family from records {id, prompt, comprehensiveness, ..., overall_score}. Raises DatasetError."""
    return read_by_task(name, key, _read_record)


def _read_record(row: Row, problems: Problems) -> Mapping[str, float] | None:
    scores: dict[str, float] = {}
    for family, field in FIELDS.items():
        value = row.values.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            scores[family] = float(value)
        else:
            problems.add(row.path, row.line, f"field {field!r} is {value!r}, a score from 0 to 1 is needed")
    return scores if len(scores) == len(FIELDS) else None


def saved_rows(task: Task, saved: ByTask[Mapping[str, float]]) -> list[Judgment]:
    """One row per dimension and one for the overall score; a task that is not in the file is a missing run."""
    scores = saved.of(task)
    if scores is None:
        item, why = item_id(task.id, NOT_SAVED), f"{saved.path.name} has no scores for task {task.id}"
        return [Judgment(item, "report", OVERALL, None, Status.MISSING_RUN, reason_code=NOT_SAVED, rationale=why)]
    return [Judgment(item_id(task.id, family), family, "saved", score) for family, score in scores.items()]
