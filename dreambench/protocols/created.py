"""Protocols that a run makes where they are missing: once per task, for all reports and judges.

A protocol is looked for among the files that the data set brings along, in the run folder (a resumed run), in the folder that
runs share, and made otherwise. What is made is kept in both folders. While the reports of a task wait for its protocol,
others go on; the protocols of the next tasks are begun ahead of their reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from dreambench.engine.call import canonical_json
from dreambench.engine.scope import CellScope, current_cell, enter_cell
from dreambench.engine.store import CacheMode
from dreambench.errors import ConfigError, Problem, nearest
from dreambench.evaluators.agent import AgentLimits
from dreambench.evaluators.agent_trajectory import Trajectories
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.protocols.creation import Made, ProtocolMaker, Sizes, by_rules
from dreambench.protocols.files import file_name, read_protocol, write_protocol
from dreambench.protocols.model import LEAST_KIC, MOST_KIC, Creator, Protocol
from dreambench.protocols.source import NoProtocols, folded, read_all
from dreambench.records import Task, short_hash
from dreambench.tools.toolset import NoTools

EACH = "each"
AHEAD = 4
"""Tasks whose protocols are begun before their reports' turn."""

Way = Literal["llm", "agent", "agent_retrieval", "human", "embedded"]
WAYS: tuple[str, ...] = get_args(Way)
Facts = Annotated[int, Field(ge=LEAST_KIC, le=MOST_KIC)]


