"""Which field of a record holds what.

An optional field that keeps its usual name may be absent; one that the user names must be there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from dreambench.datasets.files import rows
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.errors import nearest

QUERY_NAMES = ("query", "prompt", "question")
TASK_LABELS = ("domain", "language", "as_of")


class Fields(BaseModel):
    """Names of the fields of a record; dots look into nested objects (`output.text`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = "id"
    query: str = "query"
    report: str = "report"
    agent: str = "agent"
    domain: str = "domain"
    language: str = "language"
    as_of: str = "as_of"

    def check_named(self, keys: Sequence[str], row: Row, problems: Problems) -> None:
        """Of the optional fields `keys`, those that the user renamed have to be in the record."""
        for key in keys:
            name = getattr(self, key)
            if name != type(self).model_fields[key].default and not row.present(name):
                near = nearest(name, row.values)
                what = f"has no field {name!r} ({self.key(key)})" + (f"; did you mean {near!r}?" if near else "")
                problems.add(row.path, row.line, what, sorted(row.values), f"{self.key(key)}={near}" if near else None)

    def key(self, name: str) -> str:
        """The config key of a field's name; empty in data sets whose names are fixed."""
        return f"dataset.fields.{name}"

    def query_name(self, row: Row) -> str:
        """The field that holds the query: the one named, else what other data sets call it."""
        if self.query != type(self).model_fields["query"].default or row.present(self.query):
            return self.query
        return next((name for name in QUERY_NAMES if row.present(name)), self.query)


USUAL = Fields()


def read_tasks(path: Path, fields: Fields, material: Material, problems: Problems) -> None:
    """Adds the tasks of a query file (JSON lines or CSV) to `material`, whose reports are from now on joined with it."""
    material.listed = str(path)
    count = 0
    for row in rows(path, problems):
        count += 1
        read_task(row, fields, material, problems)
    if not count and not problems.concern(path):
        problems.add(path, None, "holds no queries")


def read_task(row: Row, fields: Fields, material: Material, problems: Problems) -> None:
    """Adds the task of one record."""
    fields.check_named(TASK_LABELS, row, problems)
    needed = f"a task's record has {fields.id}, {fields.query}"
    task_id = row.identifier(fields.id, problems, fields.key("id"), needed)
    query = row.text(fields.query_name(row), problems, fields.key("query"), needed)
    day = row.day(fields.as_of, problems)
    if task_id is not None and query is not None:
        domain, language = row.label(fields.domain), row.label(fields.language)
        material.add_task(task_id, query, row.place, domain=domain, language=language, as_of=day)
