"""Numbers do not depend on the order in which Python happens to keep sets: two hash seeds, one item table."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from tests.apps.command import process


def items(folder: Path, seed: str) -> pl.DataFrame:
    folder.mkdir()
    ran = process("metric=dream", "debug=tiny", "dataset.limit=1", cwd=folder, env={"PYTHONHASHSEED": seed})
    assert ran.code == 0, ran.err
    (table,) = folder.glob("outputs/*/judgments.parquet")
    return pl.read_parquet(table)


def test_two_hash_seeds_give_one_item_table(tmp_path: Path) -> None:
    first, second = (items(tmp_path / seed, seed) for seed in ("1", "2"))
    assert first.height > 100
    assert first.equals(second)
