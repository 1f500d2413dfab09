"""Whatever a file holds, a loader gives a data set or says what is wrong; it never fails in another way."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreambench.datasets import Loader
from dreambench.datasets.deepconsult import DeepConsultDataset
from dreambench.datasets.demo import DemoDataset
from dreambench.datasets.drb import DrbDataset
from dreambench.datasets.jsonl import JsonlDataset
from dreambench.datasets.liveresearchbench import LiveResearchBenchDataset
from dreambench.datasets.reports import ReportsDataset
from dreambench.errors import DatasetError

LISTING = b"""{"metadata": {"use_realtime": true, "timestamp": "20250901"},
"reports": [{"model_name": "m", "query_id": "q", "report_file_path": "/x/reports/a/f.md", "query": "why?"}]}"""

SOURCES: dict[str, tuple[str, bytes, Callable[[str], Loader]]] = {
    "drb": ("f.jsonl", b'{"id": 1, "prompt": "q", "article": "x"}\n' * 2, lambda path: DrbDataset(reports=path)),
    "jsonl": (
        "f.jsonl",
        b'{"id": 1, "query": "q", "as_of": "2025-01-02"}',
        lambda path: JsonlDataset(queries=path, tasks="all"),
    ),
    "deepconsult": (
        "f.csv",
        b'question,baseline_answer,candidate_answer\n"a",b,"c\nd"\n',
        lambda path: DeepConsultDataset(reports=path),
    ),
    "liveresearchbench": ("f.json", LISTING, lambda path: LiveResearchBenchDataset(reports=path)),
    "demo": (
        "tasks/f.yaml",
        b"id: f\nquery: b\nas_of: 2025-01-01\n",
        lambda path: DemoDataset(folder=str(Path(path).parents[1])),
    ),
    "reports": ("g.md", b"# A report\n\nwith text.\n", lambda path: ReportsDataset(reports=path)),
}
PIECES = [
    b"{",
    b"}",
    b"[",
    b'"',
    b"\n",
    b",",
    b":",
    b"null",
    b"1e999",
    b"\\ud800",
    b"\x00",
    b"\x85",
    b"\xff",
    b"\xef\xbb\xbf",
    b"",
]


@pytest.mark.parametrize("source", SOURCES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_give_a_data_set_or_an_error_with_problems(tmp_path: Path, source: str, data: st.DataObject):
    name, content, make = SOURCES[source]
    for place in ("tasks", "reports/a"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / "reports/a/f.md").write_text("x", encoding="utf-8")
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(content)))
        piece = data.draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=3)))
        content = content[:start] + piece + content[start + data.draw(st.integers(0, 5)) :]
    (tmp_path / name).write_bytes(content)
    with contextlib.suppress(DatasetError):
        dataset = make(str(tmp_path / name)).load()
        assert len(dataset.fingerprint()) == 64
        assert {report.task_id for report in dataset.reports} <= {task.id for task in dataset.tasks}


@pytest.mark.parametrize("source", SOURCES)
def test_the_undamaged_files_load(tmp_path: Path, source: str):
    name, content, make = SOURCES[source]
    for place in ("tasks", "reports/a"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "reports/a/f.md").write_text("x", encoding="utf-8")
    (tmp_path / name).write_bytes(content)
    assert len(make(str(tmp_path / name)).load().tasks) == 1
