"""A seeded generator, a real score matrix and published figures for the tests of statistics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

SYSTEMS = ["OpenAI", "gemini", "doubao", "qwen", "grok-1", "perplexity", "tongyi"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def score_matrix(real_data: Path) -> pl.DataFrame:
    """DeepResearch Bench II: idx, one total per system (blank: missing run), and `items`, the unique items of the task."""
    folder = real_data / "drb2"
    table = pl.read_csv(folder / "agg_scores_total.csv", schema_overrides={"idx": pl.String})
    counts = pl.read_csv(folder / "item_counts.csv", schema_overrides={"idx": pl.String})
    items = counts.select("idx", items=pl.sum_horizontal(pl.exclude("idx")))
    return table.filter(pl.col("idx") != "avg").select("idx", *SYSTEMS).join(items, on="idx")


@pytest.fixture(scope="session")
def published() -> dict[str, Any]:
    """Figures printed in papers, see tests/data/published_tables.json."""
    return json.loads((Path(__file__).parents[1] / "data" / "published_tables.json").read_text())
