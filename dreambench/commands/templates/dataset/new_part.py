"""New part: a data set in a file format of one's own. This one reads JSON lines of {task, prompt, model, answer}.

A loader only reads: it adds tasks and reports to `Material`, and what is wrong with a file to `problems`, which are all said at
once. Filters (`ids`, `limit`, ...), dates and screening are the same for every data set.
"""

# No `from __future__ import annotations`: the constructor's annotations are the schema of the option's keys.

from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.files import rows
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.sources import existing


@dataclass(frozen=True, kw_only=True)
class NewPart(Loader):
    """`path` is the file."""

    title: ClassVar[str] = "new_part"  # the name in tables

    path: str | None = None

    def read(self, problems: Problems) -> Material:
        """Every task and report of the file."""
        material = Material(self.title)
        path = existing(self.path, "dataset.path", problems)
        if path is None:
            if self.path is None:
                problems.add("dataset.path", None, "is required: the file of answers", fix="dataset.path=answers.jsonl")
            return material
        for row in rows(path, problems):
            task, prompt = row.identifier("task", problems), row.text("prompt", problems)
            model, answer = row.text("model", problems), row.text("answer", problems)
            if task is None or prompt is None or model is None or answer is None:
                continue
            if task not in material.tasks:
                material.add_task(task, prompt, row.place)
            material.add_report(task, model, answer, row.place)
        return material
