"""The pytest fixture `dreambench`: evaluates what an agent wrote and fails the test, readably, where it is not good enough.

pytest finds it by itself where dreambench is installed; from a checkout: `pytest -p dreambench.pytest_plugin`. Overrides that
all tests share stand in pytest's configuration:

    [tool.pytest.ini_options]
    dreambench_overrides = ["judge=claude_sonnet_5_5", "cache.mode=replay", "paths.cache=tests/answers"]

Nothing of dreambench is imported before a test asks for it.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dreambench.api import Evaluation

SHARED = "dreambench_overrides"
SHOWN = 5
"""Findings that a failure spells out; the page has all."""
WIDTH = 100
"""Characters of a report's words in a failure."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What the fixture gives. Runs lie in `outputs`, a folder of the test's own, so that a failure's page can be opened."""

    shared: Sequence[str]
    outputs: Path

    def __call__(
        self,
        report: str | Path,
        query: str = "",
        overrides: Sequence[str] = (),
        *,
        at_least: Mapping[str, float] | None = None,
        at_most: Mapping[str, float] | None = None,
        judge: str | None = None,
        as_of: date | str | None = None,
        config_dirs: Sequence[Path | str] = (),
    ) -> Evaluation:
        """Evaluates one report (`dreambench.evaluate`) and holds its scores against the bounds.

        Bounds are by `METRIC` (its primary variant) or `METRIC.VARIANT`, shares in [0, 1]; `judge` says whose where several
        judge. Fails the test when a bound is missed, when there is no value, or when something could not be judged.
        """
        __tracebackhide__ = True
        from dreambench.api import evaluate

        lines = [*self.shared, *overrides]
        result = evaluate(report, query, lines, as_of=as_of, outputs=self.outputs, config_dirs=config_dirs)
        bounds = [*_bounds(at_least, ">="), *_bounds(at_most, "<=")]
        said = [_held(result, judge, *bound) for bound in bounds]
        missed = [line for line, kept in said if not kept]
        if missed or not result.complete:
            what = f"{len(missed)} of {len(said)} bounds missed" if missed else "not everything could be judged"
            unfinished = [] if result.complete else ["some items could not be judged; the notes say why"]
            lines = [f"dreambench: {what}", *(line for line, _ in said), *unfinished, *_speaks_against(result)]
            pytest.fail("\n".join([*lines, f"page: {result.page}"]), pytrace=False)
        return result

    def run(self, overrides: Sequence[str]) -> Path:
        """Makes a whole run, as on the command line, and returns its folder: many tasks, thresholds on lower bounds.

        Fails the test when a threshold (`metric.wq.threshold=0.6`) is not reached, when the run is not complete, or when it
        could not start.
        """
        __tracebackhide__ = True
        from dreambench.commands.exits import Exit
        from dreambench.commands.main import main_code

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main_code([f"paths.outputs={self.outputs}", *self.shared, *overrides])
        lines = out.getvalue().splitlines()
        if code != Exit.DONE:
            starts = ("threshold FAILED", "INCOMPLETE", "page:")
            told = [line for start in starts for line in lines if line.startswith(start)]
            said = [f"dreambench: {Exit(code).name.lower()}", *told, *err.getvalue().splitlines()]
            pytest.fail("\n".join(said), pytrace=False)
        return Path(next(line.removeprefix("written to ") for line in lines if line.startswith("written to ")))


def pytest_addoption(parser: pytest.Parser) -> None:
    """One setting: what all evaluations of a test suite share."""
    parser.addini(SHARED, "overrides of every evaluation by the fixture dreambench", type="linelist", default=[])


@pytest.fixture
def dreambench(request: pytest.FixtureRequest, tmp_path: Path) -> Gate:
    """`dreambench(report, query, overrides, at_least={"citations": 0.5})`; `dreambench.run(overrides)` for a whole run."""
    return Gate(request.config.getini(SHARED), tmp_path / "dreambench")


def _bounds(bounds: Mapping[str, float] | None, sign: str) -> Iterator[tuple[str, str, float]]:
    yield from ((name, sign, bound) for name, bound in (bounds or {}).items())


def _held(result: Evaluation, judge: str | None, name: str, sign: str, bound: float) -> tuple[str, bool]:
    """A line about one bound, and whether it holds. Raises ConfigError for a score that there is not."""
    metric, _, variant = name.partition(".")
    value = result.score(metric, variant or None, judge)
    kept = value is not None and (value >= bound if sign == ">=" else value <= bound)
    shown = "no value" if value is None else f"{value:.4g}"
    return f"  {'ok    ' if kept else 'FAILED'}  {name} is {shown}, wanted {sign} {bound:g}", kept


def _speaks_against(result: Evaluation) -> Iterator[str]:
    """The worst findings with the report's words, then the notes."""
    found = result.findings
    if found.height:
        yield "what speaks against the report, worst first:"
    for row in found.head(SHOWN).iter_rows(named=True):
        words = " ".join((row["words"] or "").split())
        quoted = f': "{words[:WIDTH]}{"..." if len(words) > WIDTH else ""}"' if words else ""
        yield f"  {row['metric']} {row['label'] or row['reason_code']}{quoted}"
    if found.height > SHOWN:
        yield f"  and {found.height - SHOWN} more"
    yield from (f"note: {note}" for note in result.notes)
