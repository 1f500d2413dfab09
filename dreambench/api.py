"""One report scored from Python: `evaluate(report, query)` composes the usual configuration and makes a usual run.

The report becomes a file of `dataset=reports`; everything else is said by the same overrides as on the command line, so
what is true of a run (cache, budget, resumption, findings) is true here. `aevaluate` is the same inside an event loop.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
import weakref
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from dreambench.errors import CacheMissError, ConfigError, DocumentError, Problem, ProviderError
from dreambench.records import Judgment, short_hash

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from dreambench.config.schema import RunConfig
    from dreambench.engine.call import CallRecord
    from dreambench.engine.cell import Cell
    from dreambench.engine.clock import Clock
    from dreambench.reporting.page.data import PageData
    from dreambench.runs.execute import RunResult

TASK = "report"
"""Name of the report's file, and so of its task."""
SUFFIXES = (".md", ".pdf", ".html", ".docx", ".txt")
"""How a text ends that is one word and no report, but the name of one."""
WIDTH = 160
"""Columns of the display in a notebook."""
_COMPOSING = threading.Lock()  # Hydra keeps its state in one global


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a run found of one report. All values are shares in [0, 1], or counts (`unit`), as in the parquet files."""

    scores: pl.DataFrame
    """`scores.parquet`: one row per judge, metric and variant; one report alone has no interval."""
    judgments: pl.DataFrame
    """`judgments.parquet`: one row per judged item."""
    findings: pl.DataFrame
    """Judgments that speak against the report, worst first (`severity` 4 to 1), with the `words` of the report."""
    notes: tuple[str, ...]
    """What must be known beside the numbers: of the judges, the text, the run."""
    complete: bool
    """Whether every item was judged; when not, the same call again goes on."""
    page: Path
    """The run's `report.html`. In a temporary folder it lives as long as this object."""

    def score(self, metric: str, variant: str | None = None, judge: str | None = None) -> float | None:
        """One value, by default of the primary variant; None where the metric does not apply.

        Raises ConfigError when nothing, or more than one thing (judges, rubrics, changed texts), goes by these names.
        """
        wanted = pl.col("primary") if variant is None else pl.col("variant") == variant
        macro = self.scores.filter(pl.col("aggregation") == "macro")
        rows = macro.filter(pl.col("metric") == metric, wanted, (pl.col("judge") == judge) if judge else pl.lit(True))
        if rows.height != 1:
            what = "no score goes by this name" if rows.is_empty() else f"{rows.height} scores go by this name"
            names = macro.select(pl.format("{} {} by {}", "metric", "variant", "judge")).to_series().unique().sort().to_list()
            raise ConfigError(Problem(" ".join(filter(None, [metric, variant, judge])), what, names))
        value: float | None = rows["value"].item()
        return value

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        from dreambench.reporting.tables import excluded_lines, score_tables, undecided_lines

        yield from score_tables(self.scores)
        unfinished = [] if self.complete else ["INCOMPLETE: some items are not judged; the same call again goes on"]
        for note in [*unfinished, *undecided_lines(self.scores), *excluded_lines(self.scores), *self.notes]:
            yield Text(note)
        yield Text(f"findings: {self.findings.height}, judgments: {self.judgments.height}, page: {self.page}")

    def _repr_html_(self) -> str:
        """The same display as HTML, for notebooks; every text is escaped."""
        import io

        from rich.console import Console

        console = Console(file=io.StringIO(), record=True, width=WIDTH, color_system=None)
        console.print(self)
        return console.export_html(inline_styles=True, code_format='<pre style="line-height:1.2">{code}</pre>')


def evaluate(
    report: str | Path,
    query: str = "",
    overrides: Sequence[str] = (),
    *,
    as_of: date | str | None = None,
    agent: str = "report",
    outputs: Path | str | None = None,
    config_dirs: Sequence[Path | str] = (),
) -> Evaluation:
    """Scores `report` (a text, or the Path of a markdown, HTML, PDF or DOCX file), an answer to `query`.

    Returns when it is done; where an event loop is running already (a notebook) that loop waits meanwhile.
    `overrides` are those of the command line (`["metric=[wq,ci]", "judge=claude_sonnet_5_5"]`), `as_of` is the date by
    which the report is judged, `outputs` keeps the run (default: a temporary folder), `config_dirs` hold options of your
    own. A budget that is reached gives what there is, with `complete` False. Raises InputError before anything is spent,
    ProviderError when a provider refuses every call (a wrong key), CacheMissError in `cache.mode=replay`, and
    KeyboardInterrupt once what was in flight is stored.
    """
    work = aevaluate(report, query, overrides, as_of=as_of, agent=agent, outputs=outputs, config_dirs=config_dirs)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_thread(work)


