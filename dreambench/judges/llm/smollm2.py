"""SmolLM2-135M-Instruct on this machine: a real model behind the real client, without network or key.

It proves the plumbing. Its verdicts are close to noise, and every table that shows them says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dreambench.engine.call import Reply
from dreambench.engine.gateway import Gateway
from dreambench.errors import Problem
from dreambench.judges import local_server
from dreambench.judges.llm.client import Ask
from dreambench.judges.llm.judge import NO_KEY, LLMJudge
from dreambench.judges.llm.replies import Price

HERE = "smollm2@this machine"


class SmolLM2Judge(LLMJudge):
    """The local model; its server starts with the first answer that has to be made and stops with the judge.

    Typed answers come by JSON schema and agents work by typed actions: the server enforces a schema, but no tool choice.
    `threads` is how many threads of the processor the server takes: more are faster on idle cores, and many times slower on
    busy ones. Answers cost nothing.
    """

    note = "a model of 135 million parameters: it proves that a run works; its verdicts are close to noise"

    def __init__(
        self,
        *,
        name: str,
        gateway: Gateway,
        temperature: float | None = 0.0,
        max_tokens: int | None = 256,
        seed: int | None = 0,
        timeout: float = 600.0,
        params: dict[str, Any] | None = None,
        threads: int = 1,
        reasks: int = 1,
    ) -> None:
        """Raises ConfigError: a number out of range, params that are not up to the user."""
        super().__init__(
            name=name,
            gateway=gateway,
            model=f"openai/{local_server.MODEL}",
            mode="json_schema",
            tool_mode="json",
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            timeout=timeout,
            params=params,
            price=Price(input=0.0, output=0.0),
            reasks=reasks,
        )
        self.api_base = None  # an address of the environment is not meant, and a port changes no answer
        self._server = local_server.LocalServer(threads=threads)

    @property
    def account(self) -> str:
        return HERE

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "judge": "smollm2"}

    def needs(self) -> list[Problem]:
        return [] if self.gateway.replays else local_server.missing(f"judge.{self.name}")

    async def close(self) -> None:
        await super().close()
        await asyncio.to_thread(self._server.stop)

    async def _send(self, ask: Ask) -> Reply:
        address = await asyncio.to_thread(self._server.address)
        return await self._client.send(replace(ask, api_base=address), NO_KEY)
