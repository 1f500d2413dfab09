"""new metric|judge|tool|perturbation|dataset NAME [--from OPTION] [--to FOLDER]: files of your own that compose at once.

Writes an option file into FOLDER/conf (default my_parts/conf), started from another option of the group (--from); a metric
that is started from none gets a rubric in FOLDER/rubrics to word. Prints the overrides that use it. Nothing is overwritten.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.ls import purposes
from dreambench.commands.verbs import VerbParser, say
from dreambench.errors import ConfigError, Problem, nearest

GROUPS = {"metric": "metric", "judge": "judge", "tool": "tools", "perturbation": "perturbation", "dataset": "dataset"}
"""What people call a part, and its group."""
STARTS = {"judge": "litellm", "tools": "corpus", "perturbation": "omission", "dataset": "jsonl"}
"""The option that a new one is started from; a metric is written anew."""
SEVERAL = ("metric", "judge", "perturbation")
"""Groups whose options are nodes under their name."""
NAME = re.compile(r"[a-z][a-z0-9_]*")

METRIC = """# @package metric.{name}
# {title}: say in one sentence what it measures.
_target_: dreambench.metrics.rubric_metric.RubricMetric
id: {name}
folder: {name}
rubric: default # an axis: one file per variant, rubrics/{name}/quality.<variant>.j2
families:
  quality: # a family of questions, each a rubric of that name; weights sum to 1
    quality: 1.0
repeats: 1
missing_policy: exclude
"""
RUBRIC = """---
kind: score
version: "1"
scale: [0, 100]
---
{{% block system %}}
{{% include "_shared/system.j2" %}}
{{% endblock %}}
{{% block user %}}
{{% include "_shared/report.j2" %}}


How good is the report in respect of {words}?

{{% include "_shared/grade.j2" %}}
{{% endblock %}}
"""


def new(arguments: Sequence[str]) -> int:
    """Writes the files. Raises ConfigError for a name that is taken or cannot be one."""
    parser = VerbParser("new", __doc__)
    parser.add_argument("part", metavar="metric|judge|tool|perturbation|dataset")
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _")
    parser.add_argument("--from", dest="start", metavar="OPTION", help="the option to start from")
    parser.add_argument("--to", metavar="FOLDER", default="my_parts", help="of your own parts (default my_parts)")
    given = parser.parse_args(list(arguments))
    group = _group(given.part)
    folder = Path(given.to)
    options = purposes(["--config-dir", str(folder / "conf")] if (folder / "conf").is_dir() else [])[group]
    _check(given.part, given.name, given.start, options)
    start = given.start or STARTS.get(group)
    files = _files(group, given.name, start)
    written = [folder / path for path in files]
    if there := [path for path in written if path.exists()]:
        raise ConfigError(Problem(str(there[0]), "is there already", ["another NAME", "another --to FOLDER"]))
    for path, text in zip(written, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    rubrics = f" paths.rubrics=[{folder / 'rubrics'}]" if len(written) > 1 else ""
    chosen = f"[{given.name}]" if group in SEVERAL else given.name
    say(*(f"wrote {path}" for path in written), f"use it: --config-dir {folder / 'conf'}{rubrics} {group}={chosen}")
    return Exit.DONE


def _group(part: str) -> str:
    if part not in GROUPS:
        near = nearest(part, GROUPS)
        what = "is no part that can be made" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(f"new {part}", what, list(GROUPS), f"python -m dreambench new {near} NAME" if near else None))
    return GROUPS[part]


def _check(part: str, name: str, start: str | None, options: Collection[str]) -> None:
    if not NAME.fullmatch(name):
        raise ConfigError(Problem(f"new {part} {name}", "is no name", ["small letters, digits and _, a letter first"]))
    if name in options:
        raise ConfigError(Problem(f"new {part} {name}", "there is one of that name", ["another NAME"]))
    if start is not None and start not in options:
        near = nearest(start, options)
        what = "there is no such option" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(f"--from {start}", what, list(options), f"--from {near}" if near else None))


def _files(group: str, name: str, start: str | None) -> dict[str, str]:
    words = name.replace("_", " ")
    if start is None:
        rubric = RUBRIC.format(words=words)
        metric = METRIC.format(name=name, title=words.capitalize())
        return {f"conf/{group}/{name}.yaml": metric, f"rubrics/{name}/quality.default.j2": rubric}
    from dreambench.config.locations import bundled

    text = (bundled("conf") / group / f"{start}.yaml").read_text(encoding="utf-8")
    if group in SEVERAL:
        text = re.sub(rf"^# @package {group}\.\w+$", f"# @package {group}.{name}", text, count=1, flags=re.MULTILINE)
    return {f"conf/{group}/{name}.yaml": text}
