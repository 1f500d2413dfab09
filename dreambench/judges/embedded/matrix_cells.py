"""`matrix_cells` by rules: a reference in words is compared with the answer as a claim with a passage (`language.entailment`).

Support gives 1, support in part .5, contradiction 0. Where the rules find neither, and where the matter is not words (another
currency, several amounts, a rule with a condition that only a reader can see), they say `cannot_tell`: it stays unanswered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.kinds.matrix_cells import CANNOT_TELL, CellSheet, Context
from dreambench.language.entailment import relate

_WORDS = ("words", "no_amount")
_TIERS = {"supports": "1", "partially": "0.5", "contradicts": "0", "unrelated": CANNOT_TELL}


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: the question has no settings."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A tier per cell."""
    return {name: _grade(cell) for name, cell in context.cells.items()}


def _grade(cell: CellSheet) -> dict[str, str]:
    if cell.open not in _WORDS or not cell.reference.strip() or cell.type == "not_available":
        return {
            "reason": f"The rules compare words, and the cell is open for another reason ({cell.open}).",
            "tier": CANNOT_TELL,
        }
    relation = relate(f"{cell.entity} {cell.reference}", f"{cell.entity} {cell.answer}")
    sure = f"{relation.label} (sure to {relation.confidence:.2f})"
    return {"reason": f"The answer {sure} the reference: {relation.why}.", "tier": _TIERS[relation.label]}
