"""The worked example of each metric page: its numbers as rows, through the page's own expression, give what the page prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from tests.docs.conftest import METRICS
from tests.docs.pages import ROOT, blocks, last_value, page, section

Row = tuple[str, str, float | None]
"""Family, label, value."""


def rows(family: str, **counts: tuple[int, float | None]) -> list[Row]:
    """So many rows of each label, with their value."""
    return [(family, label, value) for label, (count, value) in counts.items() for _ in range(count)]


VERDICTS = rows("claim", supported=(10, 1.0), partially_supported=(4, 0.5), contradicted=(6, 0.0), unverifiable=(10, None))
CI = [
    *rows("attribution", cited=(20, 1.0), uncited=(20, 0.0)),
    *rows("claim", supported=(8, 1.0), partially_supported=(4, 0.5), neutral=(2, 0.0)),
    *rows("claim", contradicted=(2, 0.0), unverifiable=(4, None)),
]
RATINGS = [
    *rows("relevance", **{"3": (1, 1.0), "1": (1, 0.0)}),
    *rows("verifiability", **{"2": (1, 0.5), "3": (1, 1.0)}),
    *rows("clarity", **{"3": (1, 1.0), "2": (1, 0.5)}),
]
SIDES = rows("vertical", analytical_depth=(4, 1.0), task_compliance=(3, 1.0), presentation_quality=(2, 1.0), none=(1, 1.0))
EXAMPLES: dict[str, tuple[Sequence[Row], float, str]] = {
    "factuality": (VERDICTS, 0.60, "= .60"),
    "ci": (CI, 0.5556, "CI .5556"),
    "da": ([("domain", "news", score / 10) for score in (10, 8, 5, 2)], 0.625, "give .625"),
    "kic": (rows("lasting", yes=(11, 1.0), no=(4, 0.0)), 0.7333, "give .7333"),
    "rq": ([("question", str(grade), grade / 10) for grade in (5, 10, 5, 9, 0)], 0.58, "RQ is .58"),
    "fact": (rows("fact", supported=(6, 1.0), unsupported=(2, 0.0), unknown=(2, None)), 0.75, "(.75 + .75) / 2 = .75"),
    "citations": (rows("sentence", cited=(4, 1.0), uncited=(6, 0.0)), 0.40, "attribution .40"),
    "item_quality": (RATINGS, 0.6667, "mean .6667"),
    "verticals": (SIDES, 0.9, "placed .90"),
    "length": ([("words", "words", 1500.0)], 1500.0, "mean 1,500"),
}
WQ = {
    "ideas_and_content": (80, 70, 60, 50),
    "organization": (90, 50, 70),
    "sentence_fluency": (60, 80, 70),
}
RACE = {"comprehensiveness": (0.4, 8), "insight": (0.3, 6), "instruction_following": (0.2, 7), "readability": (0.1, 9)}


def weighted() -> dict[str, tuple[list[tuple[Row, float]], float, str]]:
    """The examples whose rows have weights."""
    families = yaml.safe_load((ROOT / "conf" / "metric" / "wq.yaml").read_text(encoding="utf-8"))["families"]
    wq = [
        ((family, label, score / 100), weight / 3)
        for family, scores in WQ.items()
        for (label, weight), score in zip(families[family].items(), scores, strict=True)
    ]
    race = [
        ((dimension, label, score / 10), weight)
        for dimension, (weight, target) in RACE.items()
        for label, score in (("target", target), ("reference", 6))
    ]
    return {"wq": (wq, 0.6767, "WQ is 67.67"), "race": (race, 0.5489, "= .5489")}


def everything() -> dict[str, tuple[list[tuple[Row, float]], float, str]]:
    plain = {name: ([(row, 1.0) for row in found], value, said) for name, (found, value, said) in EXAMPLES.items()}
    return {**plain, **weighted()}


@pytest.mark.parametrize("metric", METRICS)
def test_the_worked_example_gives_what_the_page_says(metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, value, said = everything()[metric]
    assert said in " ".join(section(page(f"metrics/{metric}.md"), "Formula").split())
    shared: dict[str, Any] = {"metric": metric, "status": "scored", "perturbation": "clean", "report": "r"}
    shared |= {"judge": "j", "rubric": "default", "repeat": 0}
    table = [{**shared, "family": row[0], "label": row[1], "value": row[2], "weight": weight} for row, weight in found]
    pl.DataFrame(table).write_parquet(tmp_path / "judgments.parquet")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(section(page(f"metrics/{metric}.md"), "Its score again"), "python")
    assert last_value(code)["value"].to_list() == pytest.approx([value], abs=5e-5)
