"""ResearchRubrics: a JSON lines file of tasks (`sample_id`, `prompt`, `domain`) and `agent_responses/<sample_id>.md`.

The rubrics in the task file belong to a protocol and are not read here.
"""

from dataclasses import dataclass
from typing import ClassVar

from dreambench.datasets.fields import Fields
from dreambench.datasets.reports import ReportsDataset

SAMPLES = Fields(id="sample_id", query="prompt")


@dataclass(frozen=True, kw_only=True)
class ResearchRubricsDataset(ReportsDataset):
    """Responses in one folder of one `agent`, or in a sub-folder per agent."""

    title: ClassVar[str] = "researchrubrics"

    fields: Fields = SAMPLES
