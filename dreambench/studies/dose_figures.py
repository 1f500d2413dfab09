"""Figures of dose studies: score against dose, one panel per judge and perturbation, one line per metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.studies.outputs import new_figure, write_figure

MARKERS = "osD^vPX*<>"
CHANGED = "share of eligible units changed"
INTERVAL = "score x100, 95 % interval"
APART = 0.006
"""How far marks of different lines at one dose are moved apart, in units of dose."""


def draw_doses(means: pl.DataFrame, folder: Path, name: str, *, x: str = CHANGED, y: str = INTERVAL) -> list[Path]:
    """Mean score x100 with its interval at every dose, from `dose_tables.dose_means`; lines are told apart by mark, too.

    `x` and `y` name the axes: `y` has to say what the bars are.
    """
    panels = means.select("judge", "perturbation").unique(maintain_order=True).sort("judge", "perturbation").rows()
    lines = sorted(means["metric"].unique().to_list())
    figure = new_figure(1, max(len(panels), 1), width=1.0 + 3.8 * max(len(panels), 1), height=4.4)
    for axes, (judge, perturbation) in zip(figure.axes, panels, strict=False):
        part = means.filter(pl.col("judge") == judge, pl.col("perturbation") == perturbation)
        for place, metric in enumerate(lines):
            _line(axes, part.filter(pl.col("metric") == metric), place, len(lines))
        _dress(axes, f"{perturbation.replace('_', ' ')}\n{judge}", x, y, sorted({0.0, *part["dose"]}))
    _legend(figure, 2 * len(panels))
    return write_figure(figure, folder, name)


def _line(axes: Any, rows: pl.DataFrame, place: int, lines: int) -> None:
    rows = rows.drop_nulls("value").sort("dose")
    if rows.is_empty():
        return
    values = (100 * rows["value"]).to_numpy()
    low = (100 * rows["low"].fill_null(rows["value"])).to_numpy()
    high = (100 * rows["high"].fill_null(rows["value"])).to_numpy()
    below, above = (values - low).clip(min=0), (high - values).clip(min=0)  # rounding may leave -1e-15
    at = rows["dose"].to_numpy() + APART * (place - (lines - 1) / 2)
    mark = MARKERS[place % len(MARKERS)]
    label = rows["metric"][0]
    axes.errorbar(at, values, yerr=[below, above], marker=mark, markersize=4, capsize=2, label=label)


def _dress(axes: Any, title: str, x: str, y: str, ticks: Sequence[float]) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.set_ylim(-3, 103)
    axes.grid(linewidth=0.4)


def _legend(figure: Any, columns: int) -> None:
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        figure.legend(
            found.values(), found.keys(), fontsize="small", loc="outside lower center", ncols=min(len(found), columns)
        )
