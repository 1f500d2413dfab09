"""New part: a backbone of one's own. This one scores by a rule, offline; put your model where `_score` is.

A judge says what it can answer (`refusal`), what can change an answer (`identity`), and answers through the gateway, which
caches, limits, retries and counts: `send` makes exactly one attempt and retries nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import PositiveInt

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.gateway import Gateway
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context, Reading
from dreambench.judges.rubric import Rubric

VERSION = 1
"""Raise it when the same question would be answered otherwise: stored answers are then not found again."""


class NewPart(Judge):
    """Scores a report by its number of words: the top of the scale from `words` on. Answers questions of kind `score` only."""

    note = "new_part: counts words, reads nothing"

    def __init__(self, *, name: str, gateway: Gateway, words: PositiveInt = 500) -> None:
        super().__init__(name=name, gateway=gateway)
        self.words = words

    def identity(self) -> Mapping[str, Any]:
        """Names the judge in runs and in the cache."""
        return {"judge": "new_part", "version": VERSION, "words": self.words}

    def refusal(self, rubric: Rubric) -> str | None:
        """Said before anything runs; a question that cannot be answered is never answered by default."""
        return None if rubric.kind.name == "score" else f"it answers no questions of kind {rubric.kind.name}"

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        """The typed answer of the rubric's kind. `rubric.render(context)` is what a language model would be sent."""
        body = {**self.identity(), "rubric": rubric.sha256, "context": context.model_dump(mode="json")}
        call = Call("new_part", "new_part", "new_part", body, role, repeat, metered=False)

        async def send() -> Reply:
            return Reply(canonical_json(self._score(rubric, context)), model="new_part", cost=0.0)

        reply = await self.gateway.call(call, send)
        model = rubric.kind.answer_model(rubric.settings, context)
        return model.model_validate_json(reply.answer, context=Reading(context)).with_cost(0.0)

    def _score(self, rubric: Rubric, context: Context) -> dict[str, Any]:
        low, high = rubric.settings.get("scale", (0, 100))
        count = len(context.model_dump()["report"].split())
        return {"reason": f"{count} words.", "score": low + round(min(1.0, count / self.words) * (high - low))}
