"""The structure of a report is taken apart beside the event loop, once, and only for metrics that look at it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreambench import metrics
from dreambench.documents import Document, parse_document
from dreambench.metrics import metric
from tests.apps.command import ROOT, dreambench

SLICE = ROOT / "tests" / "data" / "drb_slice"
DATA = ["dataset=drb", f"dataset.reports={SLICE}", f"dataset.queries={SLICE / 'query.jsonl'}", "dataset.agents=gpt-5"]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The thread of every report whose structure was asked for."""
    threads: list[str] = []

    def noted(text: str) -> Document:
        threads.append(threading.current_thread().name)
        return parse_document(text)

    monkeypatch.setattr(metric, "parse_document", noted)
    return threads


@pytest.mark.parametrize(("asked", "times"), [("wq", 0), ("length", 3), ("wq,length,citations", 3)])
def test_reports_are_taken_apart_once_and_only_where_it_is_needed(
    tmp_path: Path, parsed: list[str], asked: str, times: int
) -> None:
    ran = dreambench(*DATA, f"metric=[{asked}]", cwd=tmp_path)
    assert ran.code == 0, ran.err
    assert len(parsed) == times
    assert all(name.startswith("compute") for name in parsed), "the event loop must not wait for a parser"


def classes() -> Iterator[type[metric.Metric]]:
    for module in pkgutil.walk_packages(metrics.__path__, f"{metrics.__name__}."):
        for _, found in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(found, metric.Metric) and found.__module__ == module.name:
                yield found


def test_metrics_that_say_so_do_not_look_at_the_structure() -> None:
    blind = [found for found in classes() if not found.reads_document]
    assert {"RubricMetric", "KeyInformationCoverage", "ReasoningQuality"} <= {found.__name__ for found in blind}
    for found in blind:
        assert ".document" not in inspect.getsource(inspect.getmodule(found)).replace("dreambench.documents", ""), found
