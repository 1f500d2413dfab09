"""A data set with matrices: what the metric needs beside tasks and reports, as part of the data set's fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from dreambench.datasets.dataset import Dataset
from dreambench.metrics.deepweb.model import MatrixTask, ReleasedRun

UNPUBLISHED = "(the answer is not in the release, its scores are)"
"""The text of a report whose published scores are all there is: it can be shown and aggregated, not judged."""


@dataclass(frozen=True)
class MatrixDataset(Dataset):
    """A report is an answer's Markdown, from which its cells are read when it is scored; an empty one is a missing run."""

    matrices: Mapping[str, MatrixTask] = field(default_factory=dict)
    released: Mapping[tuple[str, str], ReleasedRun] = field(default_factory=dict)
    whole: bool = True
    """Whether every missing run is among the reports: only then can missing runs count as zero."""

    def fingerprint(self) -> str:
        """Covers references, rubrics and released scores as well."""
        return hashlib.sha256(f"{super().fingerprint()} {self.matrix_digest()}".encode()).hexdigest()

    def matrix_digest(self) -> str:
        """SHA-256 (64 hex digits) of what answers are graded by: matrices and released scores."""
        parts = [self.matrices[name].digest() for name in sorted(self.matrices)]
        parts += [f"{key}{self.released[key].model_dump_json()}" for key in sorted(self.released)]
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
