"""A run rehearsed without buying anything: its own code asks its own questions, and stand-ins take the place of answers.

Every cell is measured on a gateway that looks into the cache and otherwise only notes what would be asked (`Asked`). Where
the next questions depend on an answer that is not there, a stand-in of usual size is given in its place: a report's
check-worthy sentences for its claims, plain queries, a verdict that quotes its first passage, an agent that looks things
up a few times. Look-ups in a corpus are really made; those on the network are not. So the prompts are the run's own
prompts as far as its texts are known, and of a likely shape behind that; `Asked.follows` tells the two apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, TypeVar

from dreambench.documents import parse_document
from dreambench.engine.budget import Budget, Limits
from dreambench.engine.call import Call, Reply
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.gateway import Gateway, Send
from dreambench.engine.limiter import Limiters, Widths
from dreambench.engine.retry import RetryPolicy
from dreambench.engine.store import AnswerStore
from dreambench.errors import CacheMissError, ProviderError, TransientError
from dreambench.evaluators.claims import sentence_claims
from dreambench.judges.judge import Judge, ToolRequest, Turn
from dreambench.judges.kinds import Answer, Context, agent_step, entailment, extract_claims, queries
from dreambench.judges.rubric import Rubric
from dreambench.metrics.metric import Subject
from dreambench.runs.assembly import Parts
from dreambench.runs.subjects import Subjects
from dreambench.tools.page import Page
from dreambench.tools.results import Reason, Search, SearchHit, Visit

T = TypeVar("T")
PAGE_CHARS = 8000
"""Characters of a page that nobody has read yet."""
AGENT_STEPS = 6
"""Look-ups that an agent is taken to make."""
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_SENTENCE = "This is a sentence of the usual length that stands for what the page may say about it. "


class PlannedError(ProviderError):
    """A call that would be bought here, and is not."""

    def __init__(self, call: Call) -> None:
        super().__init__(f"{call.model}: planned, not made", code="planned", permanent=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call that the run would make: `bought` now, or free (`cached`, or `local`: answered in this process).

    `prompt` and `schema` are characters, `wide` those of the prompt that are CJK; `follows` says that the call rests on a
    stand-in and its number is an estimate; `batched` that it goes out in one of the provider's batches.
    """

    metric: str
    role: str
    model: str
    kind: str
    prompt: int
    wide: int
    schema: int
    source: str
    follows: bool
    batched: bool = False


@dataclass(slots=True)
class _Scene:
    """Which cell is rehearsed, what is asked in it, and whether a stand-in was given already."""

    metric: str = ""
    kind: str = ""
    stood_in: bool = False


_SCENE: ContextVar[_Scene] = ContextVar("scene")


def _scene() -> _Scene:
    """The scene of the running cell; an empty one outside of cells (tools that get ready)."""
    return _SCENE.get(None) or _Scene()


class PlanningGateway(Gateway):
    """Notes calls instead of making them. Equal calls are noted once: the run shares their answer."""

    def __init__(self, store: AnswerStore) -> None:
        clock = Clock()
        super().__init__(
            store=store,
            limiters=Limiters(Widths(1, 1), clock),
            retry=RetryPolicy(),
            budget=Budget(Limits(), clock),
            clock=clock,
            record=lambda record: None,
        )
        self.asked: dict[str, Asked] = {}

    @property
    def replays(self) -> bool:
        """True: a plan needs no key."""
        return True

    async def call(self, call: Call, send: Send) -> Reply:
        """The stored answer; else PlannedError, except for look-ups in a corpus, which cost nothing."""
        if call.provider == "tools" and call.account == "tools":
            return await send()
        try:
            stored = await self._store.get(call.key)
        except CacheMissError:
            stored = None
        scene = _scene()
        if call.key not in self.asked:
            local = not call.metered and call.provider != "tools"
            source = "cached" if stored is not None else "local" if local else "bought"
            prompt = "".join(str(message.get("content") or "") for message in call.body.get("messages", ()))
            wide = len(_WIDE.findall(prompt))
            schema = len(str(call.body.get("schema") or call.body.get("tools") or ""))
            self.asked[call.key] = Asked(
                scene.metric, call.role, call.model, scene.kind, len(prompt), wide, schema, source, scene.stood_in, call.batched
            )
        if stored is None:
            raise PlannedError(call)
        return stored

    async def forget(self, calls: Iterable[Call]) -> None:
        """Keeps everything: a plan changes nothing."""


class _Rehearsed(Judge):
    """A judge whose missing answers are stood in for, where anything depends on them."""

    def __init__(self, inner: Judge, gateway: PlanningGateway) -> None:
        super().__init__(name=inner.name, gateway=gateway)
        self._inner, self._gateway = inner, gateway
        self.tool_mode, self.note = inner.tool_mode, inner.note

    def identity(self) -> Mapping[str, Any]:
        return self._inner.identity()

    def refusal(self, rubric: Rubric) -> str | None:
        return self._inner.refusal(rubric)

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        scene = _scene()
        scene.kind = rubric.kind.name
        try:
            return await self._inner.answer(rubric, context, repeat=repeat, role=role)
        except PlannedError:
            made = stand_in(rubric, context)
            if made is None:
                raise
            scene.stood_in = True
            return made

    async def converse(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, repeat: int, role: str
    ) -> Turn:
        scene = _scene()
        scene.kind = "agent_step"
        try:
            return await self._inner.converse(messages, tools, repeat=repeat, role=role)
        except PlannedError:
            scene.stood_in = True
            done = sum(message.get("role") == "tool" for message in messages)
            names = [str(tool["function"]["name"]) for tool in tools]
            if done >= AGENT_STEPS or not names:
                return Turn("done", ())
            return Turn("looking it up", (_look_up(names, done),))

    async def close(self) -> None:
        await self._inner.close()


