"""smolagents' open_deep_research: one JSON line per question, the report in `prediction`, the agent in `agent_name`.

`true_answer` and `intermediate_steps` are not read. A prediction that is null stands for an error of the agent, which is said.
"""

from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.dumps import Answer, DumpLoader
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row

LIMIT = "Agent stopped due to iteration limit or time limit."
"""What the agent answers when it ran out of steps."""


@dataclass(frozen=True, kw_only=True)
class SmolagentsDataset(DumpLoader):
    """Reports of smolagents' open_deep_research, told apart by `agent_name`, the model that answered."""

    title: ClassVar[str] = "smolagents"
    expected: ClassVar[tuple[str, ...]] = ("question", "prediction")

    def holds(self, row: Row) -> bool:
        return row.present("prediction")

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        query = row.text("question", problems)
        failed = ""
        prediction: str | None = ""
        if row.present("prediction") and row.values["prediction"] is None:
            failed = row.label("agent_error") or "its prediction is null"
        elif (prediction := row.text("prediction", problems)) is not None and prediction.strip() == LIMIT:
            failed = LIMIT
        if query is None or prediction is None:
            return None
        return Answer(prediction, query, row.label("task_id"), row.label("agent_name"), failed)
