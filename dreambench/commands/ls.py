"""ls [GROUP|kinds|runs [FOLDER]] [--json] [--config-dir FOLDER]: what there is.

ls             every group with its options and what they are for
ls GROUP       the options of one group
ls kinds       question kinds, and which judges answer them
ls runs        runs in outputs/ (or FOLDER), the last worked on first
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, print_table, say, split_overrides
from dreambench.errors import ConfigError, Problem, nearest

HOW = (
    "choose: python -m dreambench GROUP=OPTION, or +experiment=OPTION; the keys of one: python -m dreambench show GROUP/OPTION"
)
IN_PROCESS = ("embedded", "embedded_semantic")


def ls(arguments: Sequence[str]) -> int:
    """Lists. Raises ConfigError for a group that there is not."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("ls", __doc__)
    parser.add_argument("what", metavar="WHAT", nargs="?", default="", help="a group, kinds, or runs")
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default="outputs", help="of runs (default outputs)")
    parser.add_json()
    given = parser.parse_args(others)
    if given.what == "runs":
        return _runs(Path(given.folder), given.json)
    if given.what == "kinds":
        return _kinds(given.json)
    groups = purposes(overrides)
    if given.what and given.what not in groups:
        near = nearest(given.what, [*groups, "kinds", "runs"])
        what = "there is no such group" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(
            Problem(given.what, what, [*groups, "kinds", "runs"], f"python -m dreambench ls {near}" if near else None)
        )
    chosen = {given.what: groups[given.what]} if given.what else groups
    if given.json:
        print_json(chosen)
    else:
        say(*option_lines(chosen), "", HOW)
    return Exit.DONE


def purposes(overrides: Sequence[str] = ()) -> dict[str, dict[str, str]]:
    """Groups, their options and what each is for; the user's folders (`--config-dir`) included."""
    from dreambench.commands.help import purpose
    from dreambench.config.compose import split_flags
    from dreambench.config.locations import bundled

    groups: dict[str, dict[str, str]] = {}
    for root in (bundled("conf"), *split_flags(overrides)[1]):
        for group in sorted(path for path in root.iterdir() if path.is_dir()):
            named = {option.stem: purpose(option) for option in sorted(group.glob("*.yaml"))}
            groups.setdefault(group.name, {}).update(named)
    return groups


def option_lines(groups: Mapping[str, Mapping[str, str]]) -> list[str]:
    """One line per option, under its group."""
    lines = []
    for group, options in groups.items():
        width = max((len(name) for name in options), default=0)
        lines.append(f"{'+' if group == 'experiment' else ''}{group}=")
        lines += [f"  {name:<{width}}  {text}" for name, text in options.items()]
    return lines


def _kinds(as_json: bool) -> int:
    import polars as pl

    from dreambench.judges.embedded.judge import find_answers
    from dreambench.judges.kinds import kind_names, load_kind

    packages = dict(zip(IN_PROCESS, ("dreambench.judges.embedded", "dreambench.judges.embedded.semantic"), strict=True))
    rows = []
    for kind in map(load_kind, sorted(kind_names())):
        answered = {name: "yes" if find_answers(package, kind.name) else "" for name, package in packages.items()}
        rows.append({"kind": kind.name, "litellm": "yes", **answered, "asks for": kind.purpose})
    if as_json:
        print_json(rows)
    else:
        print_table(pl.DataFrame(rows))
        say("litellm stands for every model; a panel answers what all its members do; a rubric's settings may narrow this")
    return Exit.DONE


def _runs(folder: Path, as_json: bool) -> int:
    import polars as pl

    from dreambench.reporting.finished import run_folders, run_line

    if not folder.is_dir():
        raise ConfigError(Problem(str(folder), "is no folder", ["a folder of runs"], "python -m dreambench ls runs FOLDER"))
    lines = [run_line(path) for path in run_folders(folder)]
    rows = [
        {
            "id": line.id,
            "run": line.path.name,
            "changed": datetime.fromtimestamp(line.changed, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "metrics": ",".join(line.metrics),
            "judges": ",".join(line.judges),
            "status": line.status + (f", {line.owed} owed" if line.owed else ""),
        }
        for line in lines
    ]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(pl.DataFrame(rows))
    else:
        say(f"no runs in {folder}")
    return Exit.DONE
