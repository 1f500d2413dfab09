"""How a score answers to the dose of a perturbation: the slope over all doses, and what each dose shows on its own.

Tables have one row per report and dose (and repeat, if any): task, report, dose in [0, 1], value. Dose 0 is the clean arm.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from dreambench.stats.paired import PairedDifference, paired_difference, paired_power
from dreambench.stats.results import as_array, require_columns, require_share

MIXED = "mixed model"
OLS = "OLS, errors clustered by task"
FEWEST_TASKS = 2


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """Change of the score per unit of dose, with interval and p.

    `intercept` is the score at dose 0; `relative` is slope / intercept, the relative change at full dose (null at an
    intercept of 0). `n` counts rows. `method` says which model was fitted, and why it is not the mixed one.
    """

    slope: float | None
    low: float | None
    high: float | None
    p: float | None
    intercept: float | None
    relative: float | None
    method: str
    n: int
    n_tasks: int
    n_reports: int
    reason: str | None = None


def dose_response(
    table: pl.DataFrame,
    *,
    value: str = "value",
    dose: str = "dose",
    report: str = "report",
    task: str = "task",
    level: float = 0.95,
) -> DoseResponse:
    """Slope of the score on the dose: linear mixed model (REML, Laird and Ware 1982) with reports nested in tasks.

    Tasks have random intercepts and random slopes (without these, tasks that answer differently make the interval too
    short: Barr et al. 2013), reports a random intercept where some task has several. t with tasks - 1 degrees of
    freedom. If it does not converge or its errors are not finite: least squares with errors clustered by task (CR1,
    Liang and Zeger 1986), same t, and `method` says so. Assumes independent tasks and a linear answer.
    """
    require_share("level", level)
    require_columns(table, value, dose, report, task)
    rows = table.select(
        pl.col(value).cast(pl.Float64).alias("y"),
        pl.col(dose).cast(pl.Float64).alias("x"),
        pl.col(task).cast(pl.String).alias("task"),
        pl.concat_str(pl.col(task).cast(pl.String), pl.lit("\x1f"), pl.col(report).cast(pl.String)).alias("report"),
    )
    rows = rows.fill_nan(None).drop_nulls().sort("task", "report", "x", "y")
    counts = (rows.height, rows["task"].n_unique(), rows["report"].n_unique())
    reason = _why_not(rows, counts[1])
    if reason:
        return DoseResponse(None, None, None, None, None, None, MIXED, *counts, reason)
    fitted, method = _mixed(rows)
    if fitted is None:
        fitted, method = _least_squares(rows), f"{OLS} ({method})"
    return _read(*fitted, level, method, counts)


def dose_contrasts(
    table: pl.DataFrame,
    *,
    seed: int,
    value: str = "value",
    dose: str = "dose",
    task: str = "task",
    level: float = 0.95,
    power: float = 0.8,
) -> pl.DataFrame:
    """Each dose against dose 0 on the tasks that have both (means over reports and repeats of a task first).

    One row per dose above 0: dose, the fields of `PairedDifference` (value is dose minus clean), `power` to find a
    difference of the observed size on that many tasks, and `detected`: power reaches the wanted one.
    """
    require_columns(table, value, dose, task)
    means = table.with_columns(pl.col(value).cast(pl.Float64).fill_nan(None)).drop_nulls([value, dose, task])
    means = means.group_by(task, dose).agg(pl.col(value).mean())
    clean = means.filter(pl.col(dose) == 0).select(task, clean=pl.col(value))
    rows = []
    for (amount,), group in means.filter(pl.col(dose) != 0).sort(dose).group_by(dose, maintain_order=True):
        both = group.join(clean, on=task)
        found = paired_difference(both[value], both["clean"], seed=seed, level=level, power=power)
        reached = _observed_power(found, level)
        rows.append(
            {
                "dose": float(str(amount)),
                **_fields(found),
                "power": reached,
                "detected": None if reached is None else reached >= power,
            }
        )
    return pl.DataFrame(rows, schema=_CONTRAST_SCHEMA)


def smallest_detected_dose(contrasts: pl.DataFrame) -> float | None:
    """The smallest dose from which on every larger dose is detected too; None if the largest is not."""
    found = None
    for amount, detected in contrasts.sort("dose", descending=True).select("dose", "detected").iter_rows():
        if not detected:
            break
        found = float(amount)
    return found


def _why_not(rows: pl.DataFrame, tasks: int) -> str | None:
    if rows.height == 0:
        return "all values are missing"
    if tasks < FEWEST_TASKS:
        return "one task"
    if rows["x"].n_unique() < 2:
        return "one dose"
    if rows["y"].n_unique() < 2:
        return "all values are equal"
    if rows.height < 3:
        return "fewer than three values"
    return None


_Fit = tuple[float, float, float]


def _mixed(rows: pl.DataFrame) -> tuple[_Fit | None, str]:
    """Intercept, slope and its standard error with the name of the model; None and the cause where it fails."""
    import statsmodels.api as sm
    from statsmodels.regression.mixed_linear_model import VCSpec

    y, x, tasks = as_array(rows["y"]), as_array(rows["x"]), rows["task"].to_numpy()
    design = np.column_stack([np.ones(len(x)), x])
    nested = rows.group_by("task").agg(pl.col("report").n_unique())["report"].max() != 1
    parts: dict[str, Any] = {"exog_re": design}
    if nested:
        parts["exog_vc"] = _nesting(rows, VCSpec)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            fit = sm.MixedLM(y, design, groups=tasks, **parts).fit(reml=True)
            error = float(fit.bse[1])
        except (np.linalg.LinAlgError, ValueError, IndexError):
            return None, "the mixed model is singular"
    if not fit.converged:
        return None, "the mixed model did not converge"
    if not (np.isfinite(fit.params[:2]).all() and np.isfinite(error) and error > 0):
        return None, "the mixed model has no finite errors"
    levels = "report nested in task" if nested else "one report per task"
    return (float(fit.params[0]), float(fit.params[1]), error), f"{MIXED}, {levels}"


def _nesting(rows: pl.DataFrame, spec: Any) -> Any:
    """One indicator matrix of reports per task, in the order of the model's groups (sorted names)."""
    names, matrices = [], []
    for (_,), group in rows.sort("task", maintain_order=True).group_by("task", maintain_order=True):
        reports = group["report"].unique(maintain_order=True).to_list()
        names.append(reports)
        matrices.append(np.array([[name == report for report in reports] for name in group["report"]], dtype=np.float64))
    return spec(["report"], [names], [matrices])


