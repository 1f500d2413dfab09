"""`python -m dreambench protocol create|show|check`: make protocols ahead of a run, read them, check and sign them.

create [--out FOLDER] [--part kic|rq] [OVERRIDE ...]    one file per task of the data set, as a run would make it
show FILE ...                                           a protocol as people read it
check FILE ... [--by NAME --note WHY] [--pages] [OVERRIDE ...]
                                                        is it valid; signs edits by hand; looks up its quotes on their pages
check dataset=NAME [OVERRIDE ...]                       the same for protocols that a data set brings along, with their pages
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.help import verb_wants_help
from dreambench.commands.verbs import configure, open_gateway, say
from dreambench.errors import ConfigError, InputError, Problem, nearest

USAGE = "python -m dreambench protocol create|show|check ..."
VALUED = {"create": ("--out", "--part"), "show": (), "check": ("--by", "--note")}
FLAGS = {"create": (), "show": (), "check": ("--pages",)}


@dataclass(slots=True)
class Line:
    """A taken-apart command line."""

    verb: str
    values: dict[str, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    overrides: list[str] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


def protocol(arguments: Sequence[str]) -> int:
    """Carries out one of the verbs; returns the exit code. Raises InputError, and what creation raises."""
    if verb_wants_help(arguments):
        say((__doc__ or "").strip())
        return Exit.DONE
    line = _take_apart(arguments)
    return {"create": _create, "show": _show, "check": _check}[line.verb](line)


def _take_apart(arguments: Sequence[str]) -> Line:
    words = list(arguments)
    verb = words.pop(0) if words else ""
    if verb not in VALUED:
        near = nearest(verb, VALUED)
        what = f"there is no protocol {verb}" if verb else "says not what to do"
        what += f"; did you mean {near}?" if near else ""
        raise ConfigError(Problem(f"protocol {verb}".strip(), what, list(VALUED), USAGE))
    line = Line(verb)
    while words:
        _take(words, line)
    if verb == "check" and not line.paths and any(word.startswith("dataset=") for word in line.overrides):
        line.paths = _brought_along(line)
        line.flags.add("--pages")
    if verb != "create" and not line.paths:
        raise ConfigError(Problem(f"protocol {verb}", "names no file", type=f"python -m dreambench protocol {verb} FILE"))
    return line


def _take(words: list[str], line: Line) -> None:
    """Moves the first of the words, with its value where it has one, into the line. Raises ConfigError."""
    word = words.pop(0)
    name, equals, text = word.partition("=")
    if name in VALUED[line.verb]:
        if not equals and not words:
            raise ConfigError(Problem(word, "has no value", type=f"{word} VALUE"))
        line.values[name] = text if equals else words.pop(0)
    elif word in FLAGS[line.verb]:
        line.flags.add(word)
    elif name in ("--config-dir", "-cd"):
        line.overrides.append(word)
        if not equals:
            line.overrides += words[:1]
            del words[:1]
    elif word.startswith("--"):
        known = [*VALUED[line.verb], *FLAGS[line.verb]]
        raise ConfigError(Problem(word, f"is no option of protocol {line.verb}", known or ["no options"]))
    elif equals or line.verb == "create":
        line.overrides.append(word)
    else:
        line.paths.append(Path(word))


def _brought_along(line: Line) -> list[Path]:
    """The folder of protocols that the data set of the overrides brings along. Raises ConfigError when it brings none."""
    from dreambench.commands.verbs import configure
    from dreambench.config.nodes import build

    folder: Path | None = getattr(build("dataset", configure(line.overrides).dataset), "protocols", None)
    if folder is None or not folder.is_dir():
        raise ConfigError(Problem("dataset", "brings no protocols along", type="python -m dreambench protocol check FILE"))
    return [folder]


def _show(line: Line) -> int:
    from dreambench.protocols.files import protocol_files, read_protocol
    from dreambench.protocols.text import as_text

    texts = [as_text(read_protocol(file, accept_edits=True)) for path in line.paths for file in protocol_files(path)]
    sys.stdout.write("\n".join(texts))
    return Exit.DONE


def _check(line: Line) -> int:
    from dreambench.engine.clock import Clock
    from dreambench.protocols.files import protocol_files, read_protocol, sign_edit
    from dreambench.protocols.text import summary

    if ("--by" in line.values) != ("--note" in line.values):
        raise ConfigError(
            Problem("protocol check", "an edit is signed with a name and a reason", type='--by NAME --note "WHY"')
        )
    problems: list[Problem] = []
    checked = []
    for file in (file for path in line.paths for file in protocol_files(path)):
        try:
            if "--by" in line.values:
                sign_edit(file, by=line.values["--by"], note=line.values["--note"], on=Clock().today())
            read = read_protocol(file)
        except InputError as error:
            problems.extend(error.problems)
            continue
        checked.append((file, read))
        sys.stdout.write(f"{file}: {summary(read)}\n")
    if "--pages" in line.flags:
        problems.extend(asyncio.run(_look_up(line, checked)))
    if problems:
        raise InputError(*problems)
    return Exit.DONE


async def _look_up(line: Line, checked: Sequence[tuple[Path, object]]) -> list[Problem]:
    """The facts whose words do not stand on the page that they name, seen with the tools of the overrides."""
    from dreambench.config.nodes import build
    from dreambench.protocols.model import Protocol
    from dreambench.protocols.pages import misquoted
    from dreambench.runs.assembly import build_tools

    config = configure(line.overrides)
    problems: list[Problem] = []
    with open_gateway(config) as gateway:
        tools = build_tools(config, gateway, build("dataset", config.dataset))
        try:
            for file, read in checked:
                assert isinstance(read, Protocol)
                problems += [Problem(f"{file}:kic.{number}.quote", why) for number, why in await misquoted(read, tools)]
        finally:
            await tools.close()
    return problems


def _create(line: Line) -> int:
    part = line.values.get("--part")
    if part not in (None, "kic", "rq"):
        raise ConfigError(Problem(f"--part {part}", "is no part of a protocol", ["kic", "rq"]))
    config = configure(line.overrides)
    out = Path(line.values.get("--out", "protocols"))
    made = asyncio.run(_make(config, out, [part] if part else ["kic", "rq"]))
    for path, text in made:
        sys.stdout.write(f"{path}: {text}\n")
    return Exit.DONE


async def _make(config: object, out: Path, parts: Sequence[str]) -> list[tuple[Path, str]]:
    """One protocol per task in `out`. What could be made is kept when another task's could not."""
    from dreambench.config.locations import bundled
    from dreambench.config.nodes import build
    from dreambench.config.schema import RunConfig
    from dreambench.evaluators.agent_trajectory import Trajectories
    from dreambench.judges.rubric import RubricShelf
    from dreambench.protocols.files import file_name
    from dreambench.protocols.text import summary
    from dreambench.runs.assembly import build_judges, build_protocols, build_tools

    assert isinstance(config, RunConfig)
    with open_gateway(config) as gateway:
        loader = build("dataset", config.dataset)
        tools = build_tools(config, gateway, loader)
        trajectories = Trajectories()
        shelf = RubricShelf([*config.paths.rubrics, bundled("rubrics")])
        source = build_protocols(config, loader, shelf, tools, trajectories)
        for part in parts:
            source.want(part)  # type: ignore[arg-type]
        judges = build_judges(config.judge, gateway)
        tasks = loader.load(config.run_date).tasks
        source.assign(judges)
        source.expect(tasks)
        if problems := [*source.problems(tasks), *(one for judge in judges.values() for one in judge.needs())]:
            raise InputError(*problems)
        source.open(out, config.paths.cache / "protocols", config.cache.mode)
        trajectories.open(out)
        executing = next(iter(judges.values()))
        try:
            found = await asyncio.gather(*(source.get(task, executing) for task in tasks), return_exceptions=True)
        finally:
            await source.close()
            await tools.close()
            for judge in judges.values():
                await judge.close()
    for result in found:
        if isinstance(result, BaseException):
            raise result
    given = [(task, one) for task, one in zip(tasks, found, strict=True) if one and not isinstance(one, BaseException)]
    return [(out / file_name(task.id, one), summary(one)) for task, one in given]
