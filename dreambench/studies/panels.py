"""Panels of points with intervals: the figure of most studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from dreambench.studies.outputs import new_figure, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = "osD^vPX*"


def interval_panels(
    table: pl.DataFrame, folder: Path, name: str, *, panel: str, row: str, series: str, label: str, scale: float = 1.0
) -> list[Path]:
    """One panel per value of `panel`, rows down the side, one mark per `series` with its interval (`value`, `low`, `high`).

    Values are multiplied by `scale`; rows without a value are left out. `label` names the axis of values.
    """
    panels = table[panel].unique(maintain_order=True).to_list() or [""]
    rows = table[row].unique(maintain_order=True).to_list()[::-1]
    kinds = table[series].unique(maintain_order=True).to_list()
    figure = new_figure(1, len(panels), width=1.6 + 3.2 * len(panels), height=1.6 + 0.4 * max(len(rows), 1))
    for axes, title in zip(figure.axes, panels, strict=True):
        for place, kind in enumerate(kinds):
            part = table.filter(pl.col(panel) == title, pl.col(series) == kind, pl.col("value").is_not_null())
            at = [rows.index(value) + 0.16 * ((len(kinds) - 1) / 2 - place) for value in part[row]]
            _marks(axes, part, at, scale, MARKS[place % len(MARKS)], str(kind))
        axes.set_yticks(range(len(rows)), rows if axes is figure.axes[0] else [""] * len(rows))
        axes.set_ylim(-0.5, max(len(rows), 1) - 0.5)
        axes.set_title(str(title))
        axes.set_xlabel(label)
        axes.grid(axis="x", linewidth=0.4)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if len(kinds) > 1:
        figure.legend(handles, labels, fontsize="small", loc="outside lower center", ncols=min(len(kinds), 4))
    return write_figure(figure, folder, name)


def _marks(axes: Axes, part: pl.DataFrame, at: Sequence[float], scale: float, mark: str, label: str) -> None:
    values = (scale * part["value"]).to_numpy()
    low = (scale * part["low"].fill_null(part["value"])).to_numpy()
    high = (scale * part["high"].fill_null(part["value"])).to_numpy()
    axes.errorbar(values, at, xerr=[values - low, high - values], fmt=mark, markersize=4, capsize=2, label=label)