def _least_squares(rows: pl.DataFrame) -> _Fit:
    import statsmodels.api as sm

    design = np.column_stack([np.ones(rows.height), as_array(rows["x"])])
    groups = rows["task"].rank("dense").to_numpy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fit = sm.OLS(as_array(rows["y"]), design).fit(cov_type="cluster", cov_kwds={"groups": groups})
        return float(fit.params[0]), float(fit.params[1]), float(fit.bse[1])


def _read(
    intercept: float, slope: float, error: float, level: float, method: str, counts: tuple[int, int, int]
) -> DoseResponse:
    from scipy.special import stdtr, stdtrit

    relative = slope / intercept if abs(intercept) > 1e-9 else None
    if not (np.isfinite(error) and error > 1e-12):
        reason = "no spread over tasks" if np.isfinite(error) else "no finite standard error"
        return DoseResponse(slope, None, None, None, intercept, relative, method, *counts, reason)
    df = counts[1] - 1
    half = float(stdtrit(df, 0.5 + level / 2)) * error
    p = float(2 * stdtr(df, -abs(slope) / error))
    return DoseResponse(slope, slope - half, slope + half, p, intercept, relative, method, *counts)


def _observed_power(found: PairedDifference, level: float) -> float | None:
    if found.value is None or not found.effect:
        return None if found.effect is None else 1 - level
    return paired_power(found.value, abs(found.value / found.effect), found.n, level=level).value


_NUMBERS = ("value", "low", "high", "p", "effect", "detectable")
_CONTRAST_SCHEMA = {
    "dose": pl.Float64,
    **dict.fromkeys(_NUMBERS, pl.Float64),
    "method": pl.String,
    "n": pl.Int64,
    "reason": pl.String,
    "power": pl.Float64,
    "detected": pl.Boolean,
}


def _fields(found: PairedDifference) -> dict[str, object]:
    return {name: getattr(found, name) for name in (*_NUMBERS, "method", "n", "reason")}
