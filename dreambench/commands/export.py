"""export RUN --to inspect|parquet|mlflow|wandb [--out FOLDER|ADDRESS] [--replace]: a finished run in another form or place.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
parquet    the run's tables, judgments in parts, on any file system that fsspec knows (--out s3://bucket/run, gs://, hdfs://);
           verbs that read a run take that address or folder
mlflow     one MLflow run with scores and intervals, configuration, report page and tables: in FOLDER/mlflow.db, or where
           MLFLOW_TRACKING_URI says; what --replace replaces goes to MLflow's bin
wandb      one Weights & Biases run with the same: offline in FOLDER/wandb, to be sent with `wandb sync`, or as WANDB_MODE says

Nothing leaves this machine unless you have set one of these variables or named an address. Without --out it is written
below RUN. Nothing is overwritten: a place that holds something is refused; --replace replaces an earlier export of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from dreambench.reporting.finished import FinishedRun


def export(arguments: Sequence[str]) -> int:
    """Writes the files and says where.

    Raises ConfigError for an unknown format, a run no attempt of which has ended, a place that holds something.
    """
    parser = VerbParser("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default: below RUN); of parquet also an address")
    parser.add_argument("--replace", action="store_true", help="replace an earlier export of this run")
    given = parser.parse_args(list(arguments))
    if given.to not in FORMATS:
        near = nearest(given.to, FORMATS)
        what = f"{given.to} is no format to export to" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem("--to", what, list(FORMATS), f"--to {near}" if near else None))
    from dreambench.reporting.finished import open_run

    if given.out and "://" in given.out and given.to != "parquet":
        raise ConfigError(Problem("--out", f"{given.to} is written to a folder", ["a folder", "--to parquet"]))
    run = open_run(given.run)
    said = FORMATS[given.to](run, given.out, given.replace)
    if not run.summary["complete"]:
        marks = {
            "inspect": "the logs have the status cancelled",
            "parquet": "the summary says so",
            "mlflow": "it has the status FAILED",
            "wandb": "its tag says so",
        }
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed; {marks[given.to]}")
    say(said)
    return Exit.DONE


def _inspect(run: FinishedRun, out: str | None, replace: bool) -> str:
    from dreambench.reporting.inspect_log import write_inspect_logs

    folder = Path(out) if out else run.folder.root / "inspect"
    written = write_inspect_logs(run, folder, replace=replace)
    return f"wrote {len(written)} logs to {folder}; look at them: inspect view --log-dir {folder}"


def _parquet(run: FinishedRun, out: str | None, replace: bool) -> str:
    from dreambench.reporting.shards import PARTS, write_run

    where = out or str(run.folder.root / "parquet")
    written = write_run(run.folder, run.summary["run"], where, replace=replace)
    count = sum(f"/{PARTS}/" in path for path in written)
    return f"wrote {len(written)} files to {where}, judgments in {count} part{'s' * (count != 1)}"


def _mlflow(run: FinishedRun, out: str | None, replace: bool) -> str:
    from dreambench.reporting.mlflow_run import write_mlflow_run
    from dreambench.reporting.tracked import TrackedRun

    folder = Path(out) if out else run.folder.root / "mlflow"
    written = write_mlflow_run(TrackedRun(run), folder, replace=replace)
    again = f", {written.replaced} earlier deleted" * bool(written.replaced)
    if not written.where.startswith("sqlite:"):
        return f"logged as MLflow run {written.run} of experiment {written.experiment} at the tracking server{again}"
    look = f"mlflow ui --backend-store-uri sqlite:///{folder / 'mlflow.db'}"
    return f"logged as MLflow run {written.run} of experiment {written.experiment} in {folder}{again}; look at it: {look}"


def _wandb(run: FinishedRun, out: str | None, replace: bool) -> str:
    from dreambench.reporting.tracked import TrackedRun
    from dreambench.reporting.wandb_run import OFFLINE, write_wandb_run
    from dreambench.runs.execute import run_path

    mode, folder = write_wandb_run(TrackedRun(run), Path(out) if out else run.folder.root, replace=replace)
    return f"logged in {run_path(folder)} ({mode})" + (f"; send it: wandb sync {run_path(folder)}" if mode == OFFLINE else "")


FORMATS: Mapping[str, Callable[[FinishedRun, str | None, bool], str]] = {
    "inspect": _inspect,
    "parquet": _parquet,
    "mlflow": _mlflow,
    "wandb": _wandb,
}
