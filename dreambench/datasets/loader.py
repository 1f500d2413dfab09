"""The base of all loaders: the keys that every data set has, their validation, and the way from files to a Dataset.

A loader is a frozen dataclass whose fields are its config keys, so an option file and a call from Python take the same
names. A subclass only reads; screening and filtering are the same for all.
"""

# The annotations stay real objects here (no `from __future__ import annotations`): subclasses in other modules inherit
# these fields, and their constructors' hints are resolved in those modules.

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from typing import Any, ClassVar, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from dreambench.datasets.dataset import Dataset
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.selection import Selection, select
from dreambench.errors import DatasetError, Problem
from dreambench.records import Task

OneOrMany = str | int | list[str | int] | None
"""A filter: one value, a list of values, or null for no filter."""

SENTINELS = ("[Failed]", "No answer found.", "No answer found after 2h30mins")
"""What agents are known to write instead of a report."""


@dataclass(frozen=True, kw_only=True)
class Loader(ABC):
    """Keys of every data set. `as_of` dates tasks that have no date of their own; see `load`."""

    title: ClassVar[str]
    """Name of the data set in tables where `label` gives none."""

    label: str | None = None
    """How tables and run folders call the data: a benchmark of one's own in the format of another has its own name."""

    ids: OneOrMany = None
    language: OneOrMany = None
    domain: OneOrMany = None
    agents: OneOrMany = None
    sample: int | None = None
    limit: int | None = None
    seed: int = 0
    tasks: Literal["reported", "all"] = "reported"
    as_of: date | None = None
    sentinels: tuple[str, ...] = SENTINELS
    strict: bool = False

    def __post_init__(self) -> None:
        """Checks and converts the keys by their annotations. Raises DatasetError with all problems."""
        model = _settings_model(type(self))
        names = [each.name for each in fields(self)]
        try:
            checked = model.model_validate({name: getattr(self, name) for name in names})
        except ValidationError as error:
            raise DatasetError(*(_problem(item) for item in error.errors(include_url=False))) from error
        for name in names:
            object.__setattr__(self, name, getattr(checked, name))
        low = [
            Problem(f"dataset.{name}", f"is {value}, a whole number from 1 is needed")
            for name, value in self._counts()
            if value < 1
        ]
        if low:
            raise DatasetError(*low)

    def load(self, as_of: date | None = None) -> Dataset:
        """Reads, checks and filters. A task's date is its own, else `as_of` (the run's), else this data set's.

        Raises DatasetError with every problem that keeps a file from being used.
        """
        problems = Problems()
        material = self.read(problems)
        problems.check()
        default = as_of or self.as_of
        if default:
            material.tasks = {key: _dated(task, default) for key, task in material.tasks.items()}
        if self.label:
            material.tasks = {key: replace(task, dataset=self.label) for key, task in material.tasks.items()}
        self.complete(material)
        return select(material, self._selection())

    @abstractmethod
    def read(self, problems: Problems) -> Material:
        """Everything that the sources hold; what cannot be read is added to `problems`."""

    def complete(self, material: Material) -> None:  # noqa: B027 - most data sets need nothing here
        """A last touch, once every task has its date."""

    def _counts(self) -> list[tuple[str, int]]:
        return [(name, value) for name, value in (("sample", self.sample), ("limit", self.limit)) if value is not None]

    def _selection(self) -> Selection:
        return Selection(
            ids=many(self.ids),
            languages=many(self.language),
            domains=many(self.domain),
            agents=many(self.agents),
            sample=self.sample,
            limit=self.limit,
            seed=self.seed,
            tasks=self.tasks,
            sentinels=self.sentinels,
            strict=self.strict,
        )


def many(value: OneOrMany) -> list[str]:
    """One value or a list of them as a list of texts."""
    if value is None:
        return []
    return [str(each) for each in (value if isinstance(value, list) else [value])]


def _dated(task: Task, day: date) -> Task:
    if task.as_of:
        return task
    return Task(task.id, task.query, task.dataset, day, task.domain, task.language)


@cache
def _settings_model(cls: type[Loader]) -> type[BaseModel]:
    hints = get_type_hints(cls)
    keys: dict[str, Any] = {each.name: (hints[each.name], ...) for each in fields(cls)}
    return create_model(cls.__name__, __config__=ConfigDict(extra="forbid"), **keys)


def _problem(item: Any) -> Problem:
    place = ".".join(["dataset", *(str(part) for part in item["loc"][:1])])
    return Problem(place, f"{item['msg'][0].lower()}{item['msg'][1:]}, got {item['input']!r}")
