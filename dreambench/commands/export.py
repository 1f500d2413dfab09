<<<<<<< HEAD
"""export RUN --to inspect|parquet [--out FOLDER|ADDRESS]: a finished run in the format of another tool, or elsewhere.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
parquet    the run's tables, judgments in parts, on any file system that fsspec knows (--out s3://bucket/run, gs://, hdfs://);
           verbs that read a run read it from there by its address
=======
"""export RUN --to inspect|mlflow|wandb [--out FOLDER]: a finished run in the format of another tool.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
mlflow     one MLflow run with scores and intervals, configuration, report page and tables: in FOLDER/mlflow.db, or where
           MLFLOW_TRACKING_URI says; an earlier export of the same run goes to MLflow's bin
wandb      one Weights & Biases run with the same: offline in FOLDER/wandb, to be sent with `wandb sync`, or as WANDB_MODE says

Nothing leaves this machine unless you have set one of these variables. Without --out it is written below RUN.
>>>>>>> main
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
<<<<<<< HEAD
    from dreambench.reporting.finished import FinishedRun

FORMATS = ("inspect", "parquet")
=======
    from dreambench.reporting.study import StudyRun
>>>>>>> main


def export(arguments: Sequence[str]) -> int:
    """Writes the files and says where. Raises ConfigError for an unknown format or a run no attempt of which has ended."""
    parser = VerbParser("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
<<<<<<< HEAD
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default RUN/FORMAT); of parquet also an address")
    parser.add_argument("--rows", metavar="N", type=int, help="judgments in a part of parquet, at least (default 100000)")
=======
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default: below RUN)")
>>>>>>> main
    given = parser.parse_args(list(arguments))
    if given.to not in FORMATS:
        near = nearest(given.to, FORMATS)
        what = f"{given.to} is no format to export to" + (f"; did you mean {near}?" if near else "")
<<<<<<< HEAD
        raise ConfigError(Problem("--to", what, FORMATS, f"--to {near}" if near else None))
    if given.rows is not None and (given.rows < 1 or given.to != "parquet"):
        raise ConfigError(Problem("--rows", "is the least number of judgments in a part", ["1 and more, with --to parquet"]))
=======
        raise ConfigError(Problem("--to", what, list(FORMATS), f"--to {near}" if near else None))
>>>>>>> main
    from dreambench.reporting.finished import open_run

    run = open_run(given.run)
<<<<<<< HEAD
    if given.to == "parquet":
        return _parquet(run, given.out or str(run.folder.root / given.to), given.rows)
    if given.out and "://" in given.out:
        raise ConfigError(Problem("--out", "logs are written to a folder", ["a folder", "--to parquet"]))
    folder = Path(given.out) if given.out else run.folder.root / given.to
    written = write_inspect_logs(run, folder)
=======
    said = FORMATS[given.to](run, Path(given.out) if given.out else None)
>>>>>>> main
    if not run.summary["complete"]:
        marks = {
            "inspect": "the logs have the status cancelled",
            "mlflow": "it has the status FAILED",
            "wandb": "its tag says so",
        }
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed; {marks[given.to]}")
    say(said)
    return Exit.DONE


<<<<<<< HEAD
def _parquet(run: FinishedRun, where: str, rows: int | None) -> int:
    from dreambench.reporting.shards import PARTS, ROWS, write_run

    if not run.folder.journal.is_file():
        raise ConfigError(Problem(str(run.folder.root), "has no journal: it is a copy", ["the run's own folder"]))
    written = write_run(run.folder, run.summary["run"], where, rows or ROWS)
    if not run.summary["complete"]:
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed")
    count = sum(f"/{PARTS}/" in path for path in written)
    say(f"wrote {len(written)} files to {where}, judgments in {count} part{'s' * (count != 1)}")
    return Exit.DONE
=======
def _inspect(run: StudyRun, out: Path | None) -> str:
    from dreambench.reporting.inspect_log import write_inspect_logs

    folder = out or run.folder.root / "inspect"
    written = write_inspect_logs(run, folder)
    return f"wrote {len(written)} logs to {folder}; look at them: inspect view --log-dir {folder}"


def _mlflow(run: StudyRun, out: Path | None) -> str:
    from dreambench.reporting.mlflow_run import write_mlflow_run
    from dreambench.reporting.tracked import TrackedRun

    folder = out or run.folder.root / "mlflow"
    written = write_mlflow_run(TrackedRun(run), folder)
    again = f", {written.replaced} earlier deleted" * bool(written.replaced)
    if not written.where.startswith("sqlite:"):
        return f"logged as MLflow run {written.run} of experiment {written.experiment} at the tracking server{again}"
    look = f"mlflow ui --backend-store-uri sqlite:///{folder / 'mlflow.db'}"
    return f"logged as MLflow run {written.run} of experiment {written.experiment} in {folder}{again}; look at it: {look}"


def _wandb(run: StudyRun, out: Path | None) -> str:
    from dreambench.reporting.tracked import TrackedRun
    from dreambench.reporting.wandb_run import OFFLINE, write_wandb_run
    from dreambench.runs.execute import run_path

    mode, folder = write_wandb_run(TrackedRun(run), out or run.folder.root)
    return f"logged in {run_path(folder)} ({mode})" + (f"; send it: wandb sync {run_path(folder)}" if mode == OFFLINE else "")


FORMATS: Mapping[str, Callable[[StudyRun, Path | None], str]] = {"inspect": _inspect, "mlflow": _mlflow, "wandb": _wandb}
>>>>>>> main
