"""The page's plots as SVG text: intervals, labels, dose response. Text comes from reports' names, so all of it is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import polars as pl

from dreambench.reporting.tables import format_interval, format_value, shown_scores
from dreambench.runs.assembly import CLEAN, CODE

MARKS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M-4-4h8v8h-8z", "M0-5l5 5-5 5-5-5z", "M0-5l5 9h-10z", "M-5-4h10l-5 9z")
"""One shape per judge, so that colour is never the only difference."""
VERDICT_FAMILIES = ("claim", "pair", "lasting", "time_sensitive")
"""Families of items whose labels are verdicts about a claim, a cited fact or a key fact."""
ROW, LEFT, WIDTH = 22, 150, 250


def forest(scores: pl.DataFrame) -> list[tuple[str, str]]:
    """(metric, SVG) for every judged metric that is a share: agents down the side, one mark and interval per judge."""
    rows = shown_scores(scores).filter(
        pl.col("perturbation") == CLEAN, pl.col("judge") != CODE, pl.col("unit") == "share", pl.col("value").is_not_null()
    )
    return [(name, _forest(name, part)) for (name,), part in rows.group_by("metric", maintain_order=True)]


def _forest(metric: str, rows: pl.DataFrame) -> str:
    agents = rows["agent"].unique().sort().to_list()
    judges = rows["judge"].unique(maintain_order=True).to_list()
    parts = [_grid(len(agents))]
    parts += [_text(LEFT - 8, ROW * (place + 1), agent, "end") for place, agent in enumerate(agents)]
    for row in rows.sort("agent").iter_rows(named=True):
        judge = judges.index(row["judge"])
        y = ROW * (agents.index(row["agent"]) + 1) - 4 + 5 * (judge - (len(judges) - 1) / 2)
        parts.append(_mark(judge, y, row))
    height = ROW * (len(agents) + 1) + 14
    if len(judges) > 1:
        for place, judge in enumerate(judges):
            y = height + 6 + 16 * place
            parts += [_key(LEFT + 6, y, place), _text(LEFT + 16, y + 4, judge, "start")]
        height += 16 * len(judges) + 6
    label = f"{metric}: score of every agent with its interval, by judge"
    return _svg(LEFT + WIDTH + 24, height, label, parts)


def _mark(judge: int, y: float, row: dict[str, Any]) -> str:
    x = LEFT + WIDTH * row["value"]
    value = f"{row['agent']} by {row['judge']}: {format_value(row['value'], row['unit'])}"
    line = ""
    if interval := format_interval(row, row["unit"]):
        low, high = LEFT + WIDTH * row["low"], LEFT + WIDTH * row["high"]
        value += interval
        line = f'<path class="bar" d="M{low:.1f} {y:.1f}H{high:.1f}"/>'
    shape = f'<path class="mark" transform="translate({x:.1f} {y:.1f})" d="{MARKS[judge % len(MARKS)]}"/>'
    return f'<g class="s{judge % 5}"><title>{escape(value)}</title>{line}{shape}</g>'


def _grid(rows: int) -> str:
    bottom = ROW * (rows + 1) - 6
    lines = "".join(f'<path class="grid" d="M{LEFT + WIDTH * at / 100:.0f} 4V{bottom}"/>' for at in (0, 25, 50, 75, 100))
    return lines + "".join(_text(LEFT + WIDTH * at / 100, bottom + 14, str(at), "middle") for at in (0, 50, 100))


def labels(judgments: pl.DataFrame) -> list[tuple[str, str]]:
    """(metric / judge, SVG): the labels of every agent's items as stacked bars. Only metrics whose items have verdicts."""
    verdicts = judgments.filter(
        pl.col("perturbation") == CLEAN,
        pl.col("judge") != CODE,
        pl.col("label") != "",
        pl.col("family").is_in(VERDICT_FAMILIES),
    )
    groups = verdicts.group_by("metric", "judge", maintain_order=True)
    return [(f"{metric} by {judge}", _labels(f"{metric} by {judge}", part)) for (metric, judge), part in groups]


