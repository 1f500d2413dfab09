"""Writers of small input files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

SLICE = Path(__file__).resolve().parent.parent / "data" / "drb_slice"

WriteLines = Callable[[str, Iterable[dict[str, Any]]], str]


@pytest.fixture
def write_lines(tmp_path: Path) -> WriteLines:
    """Writes a JSON lines file below the temporary folder and returns its path."""

    def write(name: str, records: Iterable[dict[str, Any]]) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def write_text(tmp_path: Path) -> Callable[[str, str], str]:
    """Writes a text file below the temporary folder and returns its path."""

    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write
