"""What agents leave behind, read as it is: JSON lines, one JSON document, or a list in one; a record is an agent's answer.

The base of the data sets that are named after agents. A subclass says where in a record the report, the query and the id are;
the rest is the same for all: which task an answer belongs to, who wrote it, and what is said about an answer that is none.
"""

# No `from __future__ import annotations`, for the reason given in `loader`.

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from dreambench.datasets.fields import Fields, read_tasks
from dreambench.datasets.files import json_type, rows, text
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.datasets.sources import Paths, Source, existing, sources
from dreambench.records import short_hash

LINES = (".jsonl", ".ndjson")
_TASKS = Fields()


@dataclass(frozen=True, slots=True)
class Answer:
    """One record's report. Empty `task_id`, `query` and `agent`: the record does not tell. `failed`: why there is no report.

    `notes` are findings about the report (code, message) that do not keep it from being used.
    """

    text: str
    query: str = ""
    task_id: str = ""
    agent: str = ""
    failed: str = ""
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file; `alone` when the file is this one JSON object and nothing else."""

    row: Row
    alone: bool = False


@dataclass(frozen=True, kw_only=True)
class DumpLoader(Loader):
    """`reports` is a file, a folder or a list; `queries` an optional file of tasks; `agent` names who wrote all of them.

    Without `agent` it is who the record names, else the file, or, where each answer has a file of its own, the folder. Answers
    without an id are joined by their query; where no list of tasks is given, equal queries are one task.
    """

    suffixes: ClassVar[tuple[str, ...]] = (*LINES, ".json")
    """What is looked for in a folder."""
    expected: ClassVar[tuple[str, ...]]
    """Fields of a record, for the message about a file that has none."""

    reports: Paths = None
    queries: str | None = None
    agent: str | None = None

    @abstractmethod
    def holds(self, row: Row) -> bool:
        """Whether the record is one of these answers at all."""

    @abstractmethod
    def answer(self, row: Row, problems: Problems) -> Answer | None:
        """The record's report; None when a field is wrong (added to `problems`)."""

    def writer(self, record: Record, answer: Answer) -> str:
        """Who wrote the answer."""
        path = record.row.path
        return self.agent or answer.agent or (path.resolve().parent.name if record.alone else path.stem)

    def read(self, problems: Problems) -> Material:
        material = Material(self.title)
        query_file = existing(self.queries, "dataset.queries", problems)
        if query_file:
            read_tasks(query_file, _TASKS, material, problems)
        if self.reports is None and self.tasks == "all" and query_file:
            return material
        for source in sources(self.reports, "dataset.reports", self.suffixes, problems):
            if source.named or query_file is None or not source.path.samefile(query_file):
                self.read_file(source, material, problems)
        return material

    def read_file(self, source: Source, material: Material, problems: Problems) -> None:
        """Adds the answers of one file. One without any is refused when it was named, a finding when met in a folder."""
        inside = Problems()
        first: Row | None = None
        waiting: list[Record] = []  # before the first answer, nobody knows whether these should have been some
        held = False
        for record in records(source.path, inside):
            first = first or record.row
            held = held or self.holds(record.row)
            waiting.append(record)
            if held:
                self._add_all(waiting, material, inside)
                waiting.clear()
        if held or (not first and inside.all()):
            problems.merge(inside)
            return
        what = f"holds no reports: its records have {', '.join(first.values)}" if first else "holds no reports: it is empty"
        if source.named:
            problems.add(source.path, None, f"{what}; a report's record has {', '.join(self.expected)}")
        else:
            material.find("skipped_file", str(source.path), f"{what}; left out")

    def _add_all(self, found: Sequence[Record], material: Material, problems: Problems) -> None:
        for record in found:
            if answer := self.answer(record.row, problems):
                self.add(record, answer, material, problems)

    def add(self, record: Record, answer: Answer, material: Material, problems: Problems) -> None:
        """Joins one answer with its task, and adds its report or says why there is none."""
        row, agent = record.row, self.writer(record, answer)
        task_id = answer.task_id or self._named_task(record, answer, material)
        if not task_id and not answer.query.strip():
            problems.add(row.path, row.line, "tells neither an id nor a query, so its task is unknown", self.expected)
            return
        joined = material.join(task_id or None, answer.query or None, row.place)
        if joined is None:
            message = f"the report of {agent} has no id and its query is none of {material.listed}; left out"
            material.find("orphan_report", row.place, message)
            return
        for code, message in answer.notes:
            material.find(code, row.place, f"the report of {agent} for task {joined} {message}", joined)
        if answer.failed:
            material.find("failed_report", row.place, f"{agent} wrote no report for task {joined}: {answer.failed}", joined)
        else:
            material.add_report(joined, agent, answer.text, row.place)

    def _named_task(self, record: Record, answer: Answer, material: Material) -> str:
        """The task of an answer without an id: the file's name where that is one, else told by the query."""
        stem = record.row.path.stem
        if record.alone and (stem in material.tasks or not answer.query.strip()):
            return stem
        if material.listed or not answer.query.strip():
            return ""
        return f"q-{short_hash('query', answer.query.strip())[:8]}"


