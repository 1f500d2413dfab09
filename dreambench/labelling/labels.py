"""Labels that people gave to a sample, read back and joined to judgments.

`read_key` reads what `sample` wrote for us, `read_sheets` what raters saved (one file each or several in one), `join_labels`
puts beside every label what each judge of a run said of the same unit. A label that is no answer of its unit, a unit that
is not in the key and a unit labelled twice by one rater are errors with file and line; units without a label are left out.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from dreambench.errors import InputError, Problem, nearest
from dreambench.labelling.sampling import SCORE, UNIT, with_occurrence
from dreambench.labelling.sheet import CANNOT_TELL
from dreambench.records import Status

LABEL_SCHEMA = {"id": pl.String, "rater": pl.String, "label": pl.String, "note": pl.String}
"""One row per unit and rater; `label` is null where the rater could not tell."""


class LabelError(InputError):
    """A sheet or its key cannot be used as it is."""


@dataclass(frozen=True, slots=True)
class Key:
    """What the sample's key says: units with stratum and probability, and how large each stratum is."""

    run: str
    judge: str
    units: pl.DataFrame
    """id, UNIT columns, task, agent, stratum, probability, answers, score (whether a number was asked for)."""
    population: Mapping[str, int]


def read_key(path: Path) -> Key:
    """The key of a sample. Raises LabelError."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        units = pl.DataFrame(record["units"], schema_overrides={"occurrence": pl.Int64})
        population = {name: int(stratum["population"]) for name, stratum in record["strata"].items()}
        units = units.with_columns(score=pl.col("answers").list.join("|") == SCORE[0])
        return Key(str(record["run"]), str(record["judge"]), units, population)
    except OSError as error:
        raise LabelError(
            Problem(str(path), f"cannot be read: {error.strerror or error}", ["the key.json of sample"])
        ) from error
    except (ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        raise LabelError(Problem(str(path), f"is no key of a sample: {error}", ["the key.json of sample"])) from error


def read_sheets(paths: Sequence[Path], key: Key) -> pl.DataFrame:
    """The labels of all sheets (LABEL_SCHEMA); a row without a rater is its file's. Raises LabelError with all problems."""
    answers = {row["id"]: row["answers"] for row in key.units.iter_rows(named=True)}
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    problems: list[Problem] = []
    for path in paths:
        for where, line in _lines(path, problems):
            label = (line.get("label") or "").strip()
            if not label:
                continue
            rater = (line.get("rater") or "").strip() or path.stem
            unit = (line.get("id") or "").strip()
            if problem := _wrong(where, unit, label, answers):
                problems.append(problem)
                continue
            row = {"id": unit, "rater": rater, "label": None if label == CANNOT_TELL else label, "note": line.get("note") or ""}
            before = rows.setdefault((unit, rater), row)
            if before["label"] != row["label"]:
                problems.append(Problem(where, f"{rater} labels {unit} twice, as {before['label']} and as {row['label']}"))
    if problems:
        raise LabelError(*problems)
    return pl.DataFrame(list(rows.values()), schema=LABEL_SCHEMA).sort("id", "rater")


def _lines(path: Path, problems: list[Problem]) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The rows of a sheet with their places; a file that is none is a problem."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := {"id", "label"} - set(reader.fieldnames or ()):
                what = f"has no column {', '.join(sorted(missing))}"
                problems.append(Problem(str(path), what, ["id, rater, label, note"]))
                return
            for row in reader:
                yield f"{path}:{reader.line_num}", row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        problems.append(Problem(str(path), f"cannot be read: {error}", ["a sheet saved as CSV (UTF-8)"]))


def _wrong(where: str, unit: str, label: str, answers: Mapping[str, Sequence[str]]) -> Problem | None:
    if unit not in answers:
        return Problem(where, f"unit {unit!r} is not in the sample's key")
    allowed = [*answers[unit], CANNOT_TELL]
    if label in allowed:
        return None
    if list(answers[unit]) == SCORE:
        number = _number(label)
        return None if number is not None and 0 <= number <= 100 else Problem(where, f"{label!r} is no score", allowed)
    near = nearest(label, allowed)
    return Problem(where, f"{label!r} is no answer of this unit" + (f"; did you mean {near}?" if near else ""), allowed)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def join_labels(labels: pl.DataFrame, key: Key, judgments: pl.DataFrame) -> pl.DataFrame:
    """One row per unit, rater and judge: the key's columns, `label`, `judge`, `judge_label`, `judge_value`, `score_label`.

    Judges that did not judge a unit (their claims are others) have no row for it. `score_label` is the rater's number in
    [0, 1] where a number was asked for. Only the first repeat of the unchanged reports counts.
    """
    judged = with_occurrence(judgments.filter(pl.col("repeat") == 0, pl.col("perturbation") == "clean"))
    judged = judged.filter(pl.col("status") == Status.SCORED.value)
    said = judged.select(*UNIT, "judge", pl.col("label").alias("judge_label"), pl.col("value").alias("judge_value"))
    joined = labels.join(key.units.drop("answers"), on="id").join(said, on=UNIT, how="inner")
    number = pl.col("label").cast(pl.Float64, strict=False) / 100
    return joined.with_columns(score_label=pl.when(pl.col("score")).then(number)).sort("judge", "id", "rater")
