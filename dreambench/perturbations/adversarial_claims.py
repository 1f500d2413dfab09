"""Swapped claims with the pairs of the data set `adversarial_claims`: what `swap_claims` does, without a path to give."""

from __future__ import annotations

from pathlib import Path

from dreambench.datasets.adversarial_claims import PAIRS
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.edits import Author
from dreambench.perturbations.swap_claims import SwapClaims


class AdversarialClaims(SwapClaims):
    """Puts false variants, each with a page that backs it, in the place of the bundled true claims."""

    def __init__(
        self,
        *,
        path: Path | None = None,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`path` is a file of pairs of your own. Raises ConfigError with every line that is none."""
        super().__init__(path=path or PAIRS, dose=dose, seed=seed, author=author, name=name, shelf=shelf)
