"""A finished run as Inspect evaluation logs (format version 2, JSON), for its viewer and data frames.

One log per agent and arm: the agent stands as the model, a report is a sample (a repeat is an epoch), and each metric, rubric
and judge together is a scorer whose sample scores are the primary values of reports. Means and intervals are those of
`scores.parquet`, never averaged anew. Fields: Inspect's reference of `inspect_ai.log`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

import dreambench
from dreambench.errors import ConfigError, Problem
from dreambench.metrics.aggregation import ARM
from dreambench.records import short_hash
from dreambench.reporting.finished import FinishedRun
from dreambench.reporting.taken import taken
from dreambench.runs.assembly import CLEAN
from dreambench.runs.folder import write_text

VERSION = 2
"""Of Inspect's log format."""
_SCORER = ["metric", "rubric", "judge"]
_ITEM = ["item", "label", "value", "status", "reason_code", "rationale", "report_start", "report_end"]


def write_inspect_logs(run: FinishedRun, folder: Path, *, replace: bool = False) -> list[Path]:
    """Writes the logs of `run` to `folder` and returns their paths. Equal runs give equal files.

    A score that a report does not have is absent from its sample, and the sample's metadata says why (`unscored`).
    Raises ConfigError for a run without stored texts, and, without `replace`, for a folder that holds something.
    """
    if not run.folder.reports.is_file():
        what = f"has no {run.folder.reports.name}: it was made before runs kept their texts"
        raise ConfigError(Problem(str(run.folder.root), what, type="run its command again: it judges nothing twice"))
    if not replace and folder.is_dir() and any(folder.iterdir()):
        raise taken(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    created, _ = _times(run)
    for texts in _parts(pl.read_parquet(run.folder.reports)):
        first = texts.row(0, named=True)
        path = folder / f"{_stem(created, first)}.json"
        write_text(path, json.dumps(_log(run, texts), ensure_ascii=True, indent=1, allow_nan=False) + "\n")
        written.append(path)
    return written


def _parts(texts: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The texts of one agent and arm at a time, in a stable order."""
    ordered = texts.sort("agent", pl.col("perturbation") != CLEAN, *ARM, "task")
    yield from ordered.partition_by(["agent", *ARM], maintain_order=True)


def _stem(created: str, first: Mapping[str, Any]) -> str:
    """`<time>_<name>_<hash>`: Inspect lists only JSON files that are named so. Any system takes it; the hash tells apart names
    that look alike after that."""
    names = [str(first["agent"]), *([] if first["perturbation"] == CLEAN else [str(first[key]) for key in ARM])]
    plain = "-".join("".join(one if one.isalnum() or one == "." else "-" for one in name) for name in names)
    return f"{created.replace(':', '-')}_{plain[:80]}_{short_hash(*names)[:6]}"


def _log(run: FinishedRun, texts: pl.DataFrame) -> dict[str, Any]:
    first = texts.row(0, named=True)
    mine = [pl.col(key).eq_missing(pl.lit(first[key], dtype=texts.schema[key])) for key in ("agent", *ARM)]
    values = run.report_scores.filter(mine)
    samples = list(_samples(texts, values, run.judgments.filter(mine)))
    complete = bool(run.summary["complete"])
    started, ended = _times(run)
    return {
        "version": VERSION,
        "status": "success" if complete else "cancelled",
        "eval": _spec(run, first, values, samples, started),
        "plan": {"name": "plan", "steps": []},  # readers of headers insist on it
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum(bool(sample["scores"]) for sample in samples),
            "scores": list(_scores(run.scores.filter(mine), values)),
        },
        "stats": {"started_at": started, "completed_at": ended},
        "samples": samples,
    }


def _spec(
    run: FinishedRun, first: Mapping[str, Any], values: pl.DataFrame, samples: Sequence[Mapping[str, Any]], started: str
) -> dict[str, Any]:
    arm = {key: first[key] for key in ARM}
    summary = run.summary
    ids = list(dict.fromkeys(str(sample["id"]) for sample in samples))
    return {
        "eval_id": short_hash("inspect", summary["run"], first["agent"], *map(str, arm.values())),
        "run_id": summary["run"],
        "created": started,
        "task": summary["name"],
        "task_id": summary["run"],
        "task_args": arm,
        "model": first["agent"],
        "dataset": {
            "name": values["dataset"][0] if values.height else summary["name"],
            "samples": len(ids),
            "sample_ids": ids,
        },
        "config": {"epochs": max((sample["epoch"] for sample in samples), default=1)},
        "packages": {"dreambench": dreambench.__version__},
        "metadata": {
            "complete": summary["complete"],
            "cells": summary["cells"],
            "scoring": summary["scoring"],
            "judges": {name: judge["note"] for name, judge in summary["judges"].items()},
            "findings": summary["findings"],
        },
    }


def _samples(texts: pl.DataFrame, values: pl.DataFrame, judgments: pl.DataFrame) -> Iterator[dict[str, Any]]:
    by_report = values.partition_by(["report", "repeat"], as_dict=True)
    items = judgments.partition_by(["report", "repeat", *_SCORER], as_dict=True)
    for text in texts.iter_rows(named=True):
        repeats = sorted(repeat for report, repeat in by_report if report == text["report"]) or [0]
        for repeat in repeats:
            rows = by_report.get((text["report"], repeat), values.clear())
            scores, unscored = {}, {}
            for scorer, part in rows.group_by(_SCORER, maintain_order=True):
                judged = items.get((text["report"], repeat, *scorer), judgments.clear())
                main = part.filter(pl.col("primary")).row(0, named=True)
                if main["value"] is None:
                    unscored[_name(*scorer)] = main["why"]
                else:
                    scores[_name(*scorer)] = _score(main, part, judged)
            message = {"role": "assistant", "content": text["text"], "source": "generate", "model": text["agent"]}
            yield {
                "id": text["task"],
                "epoch": repeat + 1,
                "input": text["query"],
                "target": "",
                "messages": [{"role": "user", "content": text["query"], "source": "input"}, message],
                "output": {"model": text["agent"], "choices": [{"message": message, "stop_reason": "stop"}]},
                "scores": scores,
                "metadata": {
                    "report": text["report"],
                    "as_of": text["as_of"],
                    "language": text["language"],
                    "unscored": unscored,
                },
            }


def _score(main: Mapping[str, Any], variants: pl.DataFrame, judged: pl.DataFrame) -> dict[str, Any]:
    excluded = f", {main['n_excluded']} could not be judged" if main["n_excluded"] else ""
    return {
        "value": main["value"],
        "explanation": f"{main['variant']} ({main['unit']}) over {main['n_items']} items{excluded}",
        "metadata": {
            "variants": dict(variants.select("variant", "value").iter_rows()),
            "items": judged.select(_ITEM).to_dicts(),
        },
    }


def _scores(scores: pl.DataFrame, values: pl.DataFrame) -> Iterator[dict[str, Any]]:
    main = scores.filter(pl.col("primary"), pl.col("aggregation") == "macro")
    for row in main.iter_rows(named=True):
        known = {"mean": row["value"], "ci_low": row["low"], "ci_high": row["high"]}
        same = [pl.col(key) == row[key] for key in _SCORER]
        mine = values.filter(same, pl.col("primary"))
        yield {
            "name": _name(*(row[key] for key in _SCORER)),
            "scorer": row["metric"],
            "scored_samples": mine["value"].count(),
            "unscored_samples": mine["value"].null_count(),
            "params": {"rubric": row["rubric"], "judge": row["judge"]},
            "metrics": {name: {"name": name, "value": value} for name, value in known.items() if value is not None},
            "metadata": {key: row[key] for key in ("variant", "unit", "interval", "n_tasks", "n_excluded", "excluded_why")},
        }


def _name(metric: str, rubric: str, judge: str) -> str:
    return f"{metric}/{judge}" if rubric in ("", "default") else f"{metric}[{rubric}]/{judge}"


def _times(run: FinishedRun) -> tuple[str, str]:
    """When the first attempt began and the summary was written, with time zone."""
    manifests = sorted(run.folder.root.glob("attempts/*/manifest.json"), key=lambda path: int(path.parent.name))
    ended = datetime.fromtimestamp(run.folder.summary.stat().st_mtime, UTC).isoformat(timespec="seconds")
    if not manifests:
        return ended, ended
    started = datetime.fromisoformat(json.loads(manifests[0].read_text(encoding="utf-8"))["started"])
    return (started if started.tzinfo else started.astimezone()).isoformat(timespec="seconds"), ended
