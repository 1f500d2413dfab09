"""Adversarial claims: one report of fifteen true statements, each citing a page that says so, and false variants of all.

The topics are those of DREAM's adversarial test; statements and pages are written for this bundle. Each false variant (file
`pairs.jsonl`, read by the perturbation `adversarial_claims`) comes with a page that backs it, so a metric that only asks
whether the cited page agrees has nothing to find, while a search finds both pages. Some variants are hedged ("may").
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dreambench.datasets.demo import DemoDataset

BUNDLED = Path(__file__).resolve().parent / "adversarial_claims"
PAIRS = BUNDLED / "pairs.jsonl"
"""The statements with their false variants and the pages that back these."""


@dataclass(frozen=True, kw_only=True)
class AdversarialClaims(DemoDataset):
    """The bundled claims, or a `folder` of your own with the layout of the demo."""

    title: ClassVar[str] = "adversarial_claims"

    @property
    def root(self) -> Path:
        """The folder that is read: the user's own or the bundled one."""
        return Path(self.folder).expanduser() if self.folder else BUNDLED