def stand_in(rubric: Rubric, context: Context) -> Answer | None:
    """An answer of usual size for kinds that others depend on; None for the rest."""
    if isinstance(context, extract_claims.Context):
        document = parse_document(context.report)
        found = sentence_claims(document, context.limit).claims
        claims = [extract_claims.Claim(claim=claim.text, quote=claim.place.of(document.text)) for claim in found]
        return extract_claims.Answer(claims=claims)
    if isinstance(context, queries.Context):
        words = [word for word in context.claim.split() if not any(char.isdigit() for char in word)][:8] or ["topic"]
        asked = [" ".join([*words, *extra]) for extra in (["figures"], ["statistics", "report"], ["history"])]
        more = [f"{' '.join(words)} {chr(97 + number)}" for number in range(max(0, context.count - len(asked)))]
        return queries.Answer(queries=[*asked, *more][: context.count])
    if isinstance(context, entailment.Context):
        silent = entailment.unquoted_of(rubric.settings)
        label = next(label for label in entailment.labels_of(rubric.settings) if label not in silent)
        first = context.passages[0] if context.passages else None
        quote = " ".join(first.text.split()[:20]) if first else ""
        return entailment.Answer(reason=_SENTENCE, passage=first.id if first else "", quote=quote, label=label)
    if isinstance(context, agent_step.Context):
        names = [tool.name for tool in context.tools]
        request = _look_up(names, len(context.steps)) if len(context.steps) < AGENT_STEPS and names else None
        tool = request.name if request else agent_step.FINISH
        return agent_step.Answer(thought=_SENTENCE, tool=tool, arguments={"query": "topic"} if request else {})
    return None


def _look_up(names: Sequence[str], turn: int) -> ToolRequest:
    """A search, then a page, in turns; whatever tool there is where there are neither."""
    if turn % 2 and "page_visit" in names:
        return ToolRequest("page_visit", f'{{"url": "https://example.org/{turn}"}}')
    if "web_search" in names:
        return ToolRequest("web_search", f'{{"query": "topic {turn}"}}')
    return ToolRequest(names[0], "{}")


@dataclass(frozen=True)
class Rehearsal:
    """What a run would ask, cell by cell: all calls once each, cells by metric, and cells that were cut short."""

    asked: Sequence[Asked]
    cells: Mapping[str, int]
    done: int
    """Cells that the run's journal has already."""
    cut_short: Mapping[str, int] = field(default_factory=dict)
    """Cells by metric in which something before the questions is not there yet (a protocol that has to be made first)."""


async def rehearse(parts: Parts, gateway: PlanningGateway, subjects: Subjects, done: Callable[[Cell], bool]) -> Rehearsal:
    """Measures every cell that is not done, one after the other."""
    judges: dict[str, Judge] = {name: _Rehearsed(judge, gateway) for name, judge in parts.judges.items()}
    if parts.protocols.parts:
        parts.protocols.assign(judges)
    cells, cut, before = Counter[str](), Counter[str](), 0
    with _stand_in_look_ups(parts):
        for cell in parts.cells():
            if done(cell):
                before += 1
                continue
            cells[cell.metric] += 1
            scene = _Scene(cell.metric)
            token = _SCENE.set(scene)
            try:
                subject = await _subject(parts, subjects, cell)
                await parts.metrics[cell.metric].measure(subject, judges.get(cell.judge), cell.repeat)
            except TransientError:
                cut[cell.metric] += 1
            finally:
                _SCENE.reset(token)
    return Rehearsal(list(gateway.asked.values()), cells, before, cut)


async def _subject(parts: Parts, subjects: Subjects, cell: Cell) -> Subject:
    """The cell's subject; the clean report in place of one that a model has still to write."""
    try:
        return await subjects.get(cell)
    except TransientError:
        return await subjects.get(replace(cell, arm=""))


@contextmanager
def _stand_in_look_ups(parts: Parts) -> Iterator[None]:
    """Look-ups on the network give pages that nobody has read; a set that reads a corpus is left as it is."""
    tools = parts.tools
    search, visit = tools.web_search, tools.page_visit

    async def web_search(query: str, as_of: date | None, k: int = 10) -> Search:
        hits = [SearchHit(f"https://example.org/{number}", "A page", _SENTENCE * 2) for number in range(k)]
        return await _or_else(search(query, as_of, k), Search(query, tuple(hits)))

    async def page_visit(url: str, as_of: date | None) -> Visit:
        text = (_SENTENCE * (PAGE_CHARS // len(_SENTENCE) + 1))[:PAGE_CHARS]
        return await _or_else(visit(url, as_of), Visit(url, Page(url, "A page", text), Reason.OK.value))

    for name, method in (("web_search", web_search), ("page_visit", page_visit)):
        setattr(tools, name, method)
    try:
        yield
    finally:
        for name in ("web_search", "page_visit"):
            delattr(tools, name)


async def _or_else(look_up: Awaitable[T], otherwise: T) -> T:
    """What the look-up finds in the cache or a corpus; `otherwise` where it would have to be made."""
    try:
        return await look_up
    except PlannedError:
        _scene().stood_in = True
        return otherwise
