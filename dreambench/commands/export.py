"""export RUN --to inspect [--out FOLDER]: a finished run in the format of another tool.

inspect    one evaluation log (JSON) per agent and arm, for `inspect view` and its data frames: reports as samples, each metric
           and judge as a scorer, items and rationales in the scores' metadata, intervals as they were computed here
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

FORMATS = ("inspect",)


def export(arguments: Sequence[str]) -> int:
    """Writes the files and says where. Raises ConfigError for an unknown format or a run no attempt of which has ended."""
    parser = VerbParser("export", __doc__)
    parser.add_argument("run", metavar="RUN", help="a run's folder, its name below outputs/, or the start of its id")
    parser.add_argument("--to", metavar="FORMAT", required=True, help=", ".join(FORMATS))
    parser.add_argument("--out", metavar="FOLDER", help="where to write (default RUN/FORMAT)")
    given = parser.parse_args(list(arguments))
    if given.to not in FORMATS:
        near = nearest(given.to, FORMATS)
        what = f"{given.to} is no format to export to" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem("--to", what, FORMATS, f"--to {near}" if near else None))
    from dreambench.reporting.finished import open_run
    from dreambench.reporting.inspect_log import write_inspect_logs

    run = open_run(given.run)
    folder = Path(given.out) if given.out else run.folder.root / given.to
    written = write_inspect_logs(run, folder)
    if not run.summary["complete"]:
        say(f"INCOMPLETE: {run.summary['cells']['owed']} cells are owed; the logs have the status cancelled")
    say(f"wrote {len(written)} logs to {folder}; look at them: inspect view --log-dir {folder}")
    return Exit.DONE
