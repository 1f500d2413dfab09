"""Tables and figures of studies as files: readable, escaped, the same bytes again."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from dreambench.studies.outputs import new_figure, write_figure, write_table


def test_a_table_is_written_three_ways(tmp_path: Path) -> None:
    table = pl.DataFrame({"agent_name": ["a|b", "50 % & more"], "value": [0.5, None]})
    csv, markdown, latex = write_table(table, tmp_path, "t")
    assert pl.read_csv(csv).equals(table)
    assert markdown.read_text(encoding="utf-8").splitlines()[2] == r"| a\|b | 0.5 |"
    assert r"50 \% \& more &  \\" in latex.read_text(encoding="utf-8")
    assert r"agent\_name & value" in latex.read_text(encoding="utf-8")


def test_a_figure_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        figure = new_figure(1, 1, width=3, height=2)
        figure.axes[0].plot([1, 2, 3])
        svg, png = write_figure(figure, tmp_path / name, "f")
        written.append((svg.read_bytes(), png.read_bytes()))
    assert written[0] == written[1]
    assert b"<svg" in written[0][0]
