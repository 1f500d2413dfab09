"""The audit's matrix as a picture: colour is the shift at full dose in points of 100, the word is the verdict."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dreambench.studies.outputs import new_figure, write_figure

REACH = 50.0
"""Shifts of so many points and more have the full colour."""


def draw_matrix(cells: pl.DataFrame, folder: Path, name: str) -> list[Path]:
    """Rows are metrics with their judges, columns perturbations, flaws left of placebos; a cell that is missing stays white."""
    import numpy as np

    rows = cells.select("metric", "judge").unique(maintain_order=True).sort("metric", "judge").rows()
    columns = cells.select("role", "perturbation").unique().sort("role", "perturbation").rows()
    shifts = np.full((len(rows), len(columns)), np.nan)
    figure = new_figure(1, 1, width=2.4 + 0.8 * len(columns), height=2.6 + 0.46 * len(rows))
    axes = figure.axes[0]
    for cell in cells.iter_rows(named=True):
        row, column = rows.index((cell["metric"], cell["judge"])), columns.index((cell["role"], cell["perturbation"]))
        known = cell["shift"] is not None
        shifts[row, column] = 100 * cell["shift"] if known else np.nan
        text = f"{round(100 * cell['shift']):+d}\n{cell['verdict']}" if known else f"no score\n{cell['verdict']}"
        dark = known and abs(100 * cell["shift"]) > 0.7 * REACH
        axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")
    image = axes.imshow(shifts, cmap="RdBu", vmin=-REACH, vmax=REACH, aspect="auto")
    names = [metric if judge == "code" else f"{metric} · {judge}" for metric, judge in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    titles = [perturbation.replace("_", " ") for _, perturbation in columns]
    axes.set_xticks(range(len(columns)), titles, rotation=40, ha="right", fontsize=8)
    flaws = sum(role == "flaw" for role, _ in columns)
    axes.axvline(flaws - 0.5, color="black", linewidth=1.5)
    axes.set_title(f"{flaws} flaws | {len(columns) - flaws} placebos", fontsize="medium")
    figure.colorbar(image, ax=axes, label="shift at full dose, points of 100", shrink=0.8)
    return write_figure(figure, folder, name)