class CreatedProtocols(NoProtocols):
    """Made by `judge` (null: the run's first; `each`: every judge executes its own, an ablation) as `creator`.

    `creator` null takes the protocols that the data set brings along and makes the others as `agent_retrieval`; `human` makes
    none; any other is made for every task, whatever the data set brings. `embedded` is `agent_retrieval` by a judge of rules.
    """

    name: ClassVar[str] = "created"

    def __init__(
        self,
        *,
        shelf: RubricShelf,
        tools: NoTools,
        trajectories: Trajectories,
        protocols: Path | None = None,
        bundled: bool = True,
        creator: Way | None = None,
        judge: str | None = None,
        kic_least: Facts = 10,
        kic_most: Facts = 15,
        rq_items: Annotated[int, Field(ge=1, le=20)] = 5,
        rounds: Annotated[int, Field(ge=0, le=2)] = 2,
        rubric: str = "default",
        limits: AgentLimits | None = None,
    ) -> None:
        super().__init__()
        if kic_least > kic_most:
            raise ConfigError(Problem("protocol.kic_least", f"{kic_least} is more than protocol.kic_most={kic_most}"))
        self._tools = tools
        self._trajectories = trajectories
        self._judge = judge
        self._way = creator
        takes = bundled and creator in (None, "human")
        self._brought = read_all(protocols, "dataset") if takes and protocols and protocols.exists() else {}
        sizes = Sizes(kic_least, kic_most, rq_items, rounds)
        self._maker = ProtocolMaker(
            shelf=shelf, tools=tools, creator=_made_as(creator), sizes=sizes, limits=limits or AgentLimits(), rubric=rubric
        )
        self._judges: Mapping[str, Judge] = {}
        self._tasks: list[Task] = []
        self._shared: Path | None = None
        self._mode = CacheMode.READWRITE
        self._kept: dict[str, Protocol] = {}
        self._making: dict[str, asyncio.Task[Protocol]] = {}
        self._ready: dict[str, Protocol] = {}

    @property
    def makers(self) -> list[Judge]:
        """The judges that create: one, or every judge of the run."""
        if self._judge == EACH:
            return list(self._judges.values())
        named = self._judges.get(self._judge) if self._judge else next(iter(self._judges.values()), None)
        return [named] if named else []

    def assign(self, judges: Mapping[str, Judge]) -> None:
        self._judges = judges
        if self._judge not in (None, EACH, *judges):
            near = nearest(str(self._judge), judges)
            hint = f"protocol.judge={near}" if near else None
            raise ConfigError(Problem("protocol.judge", f"{self._judge} is no judge of this run", [EACH, *judges], hint))

    def identity(self) -> Mapping[str, Any]:
        made_by = EACH if self._judge == EACH else [dict(judge.identity()) for judge in self.makers]
        brought = {protocol.content_hash(): protocol.creator.value for protocol in self._brought.values()}
        return {"protocol": self.name, "bundled": dict(sorted(brought.items())), "by": made_by, "creation": self._creation()}

    def _creation(self) -> dict[str, Any]:
        creator = self._maker.creator.value
        return {"creator": creator, "parts": sorted(self.parts), **self._tools.identity(), **self._maker.identity()}

    def problems(self, tasks: Sequence[Task]) -> list[Problem]:
        """A creator that is refused, tools that cannot search or are not ready, tasks without a date."""
        missing = [task for task in tasks if folded(task.query) not in self._brought]
        if not self.parts or not missing:
            return []
        if self._way == "human":
            what = f"creator human makes no protocol, and the data set brings none along for task {missing[0].id}"
            return [Problem("protocol.creator", what, [*WAYS], "protocol=files protocol.path=FOLDER")]
        problems = [problem for judge in self.makers for problem in self._refused(judge)]
        if self._way == "embedded":
            problems += [self._no_rules(judge) for judge in self.makers if not by_rules(judge)]
        if self._maker.creator is not Creator.AGENT_RETRIEVAL:
            return problems
        if not self._tools.searches:
            what = f"agent_retrieval researches with tools that search, and tools={self._tools.name} cannot"
            allowed = ["agent", "llm", "tools that search"]
            problems.append(Problem("protocol.creator", what, allowed, "tools=corpus tools.path=PAGES"))
        if undated := [task.id for task in missing if task.as_of is None]:
            what = f"researches, and task {undated[0]} has no date to search up to ({len(undated)} tasks without one)"
            problems.append(Problem("protocol", what, ["a date of the tasks, or of the run"], "as_of=2025-01-01"))
        return [*problems, *self._tools.needs()]

    def _refused(self, judge: Judge) -> list[Problem]:
        """The first rubric of creation that `judge` cannot answer."""
        for rubric in self._maker.rubrics(self.parts):
            if why := judge.refusal(rubric):
                what = f"cannot create protocols: {rubric.id}: {why}"
                allowed = ["another judge", "protocols from files"]
                return [Problem(f"judge.{judge.name}", what, allowed, "protocol=files protocol.path=FOLDER")]
        return []

    def _no_rules(self, judge: Judge) -> Problem:
        what = f"embedded protocols are made by a judge of rules, and {judge.name} is a model"
        return Problem("protocol.creator", what, [way for way in WAYS if way != "embedded"], "protocol.creator=agent_retrieval")

    def expect(self, tasks: Sequence[Task]) -> None:
        self._tasks = list(tasks)

    def open(self, folder: Path, shared: Path, mode: CacheMode) -> None:
        """Raises ProtocolError for a file in `folder` that cannot be used."""
        super().open(folder, shared, mode)
        self._shared, self._mode = shared, mode
        for path in sorted(folder.glob("*.json")):
            protocol = read_protocol(path)
            self._kept[_key_of(protocol)] = protocol

    async def get(self, task: Task, judge: Judge | None) -> Protocol | None:
        """The protocol of `task`. Raises what its making raised; the next run tries again."""
        if brought := self._brought.get(folded(task.query)):
            self._keep(task, brought)
            return brought
        maker = judge if self._judge == EACH else next(iter(self.makers), None)
        if maker is None:
            return None
        wanted = self._begin(task, maker)
        if self._judge != EACH:
            for ahead in self._after(task):
                self._begin(ahead, maker)
        return await asyncio.shield(wanted)

    def hash_of(self, task: Task, judge: Judge | None) -> str:
        if brought := self._brought.get(folded(task.query)):
            return brought.content_hash()
        maker = judge if self._judge == EACH else next(iter(self.makers), None)
        ready = self._ready.get(self._name(task, maker)) if maker else None
        return ready.content_hash() if ready else ""

    async def close(self) -> None:
        for making in self._making.values():
            making.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    def _after(self, task: Task) -> list[Task]:
        ids = [one.id for one in self._tasks]
        place = ids.index(task.id) + 1 if task.id in ids else len(ids)
        return [one for one in self._tasks[place : place + AHEAD] if folded(one.query) not in self._brought]

    def _begin(self, task: Task, maker: Judge) -> asyncio.Task[Protocol]:
        """The one making of this protocol, begun by whoever comes first."""
        name = self._name(task, maker)
        if name not in self._making:
            making = asyncio.create_task(self._provide(task, maker, name))
            making.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever asks is told
            self._making[name] = making
        return self._making[name]

    async def _provide(self, task: Task, maker: Judge, name: str) -> Protocol:
        enter_cell(CellScope(f"protocol:{name}", current_cell().order))
        protocol = self._kept.get(self._key_for(task, maker)) or self._from_shared(task, maker)
        if protocol is None:
            protocol, work = await self._maker.make(task, maker, self.parts)
            for part, trajectory in work.items():
                self._trajectories.keep(f"protocol-{name}-{part}", trajectory)
            if self._shared and self._mode in (CacheMode.READWRITE, CacheMode.REFRESH):
                write_protocol(self._shared / self._shared_name(task, maker), protocol)
        self._keep(task, protocol)
        self._ready[name] = protocol
        return protocol

    def _from_shared(self, task: Task, maker: Judge) -> Protocol | None:
        if self._shared is None or self._mode not in (CacheMode.READWRITE, CacheMode.REPLAY):
            return None
        path = self._shared / self._shared_name(task, maker)
        return read_protocol(path) if path.is_file() else None

    def _keep(self, task: Task, protocol: Protocol) -> None:
        if self.folder and not (file := self.folder / file_name(task.id, protocol)).exists():
            write_protocol(file, protocol)

    def _name(self, task: Task, maker: Judge) -> str:
        return f"{task.id}-{maker.name}" if self._judge == EACH else task.id

    def _key_for(self, task: Task, maker: Judge) -> str:
        """What a protocol that would be made now has in common with one that was made earlier from the same settings."""
        return _key_of(self._maker.blank(task, maker, self.parts))

    def _shared_name(self, task: Task, maker: Judge) -> str:
        asked = {"query": task.query, "as_of": task.as_of.isoformat() if task.as_of else None}
        return f"{short_hash('creation', canonical_json([asked, dict(maker.identity()), self._creation()]))}.json"


def _made_as(way: Way | None) -> Made:
    """How what is missing is made."""
    return way if way == "llm" or way == "agent" else "agent_retrieval"


def _key_of(protocol: Protocol) -> str:
    settings = {key: value for key, value in (protocol.settings or {}).items() if key != "tools_chosen"}
    record = protocol.model_dump(mode="json", include={"as_of", "creator", "judge", "tools"})
    return canonical_json([folded(protocol.query), record, settings])