async def aevaluate(
    report: str | Path,
    query: str = "",
    overrides: Sequence[str] = (),
    *,
    as_of: date | str | None = None,
    agent: str = "report",
    outputs: Path | str | None = None,
    config_dirs: Sequence[Path | str] = (),
) -> Evaluation:
    """`evaluate` for code that runs in an event loop: many reports can be in flight at once."""
    from dreambench.engine.clock import Clock
    from dreambench.runs.execute import execute

    _check_arguments(report, overrides)
    folder = Path(outputs) if outputs is not None else Path(tempfile.mkdtemp(prefix="dreambench-"))
    try:
        clock = Clock()
        config, text = _configure(report, query, [*overrides], as_of, agent, folder, config_dirs, clock)
        result = await execute(config, text, _Quiet, clock)
        _raise_what_stopped(result)
        found = await asyncio.to_thread(_evaluation, result)
    except BaseException:  # interrupted too: a folder that nobody asked for is not left behind
        if outputs is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    if outputs is None:
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _check_arguments(report: str | Path, overrides: Sequence[str]) -> None:
    """Raises ConfigError for a path given as text, whose letters would be judged, and for overrides in one string."""
    if isinstance(overrides, str):
        raise ConfigError(
            Problem("overrides", "one string; a list of strings is needed", type=f"evaluate(..., [{overrides!r}])")
        )
    if not isinstance(report, str) or len(report.splitlines()) != 1:
        return
    if _is_file(report) or (report.lower().endswith(SUFFIXES) and len(report.split()) == 1):
        what = "a text is judged as it is, and this one is the name of a file"
        raise ConfigError(Problem("report", what, type=f"evaluate(Path({report!r}), ...)"))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # no file has such a name: too long, or no text of this system
        return False


class _Quiet:
    """A run without a progress bar."""

    def __init__(self, **_: object) -> None:
        pass

    def call_recorded(self, record: CallRecord) -> None:
        pass

    def cell_finished(self, cell: Cell, judgments: Sequence[Judgment]) -> None:
        pass

    def stopping(self, why: str) -> None:
        pass

    def note(self, line: str) -> None:
        pass

    def close(self) -> None:
        pass


def _configure(
    report: str | Path,
    query: str,
    overrides: list[str],
    as_of: date | str | None,
    agent: str,
    folder: Path,
    config_dirs: Sequence[Path | str],
    clock: Clock,
) -> tuple[RunConfig, str]:
    """The validated configuration and its text. Raises ConfigError in the words of the command line."""
    import yaml
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from dreambench.config.compose import compose
    from dreambench.config.explain import explain
    from dreambench.runs.assembly import validate

    if taken := [override for override in overrides if override.lstrip("+~").startswith(("dataset=", "dataset.reports="))]:
        what = "the data set of evaluate() is the report that it is given"
        raise ConfigError(Problem(taken[0], what, type="python -m dreambench dataset=... for reports in files"))
    lines = ["dataset=reports", *([f"as_of={as_of}"] if as_of else []), *overrides]
    try:
        with _COMPOSING:
            composed = compose(lines, [Path(config_dir) for config_dir in config_dirs])
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(Problem("overrides", str(explain(error, lines)))) from error
    config = validate(composed, clock)
    source = {
        "reports": str(report if isinstance(report, Path) else _written(report, agent, folder)),
        "query": query,
        "agent": agent,
    }
    shown: Any = OmegaConf.to_container(composed, resolve=True)
    shown["dataset"] |= source
    shown["paths"]["outputs"] = str(folder)
    update = {"dataset": {**config.dataset, **source}, "paths": config.paths.model_copy(update={"outputs": folder})}
    return config.model_copy(update=update), yaml.safe_dump(shown, sort_keys=False, allow_unicode=True)


def _written(report: str, agent: str, folder: Path) -> Path:
    """The report as a file of the folder, under its content's name. Raises DocumentError for text that is no Unicode."""
    inputs = folder / "inputs"
    home = inputs / short_hash(agent, report)
    try:
        data = report.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DocumentError(Problem("report", f"holds a lone surrogate at character {error.start}")) from error
    inputs.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.mkdir(exist_ok=True)
    path = home / f"{TASK}.md"
    path.write_bytes(data)
    return path


def _raise_what_stopped(result: RunResult) -> None:
    if result.outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if isinstance(result.outcome.stop_error, ProviderError | CacheMissError):
        raise result.outcome.stop_error


def _evaluation(result: RunResult) -> Evaluation:
    from dreambench.reporting.page import write_page
    from dreambench.reporting.page.data import PageData

    judges = [f"{name}: {judge.note}" for name, judge in result.parts.judges.items() if judge.note]
    stopped = [result.outcome.stopped] if result.outcome.stopped else []
    page = write_page(result.folder)
    return Evaluation(
        scores=result.tables["scores"],
        judgments=result.tables["judgments"],
        findings=_findings(PageData(result.folder)),
        notes=(*stopped, *judges, *result.findings),
        complete=result.outcome.complete,
        page=page,
    )


def _findings(data: PageData) -> pl.DataFrame:
    """What the page lists first, as a table: the same judgments in the same order."""
    texts = data.texts.select("number", "text")
    words = pl.col("text").str.slice(pl.col("report_start"), pl.col("report_end") - pl.col("report_start"))
    return (
        data.numbered.filter(pl.col("severity") > 0)
        .join(texts, on="number", maintain_order="left")
        .sort("severity", descending=True, maintain_order=True)
        .select("severity", "metric", "judge", "label", "reason_code", words.alias("words"), "rationale", "evidence", "item")
    )


def _in_thread(work: Coroutine[Any, Any, Evaluation]) -> Evaluation:
    """Runs `work` in an event loop of its own beside the one that is running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