def records(path: Path, problems: Problems) -> Iterator[Record]:
    """The records of a file, each with the line it starts in; what is malformed is reported by file, line and column."""
    if path.suffix.lower() in LINES:
        yield from (Record(row) for row in rows(path, problems))
        return
    content = text(path, problems)
    if content is None:
        return
    try:
        value = json.loads(content)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and error.lineno > 1:  # JSON lines under another name
            yield from (Record(row) for row in rows(path, problems))
        else:
            what = f"is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}"
            problems.add(path, error.lineno, what)
    except (ValueError, RecursionError) as error:
        problems.add(path, None, f"cannot be read as JSON: {error}")
    else:
        if isinstance(value, dict):
            yield Record(Row(path, 1, value), alone=True)
        elif isinstance(value, list):
            yield from _listed(path, content, problems)
        else:
            problems.add(path, 1, f"is a JSON {json_type(value)}, an object or a list of objects is needed")


def _listed(path: Path, content: str, problems: Problems) -> Iterator[Record]:
    """The objects of a JSON list that is known to be valid, with their lines."""
    decoder = json.JSONDecoder()
    position, line = content.index("[") + 1, 1
    counted = 0
    while True:
        while content[position] in " \t\r\n,":
            position += 1
        if content[position] == "]":
            return
        line += content.count("\n", counted, position)
        counted = position
        value, position = decoder.raw_decode(content, position)
        if isinstance(value, dict):
            yield Record(Row(path, line, value))
        else:
            problems.add(path, line, f"is a JSON {json_type(value)}, an object is needed")


def message_text(content: Any) -> str:
    """The text of a chat message's content: a text, or a list of parts of which those with text count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part if isinstance(part, str) else part["text"]
        for part in parts
        if isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("text"), str))
    )


def first_question(messages: Any) -> str:
    """What the user asked: the first message of role `user` (or type `human`), as chat interfaces and LangChain store it."""
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, list) and len(message) == 2:
            role, content = message
        elif isinstance(message, Mapping):
            inner = message.get("kwargs") if isinstance(message.get("kwargs"), Mapping) else message
            role, content = _role(message), inner.get("content") if isinstance(inner, Mapping) else None
        else:
            continue
        if role in ("user", "human") and message_text(content).strip():
            return message_text(content)
    return ""


def _role(message: Mapping[str, Any]) -> str:
    """`human` for LangChain's serialized constructor too, whose class name is the end of its id."""
    path = message.get("id")
    if message.get("type") == "constructor" and isinstance(path, list):
        return "human" if path[-1:] == ["HumanMessage"] else ""
    return str(message.get("role") or message.get("type") or "")
