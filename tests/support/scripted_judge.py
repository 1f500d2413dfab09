"""A judge that answers what a test says, through the real gateway and the real answer models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.gateway import Gateway
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context
from dreambench.judges.rubric import Rubric

Script = Callable[[Rubric, Context, int], Mapping[str, Any]]


class ScriptedJudge(Judge):
    """`script(rubric, context, repeat)` gives the answer's fields, or raises what a boundary would raise."""

    def __init__(self, *, name: str, gateway: Gateway, script: Script) -> None:
        super().__init__(name=name, gateway=gateway)
        self.script = script

    def identity(self) -> Mapping[str, Any]:
        return {"judge": "scripted", "name": self.name}

    def refusal(self, rubric: Rubric) -> str | None:
        return None

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        body = {"rubric": rubric.sha256, "context": context.model_dump()}
        call = Call("scripted", "scripted", self.name, body, role=role, repeat=repeat)

        async def send() -> Reply:
            return Reply(canonical_json(self.script(rubric, context, repeat)), model=self.name, cost=0.01)

        reply = await self.gateway.call(call, send)
        model = rubric.kind.answer_model(rubric.settings, context)
        return model.model_validate_json(reply.answer).with_cost(reply.cost)
