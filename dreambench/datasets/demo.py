"""A bundled data set: tasks as YAML files, reports as markdown by agent, and a frozen corpus of pages beside them.

tasks/<task>.yaml   reports/<agent>/<task>.md   corpus/   protocols/*.json
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from dreambench.datasets.files import check_exists, text
from dreambench.datasets.folders import read_folder
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.errors import nearest

BUNDLED = Path(__file__).resolve().parent / "demo"
DEMO = "demo"
"""Instead of a path: the bundled file about the demo's tasks."""


def demo_file(name: str, bundled: str) -> Path:
    """The path that `name` gives; `demo` is the bundled file `bundled` about the demo's tasks."""
    return BUNDLED / "benchmarks" / bundled if name == DEMO else Path(name).expanduser()


class TaskFile(BaseModel):
    """What a task's YAML file holds; `id` is the file's name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    query: str
    as_of: date | None = None
    domain: str = ""
    language: str = ""


@dataclass(frozen=True, kw_only=True)
class DemoDataset(Loader):
    """The bundled demo, or a `folder` of your own with the same layout."""

    title: ClassVar[str] = "demo"
    bundled: ClassVar[Path] = BUNDLED

    folder: str | None = None

    @property
    def root(self) -> Path:
        """The folder that is read: the user's own or the bundled one."""
        return Path(self.folder).expanduser() if self.folder else self.bundled

    @property
    def corpus(self) -> Path:
        """The folder of the frozen pages; not read here."""
        return self.root / "corpus"

    @property
    def protocols(self) -> Path:
        """The folder of the protocols that come with the tasks, where there is one; not read here."""
        return self.root / "protocols"

    def read(self, problems: Problems) -> Material:
        material = Material(self.title, listed=str(self.root / "tasks"))
        tasks, reports = self.root / "tasks", self.root / "reports"
        if check_exists(tasks, "dataset.folder", problems):
            for path in sorted(tasks.glob("*.yaml")):
                _read_task(path, material, problems)
        if check_exists(reports, "dataset.folder", problems):
            read_folder(reports, None, material, problems)
        return material


def _read_task(path: Path, material: Material, problems: Problems) -> None:
    content = text(path, problems)
    if content is None:
        return
    try:
        task = TaskFile.model_validate(yaml.safe_load(content))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" at column {mark.column + 1}" if mark else ""
        problems.add(path, mark.line + 1 if mark else None, f"is not YAML: {error.problem or error.context}{place}")
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _report(item, path, problems)
    except (yaml.YAMLError, ValueError) as error:  # characters or dates that cannot be
        problems.add(path, None, f"is not YAML: {' '.join(str(error).split())}")
    else:
        if task.id != path.stem:
            problems.add(path, None, f"has the id {task.id!r}, which is not the file's name", [path.stem])
        material.add_task(task.id, task.query, str(path), domain=task.domain, language=task.language, as_of=task.as_of)


def _report(item: Any, path: Path, problems: Problems) -> None:
    known = list(TaskFile.model_fields)
    name = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        near = nearest(name, known)
        problems.add(path, None, f"has no use for the key {name!r}" + (f"; did you mean {near!r}?" if near else ""), known)
    elif item["type"] == "missing":
        problems.add(path, None, f"has no key {name!r}", known)
    else:
        problems.add(
            path, None, f"{name or 'the file'}: {item['msg'].lower()}, got {item['input']!r}", known if not name else ()
        )
