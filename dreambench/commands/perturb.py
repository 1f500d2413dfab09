"""perturb REPORT perturbation=KIND [KEY=VALUE ...] [-o OUT] [--query QUERY] [--json]: one report, changed on purpose.

Writes the changed report of every arm and shows its edits. `judge=...` names the author for `author=llm`, `tools=corpus
tools.path=...` the dated pages for `outdated_cutoff`, `as_of=...` and `--query ...` the task's date and question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser
from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    from dreambench.judges.judge import Judge
    from dreambench.perturbations import Perturbation, Perturbed
    from dreambench.records import Task

GROUPS = ("perturbation", "judge", "tools", "paths", "cache", "engine")
EXAMPLE = "python -m dreambench perturb REPORT perturbation=factual_injection perturbation.factual_injection.dose=.5"
_AROUND = 40
_LONG = 300


def perturb(arguments: Sequence[str]) -> int:
    """Perturbs one report; returns the exit code. Raises InputError and what Hydra and the author raise."""
    given = _parser().parse_intermixed_args(list(arguments))
    config = _compose(given.overrides)
    if not config.get("perturbation"):
        from dreambench.config.explain import group_options

        raise ConfigError(Problem("perturb", "needs a perturbation", group_options().get("perturbation", []), EXAMPLE))
    return asyncio.run(_perturb(given, config))


def _parser() -> VerbParser:
    parser = VerbParser("perturb", __doc__)
    parser.add_argument("report", metavar="REPORT", help="a report file (markdown, text, HTML, PDF, DOCX)")
    parser.add_argument("overrides", metavar="OVERRIDE", nargs="*", help="perturbation=..., judge=..., tools=..., as_of=...")
    parser.add_argument("-o", "--output", metavar="OUT", help="a file for one arm, a folder for several; - for stdout")
    parser.add_argument("--query", default="", help="the question that the report answers")
    parser.add_argument("--json", action="store_true", help="print the logs as JSON instead of a diff")
    return parser


def _compose(overrides: Sequence[str]) -> dict[str, Any]:
    """The groups that this verb needs, without the rest of a run's configuration. Raises ConfigError."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from dreambench.config.explain import explain

    try:
        return _composed(overrides)
    except (HydraException, OmegaConfBaseException) as error:
        if found := re.search(r"Could not override '([^']+)'", str(error)):
            raise ConfigError(_unknown_key(found[1], overrides)) from error
        raise explain(error, overrides) from error


def _unknown_key(key: str, overrides: Sequence[str]) -> Problem:
    """What is wrong with a key that nothing in this command line has."""
    node: Any = _composed([override for override in overrides if override.partition("=")[0] in GROUPS])
    *path, last = key.split(".")
    for part in path:
        node = node.get(part, {}) if isinstance(node, dict) else {}
    known = sorted(node) if isinstance(node, dict) and path else [*GROUPS, "as_of"]
    near = nearest(last, known)
    names = [".".join([*path, name]) for name in known if name != "_target_"]
    what = "no such key" + (f"; did you mean {near}?" if near else "")
    return Problem(key, what, names, f"{'.'.join([*path, near])}=..." if near else None)


def _composed(overrides: Sequence[str]) -> dict[str, Any]:
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    from dreambench.config.locations import bundled

    chosen = [f"+{override}" if override.partition("=")[0] in (*GROUPS, "as_of") else override for override in overrides]
    defaults = [f"+{group}={option}" for group, option in (("paths", "default"), ("cache", "disk"), ("engine", "local"))]
    defaults = [given for given in defaults if not any(one.startswith(given.partition("=")[0] + "=") for one in chosen)]
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(bundled("conf"))):
        composed = hydra.compose(config_name=None, overrides=[*defaults, *chosen])
    plain = OmegaConf.to_container(composed, resolve=True)
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


async def _perturb(given: argparse.Namespace, config: Mapping[str, Any]) -> int:
    from dreambench.config.locations import bundled
    from dreambench.config.schema import PathSettings
    from dreambench.documents import parse_document, read_report
    from dreambench.judges.rubric import RubricShelf
    from dreambench.perturbations import arms
    from dreambench.records import Report, Task

    path = Path(given.report)
    paths = PathSettings.model_validate(config["paths"])
    made = arms(config["perturbation"], RubricShelf([*paths.rubrics, bundled("rubrics")]))
    text = read_report(path)
    document = parse_document(text)
    task = Task(path.stem, given.query or document.title, "perturb", _as_of(config), language=document.language)
    report = Report(task.id, "report", text, str(path))
    corpus = _corpus(config)
    targets = _targets(given.output, made, path, paths.outputs)
    async with _Author(config, paths) as author:
        results = [await arm.apply(task, report, document, corpus, author) for arm in made]
    for arm, target, result in zip(made, targets, results, strict=True):
        if target is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(result.report.text, encoding="utf-8", newline="")
        if not given.json:
            _show(arm, task, text, result, target)
    if given.json:
        logs = [
            {"arm": a.name, "output": str(t or "-"), **asdict(r.log)} for a, t, r in zip(made, targets, results, strict=True)
        ]
        sys.stdout.write(json.dumps(logs if len(logs) > 1 else logs[0], ensure_ascii=False, indent=2) + "\n")
    elif given.output == "-":
        sys.stdout.write(results[0].report.text)
    return Exit.DONE


