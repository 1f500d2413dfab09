"""How a study's tables and figures are written: tables as CSV, markdown and LaTeX, figures as SVG and PNG."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from dreambench.reporting.tables import TOO_FEW
from dreambench.stats.few import FEWEST_TASKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LATEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}
)
COUNTS = ("n_tasks", "tasks", "queries", "scored")
"""Columns that say over how many tasks a row's interval is, the first that there is."""


def rounded(table: pl.DataFrame, digits: int = 4) -> pl.DataFrame:
    """The table with all its floats rounded, as it is written."""
    return table.with_columns(pl.selectors.float().round(digits)) if table.width else table


def write_table(table: pl.DataFrame, folder: Path, name: str) -> list[Path]:
    """`name.csv`, `name.md` and `name.tex`; numbers are written as they stand in the table, nulls as empty cells.

    Over fewer than FEWEST_TASKS tasks the tables that people read have a mark in place of an interval's ends; CSV keeps them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    csv, markdown, latex = (folder / f"{name}.{ending}" for ending in ("csv", "md", "tex"))
    table.write_csv(csv)
    text = [_read(row) for row in table.iter_rows(named=True)]
    markdown.write_text(_markdown(table.columns, text), encoding="utf-8")
    latex.write_text(_latex(table.columns, text), encoding="utf-8")
    return [csv, markdown, latex]


def _read(row: Mapping[str, Any]) -> list[str]:
    """The cells of a row as people read them."""
    n = next((row[name] for name in COUNTS if row.get(name) is not None), None)
    few = n is not None and n < FEWEST_TASKS
    return ["" if value is None else TOO_FEW if few and _is_end(name) else str(value) for name, value in row.items()]


def _is_end(column: str) -> bool:
    """Whether a column holds one end of an interval: `low`, `tau_high`."""
    return column.rpartition("_")[2] in ("low", "high")


def write_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """`name.svg` (text kept as text, no date inside) and `name.png` (160 dpi)."""
    folder.mkdir(parents=True, exist_ok=True)
    svg, png = folder / f"{name}.svg", folder / f"{name}.png"
    figure.savefig(svg, metadata={"Date": None})
    figure.savefig(png, dpi=160)
    return [svg, png]


def new_figure(rows: int, columns: int, *, width: float, height: float) -> Figure:
    """A figure with `rows` x `columns` axes, drawn without a display; sizes in inches."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    mpl.rcParams["svg.fonttype"] = "none"
    mpl.rcParams["svg.hashsalt"] = "dreambench"
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.subplots(rows, columns, squeeze=False)
    return figure


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(columns), line(["---"] * len(columns)), *map(line, rows)]) + "\n"


def _latex(columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"

    head = [rf"\begin{{tabular}}{{{'l' * len(columns)}}}", r"\hline", line(columns), r"\hline"]
    return "\n".join([*head, *map(line, rows), r"\hline", r"\end{tabular}"]) + "\n"
