"""Any data set of the Hugging Face Hub, by name and column names, through the `datasets` package (the extra `hub`).

A run reads the rows of one split; `revision` pins them. Code of a data set repository is never run.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dreambench.datasets.fields import USUAL, Fields, read_task
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.records import RecordReader
from dreambench.datasets.rows import Row
from dreambench.errors import DatasetError, Problem
from dreambench.install import extra_hint


@dataclass(frozen=True, kw_only=True)
class HuggingFaceDataset(Loader):
    """`fields` maps columns. A data set of tasks only, without a column of reports, needs `tasks=all`."""

    title: ClassVar[str] = "huggingface"

    repo: str | None = None
    subset: str | None = None
    split: str = "test"
    revision: str | None = None
    agent: str | None = None
    fields: Fields = USUAL

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        reader = RecordReader(self.fields, self.agent or self.repo, material)
        for row in self._rows():
            if row.present(self.fields.report) or self.tasks == "reported":
                reader.read(row, problems)
            else:
                read_task(row, self.fields, material, problems)
        return material

    def _rows(self) -> Iterator[Row]:
        if not self.repo:
            raise DatasetError(
                Problem("dataset.repo", "is required: the name of a data set of the Hub", type="dataset.repo=owner/name")
            )
        place = Path("/".join(part for part in (f"hub:{self.repo}", self.subset, self.split) if part))
        hub = _hub()
        try:
            table = hub.load_dataset(self.repo, self.subset, split=self.split, revision=self.revision)
        except (OSError, ValueError) as error:
            what = f"{place} cannot be loaded: {' '.join(str(error).split())}"
            raise DatasetError(Problem("dataset.repo", what)) from error
        for number, values in enumerate(table, 1):
            yield Row(place, number, values)


def _hub() -> Any:
    """The `datasets` package. Raises DatasetError when it is not installed."""
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        what = "dataset=huggingface needs the package datasets, which is not installed"
        raise DatasetError(Problem("dataset", what, type=extra_hint("hub"))) from error