def _as_of(config: Mapping[str, Any]) -> date | None:
    written = config.get("as_of")
    if written is None:
        return None
    try:
        return date.fromisoformat(str(written))
    except ValueError as error:
        raise ConfigError(Problem("as_of", f"{written!r} is no date", ["an ISO date"], "as_of=2025-01-31")) from error


def _corpus(config: Mapping[str, Any]) -> Any:
    from dreambench.tools.corpus import Corpus
    from dreambench.tools.page import read_pages

    path = (config.get("tools") or {}).get("path")
    return Corpus(read_pages(Path(path))) if isinstance(path, str) else None


def _targets(output: str | None, made: Sequence[Perturbation], report: Path, outputs: Path) -> list[Path | None]:
    if output == "-":
        if len(made) > 1:
            raise ConfigError(Problem("-o", f"one report fits on stdout, not {len(made)}", ["a folder"], "-o FOLDER"))
        return [None]
    if output and len(made) == 1 and not Path(output).is_dir():
        return [Path(output)]
    folder = Path(output) if output else outputs / "perturbed"
    if folder.is_file():
        raise ConfigError(Problem("-o", f"{output} is a file, and there are {len(made)} reports", ["a folder"], "-o FOLDER"))
    return [folder / f"{report.stem}.{arm.name}.md" for arm in made]


class _Author:
    """The judge of `judge=...` on a gateway of its own, or None when no judge is named."""

    def __init__(self, config: Mapping[str, Any], paths: Any) -> None:
        self._config = config
        self._paths = paths
        self._judge: Judge | None = None
        self._store: Any = None

    async def __aenter__(self) -> Judge | None:
        nodes = self._config.get("judge") or {}
        if not nodes:
            return None
        if len(nodes) > 1:
            raise ConfigError(Problem("judge", "one author writes at a time", sorted(nodes), f"judge={sorted(nodes)[0]}"))
        from dreambench.config.nodes import build
        from dreambench.config.schema import CacheSettings, EngineSettings
        from dreambench.engine.budget import Budget, Limits
        from dreambench.engine.clock import Clock
        from dreambench.engine.gateway import Gateway
        from dreambench.engine.limiter import Limiters, Widths
        from dreambench.engine.retry import RetryPolicy
        from dreambench.engine.store import AnswerStore

        engine = EngineSettings.model_validate(self._config["engine"])
        clock = Clock()
        self._store = AnswerStore(CacheSettings.model_validate(self._config["cache"]).mode)
        self._store.open(shared=self._paths.cache, run_local=self._paths.outputs / "perturbed" / ".answers")
        gateway = Gateway(
            store=self._store,
            limiters=Limiters(Widths(engine.start, engine.most), clock),
            retry=RetryPolicy(**engine.retry.model_dump()),
            budget=Budget(Limits(**engine.budget.model_dump()), clock),
            clock=clock,
            record=lambda record: None,
        )
        ((name, node),) = nodes.items()
        judge: Judge = build(f"judge.{name}", node, name=name, gateway=gateway)
        if problems := judge.needs():
            raise ConfigError(*problems)
        self._judge = judge
        return judge

    async def __aexit__(self, *error: object) -> None:
        if self._judge is not None:
            await self._judge.close()
        if self._store is not None:
            self._store.close()


def _show(arm: Perturbation, task: Task, text: str, result: Perturbed, target: Path | None) -> None:
    from rich.console import Console
    from rich.text import Text

    log = result.log
    console = Console(stderr=target is None, highlight=False, soft_wrap=True)
    console.print(Text(f"{arm.name}: {log.changed} of {log.eligible} units changed", style="bold"), end="")
    console.print(
        f" (dose {log.dose:g} asked, {log.met:.3f} met), {len(log.edits)} edits, seed {log.seed}, author {log.author}"
    )
    if log.note:
        console.print(Text(log.note, style="yellow"))
    for edit in log.edits:
        line = text.count("\n", 0, edit.before_start) + 1
        shown = Text(f"  line {line:<5} {edit.kind:<20} ")
        shown.append(_one_line(text[max(0, edit.before_start - _AROUND) : edit.before_start]), style="dim")
        if edit.before:
            shown.append(f"[-{_cut(edit.before)}-]", style="red strike" if console.is_terminal else "")
        if edit.after:
            shown.append(f"{{+{_cut(edit.after)}+}}", style="green" if console.is_terminal else "")
        shown.append(_one_line(text[edit.before_end : edit.before_end + _AROUND]), style="dim")
        if edit.note:
            shown.append(f"  ({edit.note})", style="dim")
        console.print(shown)
    if target is not None:
        console.print(f"written to {target}")


def _one_line(text: str) -> str:
    return text.replace("\n", "⏎")


def _cut(text: str) -> str:
    shown = _one_line(text)
    return shown if len(shown) <= _LONG else f"{shown[: _LONG // 2]} … {shown[-_LONG // 2 :]}"
