"""export RUN --to inspect|parquet [--out FOLDER|ADDRESS]: a finished run in the format of another tool, or elsewhere.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
parquet    the run's tables, judgments in parts, on any file system that fsspec knows (--out s3://bucket/run, gs://, hdfs://);
           verbs that read a run read it from there by its address
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from dreambench.reporting.finished import FinishedRun

FORMATS = ("inspect", "parquet")


def export(arguments: Sequence[str]) -> int:
    """Writes the files and says where. Raises ConfigError for an unknown format or a run no attempt of which has ended."""
    parser = VerbParser("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default RUN/FORMAT); of parquet also an address")
    parser.add_argument("--rows", metavar="N", type=int, help="judgments in a part of parquet, at least (default 100000)")
    given = parser.parse_args(list(arguments))
    if given.to not in FORMATS:
        near = nearest(given.to, FORMATS)
        what = f"{given.to} is no format to export to" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem("--to", what, FORMATS, f"--to {near}" if near else None))
    if given.rows is not None and (given.rows < 1 or given.to != "parquet"):
        raise ConfigError(Problem("--rows", "is the least number of judgments in a part", ["1 and more, with --to parquet"]))
    from dreambench.reporting.finished import open_run
    from dreambench.reporting.inspect_log import write_inspect_logs

    run = open_run(given.run)
    if given.to == "parquet":
        return _parquet(run, given.out or str(run.folder.root / given.to), given.rows)
    if given.out and "://" in given.out:
        raise ConfigError(Problem("--out", "logs are written to a folder", ["a folder", "--to parquet"]))
    folder = Path(given.out) if given.out else run.folder.root / given.to
    written = write_inspect_logs(run, folder)
    if not run.summary["complete"]:
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed; the logs have the status cancelled")
    say(f"wrote {len(written)} logs to {folder}; look at them: inspect view --log-dir {folder}")
    return Exit.DONE


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
