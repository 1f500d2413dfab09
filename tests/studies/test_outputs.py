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


def test_few_tasks_have_a_mark_in_place_of_an_interval_where_people_read(tmp_path: Path) -> None:
    columns = {"tau": [0.5, 0.5], "tau_low": [0.1, 0.1], "high": [0.9, None], "tasks": [4, 5], "followed": [3.0, 3.0]}
    csv, markdown, latex = write_table(pl.DataFrame(columns), tmp_path, "t")
    assert markdown.read_text(encoding="utf-8").splitlines()[2:] == ["| 0.5 | † | † | 4 | 3.0 |", "| 0.5 | 0.1 |  | 5 | 3.0 |"]
    assert "0.5 & † & † & 4 & 3.0" in latex.read_text(encoding="utf-8")
    assert pl.read_csv(csv)["tau_low"].to_list() == [0.1, 0.1]


def test_a_figure_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        figure = new_figure(1, 1, width=3, height=2)
        figure.axes[0].plot([1, 2, 3])
        svg, png = write_figure(figure, tmp_path / name, "f")
        written.append((svg.read_bytes(), png.read_bytes()))
    assert written[0] == written[1]
    assert b"<svg" in written[0][0]
