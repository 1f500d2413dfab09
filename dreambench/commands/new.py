"""new metric|judge|tool|perturbation|dataset|benchmark NAME [--to FOLDER]: working files of your own, to change.

A part is a class, an option in FOLDER/conf that names it, and a first test (FOLDER is my_parts unless --to says otherwise).
`new metric NAME --rubric` writes an option and a rubric to word, no Python. `--from OPTION` writes an option file alone,
started from another one of its group. `new benchmark NAME` writes tasks with criteria (--matrix: a matrix with reference
cells), example reports, the options and the experiment that run them, and a README that explains every field. Prints the
commands that test and use what was written. Nothing is overwritten.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.ls import purposes
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

TEMPLATES = Path(__file__).parent / "templates"
NAME = re.compile(r"[a-z][a-z0-9_]*")
_PLACEHOLDER = re.compile(r"my_parts/|my_parts|new_part|NewPart|New part")
OURS = "__init__.py"
"""Makes the folder importable; it is shared by all parts of a folder."""
COMMAND = "python -m dreambench"


@dataclass(frozen=True, slots=True)
class Part:
    """What people call a part: the groups that its options stand in, and the overrides that use it (`{}` is its name)."""

    groups: tuple[str, ...]
    use: tuple[str, ...]
    verb: tuple[str, ...] = ()


PARTS: Mapping[str, Part] = {
    "metric": Part(("metric",), ("metric=[{}]",)),
    "judge": Part(("judge",), ("judge=[{}]", "metric=[wq]")),
    "tool": Part(("tools",), ("tools={}",), ("tool", "to_kilometres", "26.2")),
    "perturbation": Part(("perturbation",), ("perturbation=[{}]", "metric=[length]")),
    "dataset": Part(("dataset",), ("dataset={}",)),
    "benchmark": Part(("dataset", "experiment"), ("+experiment={}",)),
}
SEVERAL = ("metric", "judge", "perturbation")
"""Groups whose options are nodes under their name."""


def new(arguments: Sequence[str]) -> int:
    """Writes the files. Raises ConfigError for a name that is taken or cannot be one, and for files that are there."""
    parser = VerbParser("new", __doc__)
    parser.add_argument("part", metavar="|".join(PARTS))
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _")
    parser.add_argument("--from", dest="start", metavar="OPTION", help="write an option alone, started from this one")
    parser.add_argument("--rubric", action="store_true", help="a metric that asks a rubric, without Python")
    parser.add_argument("--matrix", action="store_true", help="a benchmark of matrix tasks")
    parser.add_argument("--to", metavar="FOLDER", default="my_parts", help="of your own parts (default my_parts)")
    given = parser.parse_args(list(arguments))
    part = _part(given.part)
    _check_flags(given.part, rubric=given.rubric, matrix=given.matrix, start=given.start)
    folder = Path(given.to)
    known = purposes(["--config-dir", str(folder / "conf")] if (folder / "conf").is_dir() else [])
    _check(given.part, given.name, given.start, {option: None for group in part.groups for option in known[group]})
    if given.start:
        files = _option(part.groups[0], given.name, given.start)
    else:
        template = "rubric" if given.rubric else "matrix" if given.matrix else given.part
        if (TEMPLATES / template / OURS).is_file():
            _check_folder(folder)
        files = _from_template(template, given.name, folder)
    say(*(f"wrote {path}" for path in _write(folder, files)))
    say(*_next_steps(given.part, given.name, folder, files, matrix=given.matrix, started=bool(given.start)))
    return Exit.DONE


def _part(name: str) -> Part:
    if name not in PARTS:
        near = nearest(name, PARTS)
        what = "is no part that can be made" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(f"new {name}", what, list(PARTS), f"{COMMAND} new {near} NAME" if near else None))
    return PARTS[name]


def _check_flags(part: str, *, rubric: bool, matrix: bool, start: str | None) -> None:
    given = {"--rubric": (rubric, "metric"), "--matrix": (matrix, "benchmark")}
    for flag, (said, wanted) in given.items():
        if said and (part != wanted or start):
            raise ConfigError(Problem(flag, f"is for new {wanted} NAME without --from", type=f"new {wanted} NAME {flag}"))
    if start and part == "benchmark":
        raise ConfigError(
            Problem("--from", "a benchmark is started from none", type="new benchmark NAME or new dataset NAME --from")
        )


def _check(part: str, name: str, start: str | None, options: Collection[str]) -> None:
    if not NAME.fullmatch(name):
        raise ConfigError(Problem(f"new {part} {name}", "is no name", ["small letters, digits and _, a letter first"]))
    if name in options:
        raise ConfigError(Problem(f"new {part} {name}", "there is one of that name", ["another NAME"]))
    if start is not None and start not in options:
        near = nearest(start, options)
        what = "there is no such option" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(f"--from {start}", what, list(options), f"--from {near}" if near else None))


def _check_folder(folder: Path) -> None:
    """A folder with classes is imported by its name."""
    name = folder.resolve().name
    if not name.isidentifier():
        allowed, fitting = ["letters, digits and _, a letter first"], re.sub(r"\W", "_", name)
        raise ConfigError(Problem(f"--to {folder}", f"Python cannot import {name!r}", allowed, f"--to {fitting}"))


def _option(group: str, name: str, start: str) -> dict[str, str]:
    """The option `start` under another name, by which tables call what it makes."""
    from dreambench.config.locations import bundled

    text = (bundled("conf") / group / f"{start}.yaml").read_text(encoding="utf-8")
    if group in SEVERAL:
        text = re.sub(rf"^# @package {group}\.\w+$", f"# @package {group}.{name}", text, count=1, flags=re.MULTILINE)
    key = {"metric": "id", "dataset": "label"}.get(group)
    if key:
        text = re.sub(rf"^{key}: .*\n", "", text, flags=re.MULTILINE)
        text = re.sub(r"^(_target_: .*\n)", rf"\g<1>{key}: {name} # its name in tables\n", text, count=1, flags=re.MULTILINE)
    return {f"conf/{group}/{name}.yaml": text}


def _from_template(template: str, name: str, folder: Path) -> dict[str, str]:
    """The files of a template by their place below `folder`, with the user's names in them."""
    names = {
        "my_parts/": f"{folder.as_posix()}/",  # a path, as it was given
        "my_parts": folder.resolve().name,  # a package
        "new_part": name,
        "NewPart": "".join(word.capitalize() for word in name.split("_")),
        "New part": name.replace("_", " ").capitalize(),
    }

    def mine(text: str) -> str:
        return _PLACEHOLDER.sub(lambda found: names[found[0]], text)

    root = TEMPLATES / template
    paths = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {mine(path.relative_to(root).as_posix()): mine(path.read_text(encoding="utf-8")) for path in paths}


