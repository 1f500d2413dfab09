"""view [RUN|FOLDER|ADDRESS] [--port N] [--host ADDRESS --allow-remote]: runs on disk in a browser, running ones included.

The list of runs, each run's report.html, and for a run that is being worked on its progress (cells, calls, tokens, money,
errors, the last finished cells), which refreshes itself. Changes nothing, loads nothing from elsewhere, and can be reached from
this machine only: --host with another address needs --allow-remote. Ctrl-C ends it. A run that was exported (--to parquet) is
fetched and shown as its tables say; what only a run's own folder has (errors, the last cells) is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem

MOST_PORTS = 65535


def view(arguments: Sequence[str]) -> int:
    """Serves until Ctrl-C. Raises ConfigError for no folder, an address others can reach, or one that cannot be had."""
    parser = VerbParser("view", __doc__)
    parser.add_argument("run", metavar="RUN|FOLDER", nargs="?", default="outputs", help="default: every run in outputs/")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (default 127.0.0.1)")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--allow-remote", action="store_true", help="let other machines read these runs")
    given = parser.parse_args(list(arguments))
    from dreambench.reporting.live.server import ViewServer, is_loopback, serve

    folder = _folder(given.run)
    if not 0 <= given.port <= MOST_PORTS:
        raise ConfigError(Problem("--port", f"is {given.port}", [f"0 (a free one) to {MOST_PORTS}"]))
    remote = not is_loopback(given.host)
    if remote and not given.allow_remote:
        raise ConfigError(_others_can_read(given.host, folder))
    host = "127.0.0.1" if given.host == "localhost" else given.host
    try:
        server = ViewServer(folder, host, given.port, _machine_names() if remote else ())
    except OSError as error:
        raise ConfigError(
            Problem("--host, --port", f"cannot listen at {given.host} port {given.port}: {error.strerror}")
        ) from error
    say(f"runs of {folder}: {server.url}  (Ctrl-C ends)")
    if not server.board.names():
        say("no run lies there yet: runs appear as they begin")
    if remote:
        say("other machines can read them too: without a password, unencrypted")
    sys.stdout.flush()
    try:
        serve(server)
    except KeyboardInterrupt:
        say("ended")
    return Exit.DONE


def _folder(where: str) -> Path:
    """What is served: a folder of runs, a run, or the fetched copy of an exported run, with a page made from its tables.

    Raises ConfigError for what is neither, and for a folder that holds exported runs only.
    """
    from dreambench.reporting.finished import exported_folders, find_run, run_folders
    from dreambench.reporting.page import write_page
    from dreambench.reporting.shards import is_exported

    folder = Path(where)
    if folder.is_dir() and not is_exported(folder):
        copies = [] if run_folders(folder) else exported_folders(folder)
        if copies:
            what = f"holds no run folder but {len(copies)} exported run{'s' * (len(copies) > 1)}: name one"
            raise ConfigError(Problem(where, what, [path.name for path in copies], f"python -m dreambench view {copies[0]}"))
        return folder
    run = find_run(where)
    if not run.journal.is_file():
        write_page(run)
    return run.root


def _others_can_read(host: str, folder: Path) -> Problem:
    what = (
        f"{host} can be reached from other machines: whoever reaches it can read every run in {folder}, reports, judgments and "
        "costs, without a password and unencrypted"
    )
    return Problem("--host", what, ["127.0.0.1", "::1", "localhost"], f"python -m dreambench view --host {host} --allow-remote")


def _machine_names() -> list[str]:
    import socket

    return [socket.gethostname()]
