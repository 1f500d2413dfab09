"""What a study reads beside its run (`study_inputs`), checked by a pydantic model; and finished runs named by folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from dreambench.config.nodes import validation_problems
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.reporting.finished import FinishedRun
from dreambench.runs.folder import RunFolder

WHERE = "study_inputs"


class StudySettings(BaseModel):
    """Base of a study's own keys; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Settings = TypeVar("Settings", bound=StudySettings)


def read_settings(model: type[Settings], inputs: Mapping[str, Any]) -> Settings:
    """`inputs` as `model`. Raises ConfigError with every problem, placed at `study_inputs`."""
    try:
        return model.model_validate(dict(inputs))
    except ValidationError as error:
        raise ConfigError(*validation_problems(WHERE, error, model)) from error


def finished_runs(folders: Sequence[Path], key: str) -> list[FinishedRun]:
    """The runs of other folders. Raises InputError naming each folder that is no finished run."""
    found = [FinishedRun(RunFolder(folder)) for folder in folders]
    problems = [
        Problem(f"{WHERE}.{key}", f"{run.folder.root}: {what}", ["folders of runs that are complete"])
        for run in found
        if (what := _trouble(run))
    ]
    if problems:
        raise InputError(*problems)
    return found


def existing_file(path: Path, key: str) -> Path:
    """The path. Raises InputError unless it is a file."""
    if path.expanduser().is_file():
        return path.expanduser()
    raise InputError(Problem(f"{WHERE}.{key}", f"{path} is no file"))


def _trouble(run: FinishedRun) -> str | None:
    files = (run.folder.summary, run.folder.scores, run.folder.report_scores, run.folder.judgments)
    if missing := [path.name for path in files if not path.is_file()]:
        return f"is no run: it has no {missing[0]}"
    return None if run.summary.get("complete") else "is not complete; the command that made it goes on with it"
