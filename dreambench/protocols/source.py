"""Where a run's protocols come from: the group `protocol`. Metrics ask for a task's protocol and know nothing of its making.

`NoProtocols` has none and is the base; `FileProtocols` has those of a folder, found by their query, so that one file
serves every data set that asks it. `created.CreatedProtocols` makes what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from dreambench.engine.store import CacheMode
from dreambench.errors import ConfigError, InputError, Problem
from dreambench.judges.judge import Judge
from dreambench.protocols.files import file_name, protocol_files, read_protocol, write_protocol
from dreambench.protocols.model import Protocol
from dreambench.records import Task

PartName = Literal["kic", "rq"]


class NoProtocols:
    """No protocols at all, and the base of every source."""

    name: ClassVar[str] = "none"

    def __init__(self) -> None:
        self.parts: set[PartName] = set()
        self.folder: Path | None = None

    def want(self, part: PartName) -> None:
        """Told by each metric that needs a part, before the run."""
        self.parts.add(part)

    def assign(self, judges: Mapping[str, Judge]) -> None:
        """Told who judges in this run, the first judge first. Raises ConfigError when the creator is not among them."""

    def identity(self) -> Mapping[str, Any]:
        """All of the source that can change a number: the files' hashes, or what protocols would be created with."""
        return {"protocol": self.name}

    def problems(self, tasks: Sequence[Task]) -> list[Problem]:
        """What keeps this source from serving `tasks`, said before anything is spent."""
        where = " and ".join(f"metric.{part}" for part in sorted(self.parts))
        what = f"{where} cannot be judged without protocols"
        return [Problem("protocol=none", what, ["created", "files"], "protocol=files protocol.path=FOLDER")] if where else []

    def expect(self, tasks: Sequence[Task]) -> None:
        """Told which tasks will be asked for, in that order."""

    def open(self, folder: Path, shared: Path, mode: CacheMode) -> None:
        """Says where a run keeps its protocols (`folder`), and where made ones are kept for other runs (`shared`)."""
        self.folder = folder

    async def get(self, task: Task, judge: Judge | None) -> Protocol | None:
        """The protocol that `judge` executes for `task`, made where it is missing; None when there is none to be had."""
        return None

    def hash_of(self, task: Task, judge: Judge | None) -> str:
        """Content hash of the protocol that `get` gave, empty while there is none: the item table's `protocol`."""
        return ""

    async def close(self) -> None:
        """Ends what is still being made."""


class FileProtocols(NoProtocols):
    """Protocols from a folder of files (or one file), each found by the query and date that it is about."""

    name: ClassVar[str] = "files"

    def __init__(self, *, path: Path) -> None:
        """Raises ConfigError with the problems of all files."""
        super().__init__()
        self._path = path
        self._by_query = read_all(path, "protocol.path")
        self._kept: set[str] = set()

    def identity(self) -> Mapping[str, Any]:
        return {"protocol": self.name, "files": sorted(protocol.content_hash() for protocol in self._by_query.values())}

    def problems(self, tasks: Sequence[Task]) -> list[Problem]:
        if not self.parts:
            return []
        found = [(task, self.find(task)) for task in tasks]
        wrong = [
            Problem(
                f"protocol.path: {task.id}",
                f"the protocol is as of {protocol.as_of}, the task as of {task.as_of}",
                type=f"as_of={protocol.as_of}",
            )
            for task, protocol in found
            if protocol and protocol.as_of and protocol.as_of != task.as_of
        ]
        if tasks and not any(protocol for _, protocol in found):
            what = f"no file of {self._path} has the query of any task of this run"
            wrong.append(Problem("protocol.path", what, type="python -m dreambench protocol create"))
        return wrong

    def find(self, task: Task) -> Protocol | None:
        """The protocol to the task's query, compared folded; None when no file has one."""
        return self._by_query.get(folded(task.query))

    async def get(self, task: Task, judge: Judge | None) -> Protocol | None:
        protocol = self.find(task)
        if protocol and self.folder and task.id not in self._kept:
            self._kept.add(task.id)
            write_protocol(self.folder / file_name(task.id, protocol), protocol)
        return protocol

    def hash_of(self, task: Task, judge: Judge | None) -> str:
        protocol = self.find(task)
        return protocol.content_hash() if protocol else ""


def folded(query: str) -> str:
    """A query as it is compared: without regard to case and white space."""
    return " ".join(query.casefold().split())


def read_all(path: Path, where: str) -> dict[str, Protocol]:
    """The protocols below `path` by their folded query. Raises ConfigError: two for one query, or what is wrong with files."""
    problems: list[Problem] = []
    found: dict[str, tuple[Path, Protocol]] = {}
    for file in protocol_files(path):
        try:
            protocol = read_protocol(file)
        except InputError as error:
            problems.extend(error.problems)
            continue
        first = found.setdefault(folded(protocol.query), (file, protocol))[0]
        if first != file:
            problems.append(Problem(where, f"{first} and {file} are protocols of the same query; keep one"))
    if problems:
        raise ConfigError(*problems)
    return {query: protocol for query, (_, protocol) in found.items()}
