"""cache size|prune|export|import [paths.cache=FOLDER]: the answers that were bought, and what becomes of them.

cache size                           how many there are and how much room they take
cache prune --older-than DAYS        forgets answers stored before; a later run buys them again
cache export RUN FILE                the answers that a run rests on, in one file: with it the run is scored again without keys;
                                     from the cache that the run used, where paths.cache does not name another
cache import FILE                    adds the answers of such a file; what is there already stays as it is
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, say, split_overrides
from dreambench.errors import ConfigError, Problem

DEFAULT = Path(".dreambench/cache")
DAY = 86400.0
NAMED = {"size": "", "prune": "", "export": "RUN FILE", "import": "FILE"}
"""The verbs, and what each is given."""


def cache(arguments: Sequence[str]) -> int:
    """Carries out one of the verbs. Raises ConfigError for bad input, StoreError where the cache cannot be read."""
    overrides, others = split_overrides(arguments)
    folder = _folder(overrides) or DEFAULT
    parser = VerbParser("cache", __doc__)
    parser.add_argument("verb", metavar="size|prune|export|import", choices=list(NAMED), help="what to do")
    parser.add_argument("names", metavar="RUN|FILE", nargs="*", help="export RUN FILE, import FILE")
    parser.add_argument("--older-than", metavar="DAYS", type=float, help="of prune")
    parser.add_json()
    given = parser.parse_intermixed_args(others)
    wanted = NAMED[given.verb]
    if len(given.names) != len(wanted.split()) or (given.older_than is None) == (given.verb == "prune"):
        usage = {"prune": "--older-than 90"}.get(given.verb, wanted)
        what = f"takes {usage or 'nothing more'}"
        raise ConfigError(Problem(f"cache {given.verb}", what, type=f"python -m dreambench cache {given.verb} {usage}".strip()))
    if given.verb == "export":
        said = _export(_folder(overrides), given.names[0], Path(given.names[1]))
    elif given.verb == "import":
        said = _import(folder, Path(given.names[0]))
    elif given.verb == "prune":
        said = _prune(folder, given.older_than)
    else:
        said = _size(folder)
    if given.json:
        print_json(said)
    else:
        say(*(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}" for name, value in said.items()))
    return Exit.DONE


def _folder(overrides: Sequence[str]) -> Path | None:
    folder = None
    for override in overrides:
        key, _, value = override.partition("=")
        if key != "paths.cache":
            raise ConfigError(Problem(override, "is no key of cache", ["paths.cache"], "paths.cache=FOLDER"))
        folder = Path(value)
    return folder


def _size(folder: Path) -> dict[str, object]:
    from dreambench.engine.transfer import cache_size

    answers, size = cache_size(folder)
    return {"folder": str(folder), "answers": answers, "bytes": size}


def _prune(folder: Path, days: float) -> dict[str, object]:
    from dreambench.engine.transfer import prune

    if days <= 0:
        raise ConfigError(Problem("--older-than", f"{days:g} is no age", ["a number of days above 0"], "--older-than 90"))
    return {"folder": str(folder), "forgotten": prune(folder, time.time() - days * DAY)}


def _export(given: Path | None, run: str, file: Path) -> dict[str, object]:
    from dreambench.engine.transfer import export_answers
    from dreambench.reporting.finished import open_run, read_config

    opened = open_run(run)
    folder = given or Path(read_config(opened.folder).get("paths", {}).get("cache", DEFAULT))
    written, missing = export_answers(
        opened.calls["key"].unique(maintain_order=True).to_list(), [folder, opened.folder.answers], file
    )
    said: dict[str, object] = {"file": str(file), "answers": written}
    return {**said, "not stored (failed calls, or pruned)": missing} if missing else said


def _import(folder: Path, file: Path) -> dict[str, object]:
    from dreambench.engine.transfer import import_answers

    added, there, other = import_answers(file, folder)
    said: dict[str, object] = {"folder": str(folder), "added": added, "there already": there}
    return {**said, "there with another answer, kept": other} if other else said
