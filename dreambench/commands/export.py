"""export RUN --to inspect|mlflow|wandb [--out FOLDER]: a finished run in the format of another tool.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
mlflow     one MLflow run with scores and intervals, configuration, report page and tables: in FOLDER/mlflow.db, or where
           MLFLOW_TRACKING_URI says; an earlier export of the same run goes to MLflow's bin
wandb      one Weights & Biases run with the same: offline in FOLDER/wandb, to be sent with `wandb sync`, or as WANDB_MODE says

Nothing leaves this machine unless you have set one of these variables. Without --out it is written below RUN.
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
    """Writes the files and says where. Raises ConfigError for an unknown format or a run no attempt of which has ended."""
    parser = VerbParser("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default: below RUN)")
    given = parser.parse_args(list(arguments))
    if given.to not in FORMATS:
        near = nearest(given.to, FORMATS)
        what = f"{given.to} is no format to export to" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem("--to", what, list(FORMATS), f"--to {near}" if near else None))
    from dreambench.reporting.finished import open_run

    run = open_run(given.run)
    said = FORMATS[given.to](run, Path(given.out) if given.out else None)
    if not run.summary["complete"]:
        marks = {
            "inspect": "the logs have the status cancelled",
            "mlflow": "it has the status FAILED",
            "wandb": "its tag says so",
        }
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed; {marks[given.to]}")
    say(said)
    return Exit.DONE


def _inspect(run: FinishedRun, out: Path | None) -> str:
    from dreambench.reporting.inspect_log import write_inspect_logs

    folder = out or run.folder.root / "inspect"
    written = write_inspect_logs(run, folder)
    return f"wrote {len(written)} logs to {folder}; look at them: inspect view --log-dir {folder}"


def _mlflow(run: FinishedRun, out: Path | None) -> str:
    from dreambench.reporting.mlflow_run import write_mlflow_run
    from dreambench.reporting.tracked import TrackedRun

    folder = out or run.folder.root / "mlflow"
    written = write_mlflow_run(TrackedRun(run), folder)
    again = f", {written.replaced} earlier deleted" * bool(written.replaced)
    if not written.where.startswith("sqlite:"):
        return f"logged as MLflow run {written.run} of experiment {written.experiment} at the tracking server{again}"
    look = f"mlflow ui --backend-store-uri sqlite:///{folder / 'mlflow.db'}"
    return f"logged as MLflow run {written.run} of experiment {written.experiment} in {folder}{again}; look at it: {look}"


def _wandb(run: FinishedRun, out: Path | None) -> str:
    from dreambench.reporting.tracked import TrackedRun
    from dreambench.reporting.wandb_run import OFFLINE, write_wandb_run
    from dreambench.runs.execute import run_path

    mode, folder = write_wandb_run(TrackedRun(run), out or run.folder.root)
    return f"logged in {run_path(folder)} ({mode})" + (f"; send it: wandb sync {run_path(folder)}" if mode == OFFLINE else "")


FORMATS: Mapping[str, Callable[[FinishedRun, Path | None], str]] = {"inspect": _inspect, "mlflow": _mlflow, "wandb": _wandb}
