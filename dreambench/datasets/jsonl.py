"""JSON lines (or CSV) files of reports with field names of the user's own.

A file may hold several agents, told apart by a field, or one, named by `agent` or else by the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.fields import USUAL, Fields
from dreambench.datasets.records import RecordLoader


@dataclass(frozen=True, kw_only=True)
class JsonlDataset(RecordLoader):
    """Records with the fields that `fields` names."""

    title: ClassVar[str] = "jsonl"

    fields: Fields = USUAL

    def names(self) -> Fields:
        return self.fields
