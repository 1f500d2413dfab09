"""Tongyi DeepResearch: `iter<k>.jsonl` (or `iter<k>_split<i>of<n>.jsonl`), the report in `prediction`.

Every `k` is another attempt at the same questions, so each is an agent of its own: `<agent>-iter<k>`. `answer` is the ground
truth and is not read, nor is the trajectory in `messages`.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.dumps import Answer, DumpLoader, Record
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row

_ITERATION = re.compile(r"(iter\d+)(?:_split\d+of\d+)?")


@dataclass(frozen=True, kw_only=True)
class TongyiDataset(DumpLoader):
    """Reports of Tongyi DeepResearch. Without `agent` it is the folder's name, with the iteration."""

    title: ClassVar[str] = "tongyi"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl",)
    expected: ClassVar[tuple[str, ...]] = ("question", "prediction")

    def holds(self, row: Row) -> bool:
        return row.present("prediction")

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        query, prediction = row.text("question", problems), row.text("prediction", problems)
        if query is None or prediction is None:
            return None
        return Answer(prediction, query, failed=row.label("error"))

    def writer(self, record: Record, answer: Answer) -> str:
        path = record.row.path
        iteration = _ITERATION.fullmatch(path.stem)
        name = self.agent or (path.resolve().parent.name if iteration else path.stem)
        return f"{name}-{iteration[1]}" if iteration else name
