"""`--help`: groups with each option's purpose, and the top-level keys; read from the option files, without composing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dreambench.config.locations import bundled

USAGE = """dreambench scores deep-research reports and puts the metrics themselves to the test.

usage: python -m dreambench [GROUP=OPTION ...] [KEY=VALUE ...] [+experiment=NAME] [-m]

  python -m dreambench                                    the bundled demo with the embedded judge
  python -m dreambench +experiment=backbone_sweep         a study: metric x agent x judge
  python -m dreambench dataset=reports dataset.reports=my_reports judge=claude_sonnet_5_5
  python -m dreambench tool web_search "QUERY"            what a judge would find (tool alone lists the tools)
  python -m dreambench perturb REPORT perturbation=omission   one report, changed on purpose, with its edit log
  python -m dreambench "judge=[embedded,litellm]" judge.litellm.model=openai/gpt-5.1 engine.budget.money=5
  python -m dreambench protocol create|show|check         what KIC and RQ hold a task's reports against
  python -m dreambench plan [KEY=VALUE ...]               what a run would cost, without buying anything
  python -m dreambench check|report|compare|sample RUN    how a run stands, its tables, two runs, a sheet for people
  python -m dreambench answer|check-benchmark ...         a model answers matrix tasks; may tasks be part of a benchmark
  python -m dreambench view [RUN|FOLDER]                  runs in a browser, while they run too
  python -m dreambench export RUN --to inspect|parquet|mlflow|wandb   a run in another form or place
  python -m dreambench ls|show|doctor|cache|new|completion ...   what there is, what is missing; VERB --help says more

The same command again resumes its run. `judge` and `metric` take a list; keys of their options are group.option.key.
Show the whole configuration, with every key, without running it: python -m dreambench --cfg job [OVERRIDES]
"""


def wants_help(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for help and nothing else."""
    return bool(arguments) and all(argument in ("--help", "-h") for argument in arguments)


def verb_wants_help(arguments: Sequence[str]) -> bool:
    """Whether a verb's words end by asking for help: `protocol create --help`."""
    return bool(arguments) and arguments[-1] in ("--help", "-h")


def help_text(folders: Iterable[Path] = ()) -> str:
    """The whole help."""
    lines = [USAGE]
    for root in (bundled("conf"), *folders):
        for group in sorted(path for path in root.iterdir() if path.is_dir()):
            plus = "+" if group.name == "experiment" else ""
            lines.append(f"{plus}{group.name}=")
            options = sorted(group.glob("*.yaml"))
            width = max((len(option.stem) for option in options), default=0)
            lines.extend(f"  {option.stem:<{width}}  {purpose(option)}" for option in options)
    lines.append("\nkeys of the run: seed=0  as_of=DATE|today  study=NAME  paths.outputs=outputs  cache.mode=replay")
    return "\n".join(lines) + "\n"


def purpose(option: Path) -> str:
    """The first sentence of an option file's comment, its package line and command left out: what the option is for."""
    comment = []
    for line in option.read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if not line.startswith("#"):
            break
        if text and not text.startswith(("@package", "python -m")):
            comment.append(text)
    return re.split(r"(?<=[.?])\s", " ".join(comment), maxsplit=1)[0]
