"""From a run's tables to what the page shows: scores by judge, findings first, and one chunk per judged text."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.records import Status
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.meanings import MEANINGS
from dreambench.runs.assembly import CLEAN
from dreambench.tools.results import Reason

SEVERE = {
    "contradicted": 4,
    "refuted": 4,
    "unsupported": 3,
    "dangling": 3,
    "neutral": 2,
    "partially_supported": 2,
    "no": 2,
    "uncited": 1,
    "never_cited": 1,
}
"""How much a label weighs in the order of findings; `severity` says what other labels weigh."""
UNREAD = [reason.value for reason in Reason if reason is not Reason.OK]
"""Reason codes of items that were judged without the page that they are about."""
SOURCES = {
    "provider": "made in this run",
    "cache": "answered before, free",
    "flight": "shared with an equal call, free",
}
"""Where a call's answer came from, in words: the column `source` of `calls.parquet`."""
STEP_CHARACTERS = 1500
"""Characters of a tool's answer that the page shows of a trajectory; the file in the run folder has them all."""
SHOWN_COLUMNS = [
    "metric",
    "rubric",
    "family",
    "judge",
    "evaluator",
    "repeat",
    "label",
    "value",
    "status",
    "reason_code",
    "rationale",
    "report_start",
    "report_end",
    "evidence",
    "item",
]
TEXT_KEYS = ["report", "perturbation", "dose", "perturbation_seed"]


class PageData(FinishedRun):
    """A finished or interrupted run, as its page shows it."""

    @cached_property
    def judgments(self) -> pl.DataFrame:
        """The item table, with how much each row speaks against its report."""
        return super().judgments.with_columns(severity=severity())

    @cached_property
    def texts(self) -> pl.DataFrame:
        """The judged texts in the order in which the page numbers them: by task, agent, then clean before changed."""
        order = ["task", "agent", pl.col("perturbation") != CLEAN, "perturbation", "dose"]
        return pl.read_parquet(self.folder.reports).sort(order).with_row_index("number")

    @cached_property
    def numbered(self) -> pl.DataFrame:
        """The judgments, each with the number of its text."""
        numbers = self.texts.select(*TEXT_KEYS, "number")
        return self.judgments.join(numbers, on=TEXT_KEYS, how="inner", nulls_equal=True, maintain_order="left")

    def index(self) -> dict[str, Any]:
        """What the page needs at once: its texts by name, and every finding."""
        texts = self.texts.select("task", "agent", arm=arm_label(), characters=pl.col("text").str.len_chars())
        return {"texts": texts.rows(), "findings": self._findings(), "meanings": MEANINGS}

    def _findings(self) -> list[tuple[Any, ...]]:
        """(text, metric, judge, label, severity, reason code, words, evidence address, item), worst first."""
        text = self.texts.select("number", "text")
        same = ["number", "metric", "rubric", "judge", "repeat", "label", "report_start", "report_end"]
        placed = pl.col("report_start").is_null() | pl.struct(same).is_first_distinct()  # a claim and its citation: once
        wrong = self.numbered.filter(pl.col("severity") > 0)
        rows = wrong.filter(placed).join(text, on="number", maintain_order="left")
        words = pl.col("text").str.slice(pl.col("report_start"), pl.col("report_end") - pl.col("report_start"))
        address = pl.col("evidence").list.first().struct.field("url")
        return (
            rows.sort(pl.col("severity"), descending=True, maintain_order=True)
            .select(
                "number",
                "metric",
                "judge",
                "label",
                "severity",
                "reason_code",
                words=pl.coalesce(words, pl.col("rationale")).str.slice(0, 240),
                address=address.fill_null(""),
                item="item",
            )
            .rows()
        )

    def chunks(self) -> list[str]:
        """One compressed base64 string per text: the text, what was planted in it, its judgments, its trajectories."""
        groups = {number: part for (number,), part in self.numbered.group_by("number", maintain_order=True)}
        empty = self.numbered.clear()
        return [packed(self._chunk(row, groups.get(row["number"], empty))) for row in self.texts.iter_rows(named=True)]

    def _chunk(self, text: Mapping[str, Any], judgments: pl.DataFrame) -> dict[str, Any]:
        rows = judgments.select(*SHOWN_COLUMNS, "severity").rows(named=True)
        paths = {item["url"] for row in rows for item in row["evidence"] or [] if item["url"].startswith("trajectories/")}
        return {
            **{key: text[key] for key in ("task", "agent", "as_of", "query", "language", "text", "edits")},
            "judgments": rows,
            "trajectories": {path: trajectory(self.folder.root, path) for path in sorted(paths)},
        }

    def costs(self) -> pl.DataFrame:
        """Calls, tokens and money by role and model, and by where the answers came from, in words."""
        return (
            self.calls.group_by("role", "requested_model", "source", maintain_order=True)
            .agg(
                calls=pl.len(),
                prompt_tokens=pl.col("prompt_tokens").sum(),
                cached_tokens=pl.col("cached_tokens").sum(),
                completion_tokens=pl.col("completion_tokens").sum(),
                cost=pl.when(pl.col("cost").null_count() == 0).then(pl.col("cost").sum()),
                seconds=pl.col("seconds").sum(),
            )
            .sort("role", "requested_model", "source")
            .with_columns(pl.col("source").replace(SOURCES))
        )


def severity() -> pl.Expr:
    """0: nothing is wrong or nothing was judged; 1: weak; 4: evidence speaks against the report.

    A label that is not in SEVERE weighs 2 when its value is 0, and 1 below one half; only items that point at a place or
    at evidence are findings, so a low mark for style is none, and neither is what a judge guessed because a page could not
    be read. Items that code counts weigh at most 1.
    """
    points = pl.col("report_start").is_not_null() | (pl.col("evidence").list.len() > 0)
    scored = (pl.col("status") == Status.SCORED.value) & pl.col("value").is_not_null() & (pl.col("value") < 1)
    by_value = pl.when(pl.col("value") <= 0).then(2).when(pl.col("value") < 0.5).then(1).otherwise(0)
    known = pl.col("label").replace_strict(SEVERE, default=None, return_dtype=pl.Int32)
    weight = pl.coalesce(known, by_value)
    judged = pl.when(pl.col("judge") == "code").then(pl.min_horizontal(weight, pl.lit(1))).otherwise(weight)
    return pl.when(points & scored & ~pl.col("reason_code").is_in(UNREAD)).then(judged).otherwise(0).cast(pl.Int32)


def arm_label() -> pl.Expr:
    """`` for the text as it is, `omission 0.5 · seed 1` for a changed one."""
    return (
        pl.when(pl.col("perturbation") == CLEAN)
        .then(pl.lit(""))
        .otherwise(pl.format("{} {} · seed {}", "perturbation", "dose", "perturbation_seed"))
    )


def trajectory(root: Path, path: str) -> dict[str, Any] | None:
    """A stored trajectory with long answers of tools cut, and the cut said; None when the file is gone."""
    file = root / path
    if not file.resolve().is_relative_to(root.resolve()) or not file.is_file():
        return None
    stored: dict[str, Any] = json.loads(file.read_text(encoding="utf-8", errors="surrogatepass"))
    cut: dict[str, Any] = _cut(stored)
    return cut


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > STEP_CHARACTERS:
        return value[:STEP_CHARACTERS] + f" … [{len(value) - STEP_CHARACTERS} more characters in the file]"
    if isinstance(value, list):
        return [_cut(item) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return value


def packed(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """JSON, gzip (without a time, so equal runs give equal pages), base64."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)).decode("ascii")
