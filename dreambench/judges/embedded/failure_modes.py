"""`failure_modes` by rules: from the kind of reference and what the answer holds, the first mode that fits.

A weak baseline: what went wrong inside of a derivation is not looked into; an amount that only misses the reference is
taken for an incomplete derivation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.kinds.failure_modes import Mode
from dreambench.judges.kinds.matrix_cells import CellSheet, Context
from dreambench.language.quantities import Quantity, find_quantities

_SCALES = (10.0, 100.0, 1e3, 1e4, 1e6, 1e8, 1e9)
_NEAR = 0.1


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: the question has no settings."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """A mode per cell."""
    found = {name: _failure(cell) for name, cell in context.cells.items()}
    return {name: {"reason": reason, "mode": mode} for name, (mode, reason) in found.items()}


def _failure(cell: CellSheet) -> tuple[Mode, str]:
    given, wanted = find_quantities(cell.answer), find_quantities(cell.reference)
    if not given:
        return "retrieval_gap", "The answer holds no amount."
    if cell.type in ("not_available", "range") and not any(one.is_range for one in given):
        return "hallucinated_precision", f"The answer is precise where the truth is {cell.type.replace('_', ' ')}."
    if cell.agreement == "divergent":
        return "silent_source_choice", "The sources disagree, and the answer has one value."
    if wanted and _other_scope(given, wanted[0]):
        return "scope_drift", "The answer is in another unit, or off by a scale."
    return "incomplete_derivation", "The answer has an amount in the right unit that misses the reference."


def _other_scope(given: list[Quantity], wanted: Quantity) -> bool:
    alike = [one for one in given if (one.kind, one.dimension) == (wanted.kind, wanted.dimension)]
    if not alike:
        return True
    ratios = [abs(one.base_value / wanted.base_value) for one in alike if wanted.base_value and one.base_value]
    return any(abs(max(ratio, 1 / ratio) / scale - 1) <= _NEAR for ratio in ratios for scale in _SCALES)
