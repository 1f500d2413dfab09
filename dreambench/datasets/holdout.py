"""The held-out set: the demo's layout with other topics, and reports whose flaws no rule or rubric was written against.

Beside tasks/, reports/ and corpus/ it has notes/<task>.yaml: what was changed in each report, and the page that says so.
Use it to measure, never to tune: a metric that was adjusted after a look at these texts is no longer tested by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.demo import DemoDataset


@dataclass(frozen=True, kw_only=True)
class HoldoutDataset(DemoDataset):
    """Six tasks answered by eight agents: one clean, five flawed in one way each, two changed without harm."""

    title: ClassVar[str] = "holdout"
    bundled: ClassVar[Path] = Path(__file__).resolve().parent / "holdout"

    @property
    def notes(self) -> Path:
        """The folder of what was planted in each report; not read here."""
        return self.root / "notes"
