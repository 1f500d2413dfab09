"""The interface that every backbone implements. Judges know nothing of metrics, metrics nothing of providers.

`ask` checks the context against the question kind, takes out what is hidden or addressed to the judge (`untrusted`), and the
subclass answers. A judge refuses rubrics that it cannot answer before the run (`refusal`), never by a default answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dreambench.engine.gateway import Gateway
from dreambench.errors import Problem, UnsupportedQuestionError
from dreambench.judges.kinds import Answer, Context
from dreambench.judges.retirement import Retirement
from dreambench.judges.rubric import Rubric
from dreambench.judges.untrusted import Hostile, cleaned

ToolMode = Literal["native", "json"]
"""How a judge calls tools: the provider's own tool calls, or one typed action a turn."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call that a model asks for; `arguments` is the JSON text that it wrote, valid or not."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation with native tool calls; without calls the model is done. `cost` is in US dollars."""

    text: str
    calls: tuple[ToolRequest, ...]
    cost: float | None = None


class Judge(ABC):
    """A backbone under the name of its config node."""

    tool_mode: ToolMode = "json"

    hostile: Hostile = "cut"
    """What becomes of passages that are addressed to the judge; `show` is for studies of language models."""

    note: str = ""
    """Shown under every table that this judge has a part in; empty for judges that need no warning."""

    def __init__(self, *, name: str, gateway: Gateway) -> None:
        self.name = name
        self.gateway = gateway

    @property
    def batched(self) -> bool:
        """Whether answers come in batches, hours later."""
        return False

    def retirements(self) -> list[Retirement]:
        """The announced ends of the models that this judge asks; empty where none is known."""
        return []

    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """All that can change an answer (model, parameters, base URL, version): JSON-able, no keys, no paths."""

    @abstractmethod
    def refusal(self, rubric: Rubric) -> str | None:
        """Why this judge cannot answer `rubric`, in a few words; None when it can."""

    @abstractmethod
    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        """A valid answer, its price noted. Raises TransientError when there is none."""

    def needs(self) -> list[Problem]:
        """What is missing before this judge can be asked at all (a key, a package); checked before the run."""
        return []

    async def ask(self, rubric: Rubric, *, repeat: int = 0, role: str = "judging", **context: Any) -> Answer:
        """The typed answer to `rubric` about `context`; `repeat` tells wanted repetitions apart.

        Raises UnsupportedQuestionError for a kind that the judge cannot do, TransientError when no usable answer came.
        """
        if why := self.refusal(rubric):
            raise UnsupportedQuestionError(Problem(f"judge.{self.name}", f"cannot answer {rubric.id}: {why}"))
        made = cleaned(rubric.kind.context(**context), self.hostile)
        return await self.answer(rubric, made, repeat=repeat, role=role)

    async def converse(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, repeat: int, role: str
    ) -> Turn:
        """The next turn of a conversation in which `tools` (OpenAI-style schemas) may be called; no typed answer.

        Only for judges whose `tool_mode` is native. Raises TransientError when no turn came.
        """
        raise UnsupportedQuestionError(Problem(f"judge.{self.name}", "has no native tool calls"))

    async def close(self) -> None:  # noqa: B027  (most judges hold nothing)
        """Frees what the judge holds (clients, sessions)."""
