"""A provider's batch interface, through litellm's own calls: files, batches, and the lines that come back.

Nothing here waits or tries again. All trouble is a ProviderError, as it is for a request on its own.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dreambench.engine.call import Reply
from dreambench.engine.clock import Clock
from dreambench.errors import ProviderError
from dreambench.judges.llm.client import Ask, Client, load
from dreambench.judges.llm.replies import Price, answer_text, to_reply

ENDPOINT = "/v1/chat/completions"
PROVIDERS = ("openai",)
"""Providers, in litellm's spelling, for which it offers files and batches in OpenAI's form, and which our tests speak to."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
TIMEOUT = 600.0
"""Seconds for one file to go up or down."""
_NAME = "dreambench"
_NO_BILL = {"batch_ignore_default_logging": True}
"""Else litellm reads the answers of an ended batch by itself, to sum up their price."""
_NO_ROOM = "token_limit_exceeded"
"""OpenAI's code for a batch that has to wait until others are through."""


@dataclass(frozen=True, slots=True)
class State:
    """How a batch stands; `done` of `total` requests are through. `why` is what the provider says of a failed one."""

    status: str
    done: int = 0
    total: int = 0
    output_file: str = ""
    error_file: str = ""
    why: str = ""
    code: str = ""

    @property
    def ended(self) -> bool:
        """Whether the provider will do no more for the batch."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Line:
    """What came back for one request: an HTTP response, or an error without one."""

    status: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)
    error: ProviderError | None = None

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Line:
        """A line of the output or the error file."""
        response, error = raw.get("response"), raw.get("error") or {}
        if isinstance(response, dict) and isinstance(response.get("body"), dict):
            return cls(int(response.get("status_code") or 0), response["body"])
        code = str(error.get("code") or "batch_error")
        return cls(error=ProviderError(f"batch: {error.get('message') or code}", code=code))

    @property
    def answered(self) -> bool:
        """Whether the line holds an answer, and no error."""
        return self.error is None and self.status == 200


class _LineError(Exception):
    """A response in a batch that is no answer, in the form in which litellm's errors are understood."""

    def __init__(self, line: Line) -> None:
        error = line.body.get("error") or line.body
        super().__init__(json.dumps(error) if not isinstance(error, dict) else f"{error.get('code')}: {error.get('message')}")
        self.status_code = line.status


class BatchApi:
    """One account's batches. `key` finds the credentials when they are needed; they are never kept."""

    def __init__(
        self, client: Client, provider: str, api_base: str | None, key: Callable[[], str | None], clock: Clock
    ) -> None:
        self._client = client
        self._provider = provider
        self._api_base = api_base
        self._key = key
        self._clock = clock

    async def upload(self, name: str, requests: Mapping[str, Mapping[str, Any]]) -> str:
        """Puts up the requests, by key, as a file; returns its id."""
        lines = ({"custom_id": key, "method": "POST", "url": ENDPOINT, "body": body} for key, body in requests.items())
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "replace")
        file = await self._do("acreate_file", file=(f"{name}.jsonl", data), purpose="batch")
        return str(file.id)

    async def create(self, name: str, file: str) -> str:
        """Starts the batch of an uploaded file; returns the provider's id of it."""
        asked = {"completion_window": "24h", "endpoint": ENDPOINT, "input_file_id": file, "metadata": {_NAME: name}}
        return str((await self._do("acreate_batch", **asked)).id)

    async def find(self, name: str) -> str:
        """The id of the batch that was started under `name`; empty when there is none among the latest hundred."""
        listed = await self._do("alist_batches", limit=100)
        return next((str(batch.id) for batch in listed.data if (batch.metadata or {}).get(_NAME) == name), "")

    async def state(self, batch: str) -> State:
        """How a batch stands now. Raises ProviderError."""
        found = await self._do("aretrieve_batch", batch_id=batch, litellm_metadata=_NO_BILL)
        counts = getattr(found, "request_counts", None)
        errors = getattr(getattr(found, "errors", None), "data", None) or []
        return State(
            str(found.status),
            int(getattr(counts, "completed", 0) or 0) + int(getattr(counts, "failed", 0) or 0),
            int(getattr(counts, "total", 0) or 0),
            str(found.output_file_id or ""),
            str(found.error_file_id or ""),
            "; ".join(str(error.message) for error in errors[:3]),
            "rate_limited" if any(error.code == _NO_ROOM for error in errors) else f"batch_{found.status}",
        )

    async def lines(self, state: State) -> dict[str, Line]:
        """All that came back for the requests of an ended batch, by key."""
        found: dict[str, Line] = {}
        for file in filter(None, (state.output_file, state.error_file)):
            content = await self._do("afile_content", file_id=file)
            for text in content.text.splitlines():
                with suppress(ValueError, KeyError, TypeError):  # a torn line is none: its request counts as not answered
                    raw = json.loads(text)
                    found[str(raw["custom_id"])] = Line.read(raw)
        return found

    def reply(self, line: Line, ask: Ask, price: Price | None, factor: float) -> Reply:
        """The Reply in a line, `factor` times its price. Raises ProviderError where the line holds none."""
        if line.error is not None:
            raise line.error.copy()
        if not line.answered:
            return self._client.meaning(_LineError(line), ask)
        try:
            response = load().litellm.ModelResponse(**line.body)
        except (ValueError, TypeError) as error:
            raise ProviderError(f"{ask.model}: no chat completion in the batch", code="bad_response") from error
        response._hidden_params = {"response_cost": None if price else _listed_cost(response, ask.model)}
        reply = to_reply(response, price, answer_text)
        return reply if reply.cost is None else replace(reply, cost=reply.cost * factor)

    async def _do(self, name: str, **asked: Any) -> Any:
        await self._client.begin()
        call: Callable[..., Awaitable[Any]] = getattr(load().litellm, name)
        ask = Ask(f"{self._provider}/batch", (), None, "", {}, self._api_base)
        try:
            return await call(
                **asked,
                custom_llm_provider=self._provider,
                api_base=self._api_base,
                api_key=self._key(),
                timeout=TIMEOUT,
                max_retries=0,
            )
        except Exception as error:  # `failure` knows every class that litellm raises
            caught = error
        refused = self._client.meaning(caught, ask)  # raises, unless a filter took offence at an upload
        raise ProviderError(f"the batch was refused: {refused.answer}", code="bad_request", permanent=True)


def _listed_cost(response: Any, model: str) -> float | None:
    """litellm's figure for an answer on its own; None for a model that it has no price of."""
    try:
        return float(load().litellm.completion_cost(completion_response=response, model=model))
    except Exception:  # litellm raises a bare Exception for a model that it does not know
        return None
