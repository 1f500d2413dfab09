"""DeepResearch Bench: `query.jsonl` ({id, topic, language, prompt}) and one {id, prompt, article} JSON lines file per agent.

Ids are numbers or texts; reports are joined with the queries by id, then by exact prompt. The agent is the file's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.fields import Fields
from dreambench.datasets.records import RecordLoader


class DrbFields(Fields):
    query: str = "prompt"
    report: str = "article"
    domain: str = "topic"


@dataclass(frozen=True, kw_only=True)
class DrbDataset(RecordLoader):
    """Reports in the shape of DeepResearch Bench. Without `queries` the tasks are those that the reports name."""

    title: ClassVar[str] = "drb"

    def names(self) -> Fields:
        return DrbFields()