def _labels(title: str, rows: pl.DataFrame) -> str:
    agents = rows["agent"].unique().sort().to_list()
    order = rows.group_by("label").agg(pl.col("value").mean()).sort("value", "label", descending=[True, False], nulls_last=True)
    names = order["label"].to_list()
    parts = []
    for place, agent in enumerate(agents):
        counts = rows.filter(pl.col("agent") == agent).group_by("label").len()
        found = dict(counts.iter_rows())
        parts.append(_text(LEFT - 8, ROW * (place + 1), agent, "end"))
        parts.append(_stack(place, [(name, found.get(name, 0)) for name in names]))
    keys = []
    for place, name in enumerate(names):
        x, y = LEFT + 130 * (place % 2), ROW * (len(agents) + 1) + 6 + 16 * (place // 2)
        keys.append(
            f'<rect class="l-{_slug(name)}" x="{x}" y="{y - 9}" width="10" height="10"/>' + _text(x + 15, y, name, "start")
        )
    height = ROW * (len(agents) + 1) + 16 * ((len(names) + 1) // 2) + 8
    return _svg(LEFT + WIDTH + 24, height, f"{title}: share of labels by agent", [*parts, *keys])


def _stack(place: int, counts: Sequence[tuple[str, int]]) -> str:
    total = sum(count for _, count in counts) or 1
    x, y, parts = float(LEFT), ROW * (place + 1) - 12, []
    for name, count in counts:
        width = WIDTH * count / total
        title = escape(f"{name}: {count} of {total}")
        parts.append(
            f'<rect class="l-{_slug(name)}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="14"><title>{title}</title></rect>'
        )
        x += width
    return "".join(parts)


def doses(scores: pl.DataFrame) -> list[tuple[str, str]]:
    """(metric / perturbation / judge, SVG): the score against the dose, one line per agent, the clean text at dose 0."""
    shown = shown_scores(scores).filter(pl.col("judge") != CODE, pl.col("unit") == "share", pl.col("value").is_not_null())
    clean = shown.filter(pl.col("perturbation") == CLEAN)
    changed = shown.filter(pl.col("perturbation") != CLEAN)
    plots = []
    for (kind, metric, judge), part in changed.group_by("perturbation", "metric", "judge", maintain_order=True):
        base = clean.filter(pl.col("metric") == metric, pl.col("judge") == judge)
        title = f"{metric} · {kind} · {judge}"
        plots.append((title, _dose(title, pl.concat([base, part]))))
    return plots


def _dose(title: str, rows: pl.DataFrame) -> str:
    width, height, left = 220, 120, 36
    means = rows.group_by("agent", "dose").agg(pl.col("value").mean()).sort("agent", "dose")
    top = max(float(means["dose"].max() or 1.0), 1e-9)  # type: ignore[arg-type]
    parts = [f'<path class="grid" d="M{left} {y}H{left + width}"/>' for y in (10, 70, 130)]
    parts += [_text(left - 4, y + 4, label, "end") for y, label in ((10, "100"), (70, "50"), (130, "0"))]
    parts += [_text(left, 146, "0", "middle"), _text(left + width, 146, f"{top:g}", "middle")]
    for place, ((agent,), part) in enumerate(means.group_by("agent", maintain_order=True)):
        points = [
            (left + width * dose / top, 10 + height * (1 - value)) for dose, value in part.select("dose", "value").iter_rows()
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        marks = "".join(f'<path transform="translate({x:.1f} {y:.1f})" d="{MARKS[place % len(MARKS)]}"/>' for x, y in points)
        parts.append(f'<g class="s{place % 5}"><title>{escape(str(agent))}</title><polyline points="{path}"/>{marks}</g>')
        parts.append(
            _text(left + width + 16, 20 + 16 * place, str(agent), "start") + _key(left + width + 8, 16 + 16 * place, place)
        )
    return _svg(left + width + 130, 152, f"{title}: score against dose", parts)


def _key(x: float, y: float, place: int) -> str:
    return f'<g class="s{place % 5}"><path transform="translate({x} {y}) scale(.8)" d="{MARKS[place % len(MARKS)]}"/></g>'


def _slug(name: str) -> str:
    return "".join(char if char.isalnum() and char.isascii() else "-" for char in name)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    shown = text if len(text) <= 22 else text[:21] + "…"
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(shown)}</text>'


def _svg(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    head = (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" aria-label="{escape(label, quote=True)}">'
    )
    return head + "".join(parts) + "</svg>"