def _write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Writes what is not there and returns its paths. Raises ConfigError, and writes nothing, when one of the part is there."""
    texts = {folder / path: text for path, text in files.items() if path != OURS or not (folder / path).exists()}
    if there := [path for path in texts if path.exists()]:
        raise ConfigError(Problem(str(there[0]), "is there already", ["another NAME", "another --to FOLDER"]))
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)


def _next_steps(part: str, name: str, folder: Path, files: Mapping[str, str], *, matrix: bool, started: bool) -> list[str]:
    """What was checked, and the commands to type next."""
    conf = ["--config-dir", str(folder / "conf")]
    rubrics = [f"paths.rubrics=[{folder / 'rubrics'}]"] if any(path.startswith("rubrics/") for path in files) else []
    overrides = [word.format(name) for word in PARTS[part].use]
    if started:
        return [f"use it: {_line(*conf, *overrides[:1])}"]
    lines = [f"test it: python -m pytest {folder / path}" for path in files if path.startswith("test_")]
    if part == "benchmark":
        lines += [_checked([*conf, *overrides]), f"explained in {folder / name / 'README.md'}"]
        check = ["check-benchmark", "--pages"] if matrix else ["plan"]
        lines.append(f"check it again: {_line(*check, *conf, *overrides)}")
    return [*lines, f"use it: {_line(*PARTS[part].verb, *conf, *rubrics, *overrides)}"]


def _line(*words: str) -> str:
    return f"{COMMAND} {shlex.join(words)}"


def _checked(overrides: Sequence[str]) -> str:
    """Assembles the run that `overrides` describe, and says what is in it. Raises InputError when it does not fit together."""
    from dreambench.commands.verbs import configure
    from dreambench.engine.store import AnswerStore, CacheMode
    from dreambench.runs.assembly import assemble
    from dreambench.runs.rehearsal import PlanningGateway

    parts = assemble(configure(overrides), PlanningGateway(AnswerStore(CacheMode.REPLAY)))
    data, count = parts.dataset, len(parts.dataset.tasks)
    return (
        f"checked: {count} task{'s' * (count != 1)}, {len(data.reports)} reports of {', '.join(data.agents)}; "
        f"metric {', '.join(parts.metrics)}, judge {', '.join(parts.judges)}"
    )
