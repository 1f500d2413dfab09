"""Many tests at once: p values adjusted so that the chance of any false finding stays below the stated error.

A null p (a test that could not be made) stays null and does not count as a test.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from dreambench.errors import InputError, Problem
from dreambench.stats.results import Values, as_array, require_choice, require_columns

METHODS = ("holm", "bonferroni")


def bonferroni(p_values: Values, *, tests: int | None = None) -> list[float | None]:
    """Each p times the number of tests, at most 1 (Dunn 1961); holds under any dependence.

    `tests` is the number of tests made when only some of them are given.
    """
    p, made = _read(p_values, tests)
    return _write(np.minimum(p * made, 1.0))


def holm(p_values: Values, *, tests: int | None = None) -> list[float | None]:
    """Step-down Bonferroni (Holm 1979): never larger than Bonferroni's, holds under any dependence."""
    p, made = _read(p_values, tests)
    order = np.argsort(p, kind="stable")[: int((~np.isnan(p)).sum())]
    stepped = p[order] * (made - np.arange(len(order)))
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0) if len(order) else stepped
    return _write(adjusted)


def adjust_column(
    table: pl.DataFrame, *, method: str = "holm", p: str = "p", by: Sequence[str] = (), tests: int | None = None
) -> pl.DataFrame:
    """The table with a column `p_adjusted`, within each group of `by`; rows keep their order."""
    require_choice("method", method, METHODS)
    require_columns(table, p, *by)
    adjust = holm if method == "holm" else bonferroni
    whole = pl.col(p).map_batches(lambda s: pl.Series(adjust(s, tests=tests), dtype=pl.Float64), return_dtype=pl.Float64)
    return table.with_columns((whole.over(*by) if by else whole).alias("p_adjusted"))


def _read(p_values: Values, tests: int | None) -> tuple[np.ndarray, int]:
    p = as_array(p_values)
    if ((p < 0) | (p > 1)).any():
        raise InputError(Problem("p", "a value lies outside [0, 1]", ("0 to 1", "None for a test that was not made")))
    given = int((~np.isnan(p)).sum())
    if tests is not None and tests < given:
        raise InputError(Problem("tests", f"{tests} is fewer than the {given} p values given", (f"{given} or more",)))
    return p, given if tests is None else tests


def _write(adjusted: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in adjusted]
