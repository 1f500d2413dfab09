"""What every statistic returns, and how its input is read.

A result always says which method made it, on how many units (`n`) and, where something is null, why (`reason`). Missing
input (None or NaN) is left out and shows in `n`; a statistic is never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from dreambench.errors import InputError, Problem

FloatArray = npt.NDArray[np.float64]
Values = Sequence[float | None] | npt.NDArray[Any] | pl.Series
Rows = Sequence[Values] | npt.NDArray[Any]

SMALL = 20
"""Fewer units than this are marked as a small sample, and percentile bootstraps are not used on them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, in the units of the input.

    `value` is None when the number itself is undefined; `low` and `high` are None when there is no interval. `reason`
    says why, and also what was left out of a resampling; it is None when there is nothing to say.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    reason: str | None = None

    @property
    def small(self) -> bool:
        """Whether the sample is small (n < 20) and has to be marked wherever the interval is shown."""
        return self.n < SMALL


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test: its `statistic`, two-sided `p` unless `method` says otherwise, and the `effect` with its interval, if any."""

    __test__: ClassVar[bool] = False

    statistic: float | None
    p: float | None
    effect: float | None
    method: str
    n: int
    reason: str | None = None
    low: float | None = None
    high: float | None = None


def no_test(method: str, n: int, reason: str, *, effect: float | None = None) -> TestResult:
    """A test that could not be made, and why."""
    return TestResult(None, None, effect, method, n, reason)


def no_estimate(method: str, n: int, reason: str, *, value: float | None = None) -> Estimate:
    """An estimate without an interval (and without a value, unless one is given), and why."""
    return Estimate(value, None, None, method, n, reason)


def as_array(values: Values) -> FloatArray:
    """The values as floats, None as NaN; raises InputError on an infinite value or on more than one dimension."""
    raw = values.cast(pl.Float64).to_numpy() if isinstance(values, pl.Series) else values
    array = np.asarray(raw, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(Problem("values", f"they have {array.ndim} dimensions", ("one dimension, one value per unit",)))
    if np.isinf(array).any():
        raise InputError(Problem("values", "one is infinite", ("finite numbers", "None for a missing value")))
    return np.array(array, dtype=np.float64)


def present(values: Values) -> FloatArray:
    """The values that are not missing, in ascending order: no result may depend on the order of the units."""
    array = as_array(values)
    return np.sort(array[~np.isnan(array)])


def aligned(**columns: Values) -> list[FloatArray]:
    """Columns of equal length, without the units that miss a value in any of them, in lexicographic order."""
    arrays = [as_array(values) for values in columns.values()]
    lengths = {name: len(array) for name, array in zip(columns, arrays, strict=True)}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(Problem(" and ".join(columns), f"lengths differ: {said}", ("one value per unit in each",)))
    stacked = np.column_stack(arrays)
    stacked = stacked[~np.isnan(stacked).any(axis=1)]
    stacked = stacked[np.lexsort(stacked.T[::-1])]
    return [np.ascontiguousarray(column) for column in stacked.T]


def require_columns(table: pl.DataFrame, *names: str) -> None:
    """Raise InputError naming every column that the table lacks."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InputError(*(Problem("table", f"there is no column {name!r}", tuple(table.columns)) for name in missing))


def require_share(name: str, value: float) -> None:
    """Raise InputError unless 0 < value < 1."""
    if not 0 < value < 1:
        raise InputError(Problem(name, f"{value} is not a share", ("more than 0 and less than 1",), f"{name}=0.95"))


def require_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise InputError unless the value is one of the allowed."""
    if value not in allowed:
        raise InputError(Problem(name, f"{value!r} is not known", allowed))


def finite(value: float) -> float | None:
    """The value as a plain float, or None where it is NaN or infinite."""
    return float(value) if math.isfinite(value) else None


def to_table(results: Iterable[tuple[Mapping[str, Any], Estimate | TestResult]]) -> pl.DataFrame:
    """One row per result: its keys, then its fields; without results, an empty table without columns."""
    rows = [{**keys, **asdict(result)} for keys, result in results]
    return pl.DataFrame(rows, infer_schema_length=None)
