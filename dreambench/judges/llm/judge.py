"""The LLM judge: renders the rubric, asks through the gateway, reads the typed answer, sends an unreadable one back.

Everything that can change an answer is in the call's body before litellm is imported, so a stored answer costs neither
its import nor a key. Each turn of a correction is a call with its own key: a replay walks the same chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Any, ClassVar, Literal

from dreambench.config.secrets import SECRET, VARIABLE
from dreambench.engine.call import Call, Reply
from dreambench.engine.gateway import Gateway
from dreambench.engine.limiter import Widths
from dreambench.engine.rate import PerMinute
from dreambench.errors import AnswerError, ConfigError, Problem
from dreambench.judges.judge import Judge, ToolMode, Turn
from dreambench.judges.kinds import Answer, Context, Reading
from dreambench.judges.llm import providers
from dreambench.judges.llm.answers import UnreadableAnswer, correction, read_answer, reask_text
from dreambench.judges.llm.batch import BatchSender, BatchSettings
from dreambench.judges.llm.batch import problems_of as batch_problems
from dreambench.judges.llm.client import OWN_PARAMETERS, Ask, Client
from dreambench.judges.llm.replies import Price
from dreambench.judges.llm.turns import read_turn
from dreambench.judges.retirement import Retirement
from dreambench.judges.rubric import Rubric
from dreambench.judges.untrusted import Hostile
from dreambench.records import short_hash

Mode = Literal["tools", "json_schema", "json"]
Delivery = Literal["now", "batch"]
USUAL_BATCHES = BatchSettings()

_OWN_KEYS = frozenset({"model", "api_base", "timeout", *OWN_PARAMETERS})
_REQUEST = frozenset({"messages", "tools", "tool_choice", "response_format", "response_model", "functions", "stream", "n"})
_RETRIES = frozenset({"num_retries", "max_retries", "fallbacks", "cache", "caching", "mock_response", "client"})
_INSTRUCTOR = frozenset({"base_url", "drop_params", "context", "strict", "hooks", "token_budget"})
_NOT_PARAMETERS = _REQUEST | _RETRIES | _INSTRUCTOR
_RANGES = {"temperature": (0.0, 2.0), "max_tokens": (1, 1e7), "timeout": (0.1, 86400.0), "reasks": (0, 5)}
NO_KEY = "none"
"""Sent to servers on this machine or network when no key is set; clients insist on one."""


class LLMJudge(Judge):
    """A model behind a provider that litellm reaches.

    `model` is litellm's `provider/model`; `params` is passed on to the provider as it is; `price` overrides litellm's
    figures; `api_key_env` names the variable that holds the key; `reasks` is how often an unreadable answer is sent back;
    `hostile` is whether passages addressed to the judge are cut, or shown to the model (`judges.untrusted`).
    With `seed`, repeat r is asked with seed + r. Keys that are null are not sent. `per_minute` limits the requests and tokens
    of the judge's account (the provider at an address), whoever else asks there; batches are not counted. With `delivery`
    batch, rubrics are asked through the provider's batch interface (`judges.llm.batch`) as `batch` says, agents' turns at
    once; the answers are the same, so neither is part of the judge's identity. `retires` is the day on which the provider
    ends the model, `successor` the judge option or `provider/model` to go on with (`judges.retirement`).
    """

    axes: ClassVar[tuple[str, ...]] = (
        "model",
        "mode",
        "tool_mode",
        "temperature",
        "max_tokens",
        "reasoning_effort",
        "seed",
        "hostile",
    )

    def __init__(
        self,
        *,
        name: str,
        gateway: Gateway,
        model: str,
        api_base: str | None = None,
        mode: Mode = "tools",
        tool_mode: ToolMode = "native",
        temperature: float | None = None,
        max_tokens: int | None = None,
        reasoning_effort: str | None = None,
        seed: int | None = None,
        timeout: float = 600.0,
        params: dict[str, Any] | None = None,
        price: Price | None = None,
        api_key_env: str | None = None,
        reasks: int = 1,
        hostile: Hostile = "cut",
        per_minute: PerMinute | None = None,
        retires: date | None = None,
        successor: str | None = None,
        delivery: Delivery = "now",
        batch: BatchSettings = USUAL_BATCHES,
    ) -> None:
        """Raises ConfigError: a model without a provider, an address or params with a secret, a number out of range."""
        super().__init__(name=name, gateway=gateway)
        self.model = model
        self.mode = mode
        self.tool_mode = tool_mode
        self.reasks = reasks
        self.hostile = hostile
        self.price = price
        self.retires = retires
        self.successor = successor
        self.api_base = providers.base_url(model, api_base)
        self._seed = seed
        self._params = {"temperature": temperature, "max_tokens": max_tokens, "reasoning_effort": reasoning_effort}
        self._params = {key: value for key, value in {**self._params, **(params or {})}.items() if value is not None}
        self._key_names = providers.key_names(model, api_key_env)
        self._client = Client(f"judge.{name}", self._key_names, price, timeout)
        where = f"judge.{name}"
        numbers = {"temperature": temperature, "max_tokens": max_tokens, "timeout": timeout, "reasks": reasks}
        problems = [
            *providers.problems_of(where, model, self.api_base),
            *_out_of_range(where, numbers),
            *_bad_params(where, params or {}),
            *_thinking(where, model, mode, self._params),
            *_no_variable(where, api_key_env),
            *(batch_problems(where, providers.provider_of(model), params or {}) if delivery == "batch" else []),
        ]
        if problems:
            raise ConfigError(*problems)
        if per_minute is not None:
            gateway.limit(self.account, per_minute=per_minute)
        self.batches = self._batch_sender(batch) if delivery == "batch" else None

    @property
    def account(self) -> str:
        """What rate limits belong to: the provider at an address."""
        return f"{providers.provider_of(self.model)}@{self.api_base or 'default'}"

    @property
    def batched(self) -> bool:
        return self.batches is not None

    @property
    def batch_account(self) -> str:
        """Requests that wait in batches take no slot of those that are sent at once."""
        return f"{self.account} in batches"

    def retirements(self) -> list[Retirement]:
        return [] if self.retires is None else [Retirement(self.name, self.model, self.retires, self.successor)]

    def identity(self) -> Mapping[str, Any]:
        return {
            "judge": "llm",
            "model": self.model,
            "api_base": self.api_base,
            "mode": self.mode,
            "tool_mode": self.tool_mode,
            "params": self._params,
            "seed": self._seed,
            "reasks": self.reasks,
            "reask": short_hash(reask_text()),
            "hostile": self.hostile,
        }

    def refusal(self, rubric: Rubric) -> str | None:
        """None: a language model can be asked anything that a rubric words."""
        return None

    def needs(self) -> list[Problem]:
        if self.gateway.replays:
            return []
        return providers.missing_key(f"judge.{self.name}", self._key_names, self.api_base)

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        """The typed answer, sent back up to `reasks` times. Raises AnswerError `unreadable` when it never gets valid.

        Wrong quotes send an answer back, but do not spoil it: the last turn is read leniently, and the metric marks them.
        """
        model = rubric.kind.answer_model(rubric.settings, context)
        messages = rubric.render(context)
        asked: list[Call] = []
        cost: float | None = 0.0
        problems = ""
        for turn in range(self.reasks + 1):
            reply = await self._ask(messages, model, repeat, role, asked)
            cost = None if cost is None or reply.cost is None else cost + reply.cost
            try:
                return read_answer(reply.answer, model, Reading(context, strict=turn < self.reasks)).with_cost(cost)
            except UnreadableAnswer as error:
                problems = str(error)
                messages = [*messages, *correction(reply.answer, error)]
        await self.gateway.forget(asked)
        turns = f"{len(asked)} answers" if len(asked) > 1 else "the answer"
        raise AnswerError(f"judge.{self.name}: {rubric.id}: {turns} could not be read:\n{problems}", code="unreadable")

    async def converse(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], *, repeat: int, role: str
    ) -> Turn:
        """One turn with native tool calls. It carries no response schema: many servers take tools or a schema, not both."""
        body = {
            "api_base": self.api_base,
            "mode": "native",
            "messages": messages,
            "tools": tools,
            "params": self._sent(repeat),
        }
        call = Call("litellm", self.account, self.model, body, role, repeat)
        ask = Ask(self.model, messages, None, "native", self._sent(repeat), self.api_base, tools)
        reply = await self.gateway.call(call, lambda: self._send(ask))
        return read_turn(reply.answer, reply.cost)

    async def close(self) -> None:
        if self.batches is not None:
            await self.batches.close()
        await self._client.close()

    async def _send(self, ask: Ask) -> Reply:
        """One attempt; a judge that brings its own server says here where it listens."""
        return await self._client.send(ask, self._key())

    async def _ask(
        self, messages: Sequence[Mapping[str, str]], model: type[Answer], repeat: int, role: str, asked: list[Call]
    ) -> Reply:
        params = self._sent(repeat)
        body = {
            "api_base": self.api_base,
            "mode": self.mode,
            "messages": messages,
            "schema": _schema(model),
            "params": params,
        }
        batches = self.batches
        account = self.account if batches is None else self.batch_account
        call = Call("litellm", account, self.model, body, role, repeat, batched=batches is not None)
        asked.append(call)
        ask = Ask(self.model, messages, model, self.mode, params, self.api_base)
        return await self.gateway.call(call, lambda: self._send(ask) if batches is None else batches.send(call.key, ask))

    def _batch_sender(self, settings: BatchSettings) -> BatchSender:
        self.gateway.limit(self.batch_account, Widths(settings.open, settings.open))
        return BatchSender(
            where=f"judge.{self.name}",
            account=self.account,
            client=self._client,
            provider=providers.provider_of(self.model),
            api_base=self.api_base,
            key=self._key,
            price=self.price,
            settings=settings,
            gateway=self.gateway,
        )

    def _sent(self, repeat: int) -> dict[str, Any]:
        return dict(self._params) if self._seed is None else {**self._params, "seed": self._seed + repeat}

    def _key(self) -> str | None:
        key = providers.find_key(self._key_names)
        nobody_looks = providers.is_local(self.api_base) and not providers.finds_credentials(self.model)
        return key or (NO_KEY if nobody_looks else None)


@lru_cache(maxsize=256)
def _schema(model: type[Answer]) -> dict[str, Any]:
    return model.model_json_schema()


def _out_of_range(where: str, numbers: Mapping[str, float | None]) -> list[Problem]:
    return [
        Problem(f"{where}.{name}", f"{value:g} is out of range", [f"{low:g} to {high:g}"])
        for name, value in numbers.items()
        for low, high in [_RANGES[name]]
        if value is not None and not low <= value <= high
    ]


def _thinking(where: str, model: str, mode: Mode, params: Mapping[str, Any]) -> list[Problem]:
    """What a Claude model that thinks refuses: a tool that has to be called, and any temperature but 1 (Anthropic's docs)."""
    if "claude" not in model or params.get("reasoning_effort") in (None, "none"):
        return []
    found = []
    if mode == "tools":
        what = "a Claude model that reasons cannot be made to call a tool"
        found.append(Problem(f"{where}.mode", what, ["json_schema", "json"], f"{where}.mode=json_schema"))
    if params.get("temperature") not in (None, 1):
        found.append(
            Problem(
                f"{where}.temperature",
                "a Claude model that reasons takes no temperature",
                ["null", "1"],
                f"{where}.temperature=null",
            )
        )
    return found


def _bad_params(where: str, params: Mapping[str, Any]) -> list[Problem]:
    problems = []
    for name in params:
        place = f"{where}.params.{name}"
        if name in _OWN_KEYS:
            problems.append(Problem(place, "has a key of its own", type=f"{where}.{name}={params[name]}"))
        elif name in _NOT_PARAMETERS:
            problems.append(Problem(place, "is not up to the user: requests and retries have one owner"))
    for path in _secret_names(params):
        problems.append(
            Problem(f"{where}.params.{path}", "keys live in the environment only", type=f"{where}.api_key_env=MY_KEY")
        )
    return problems


def _no_variable(where: str, name: str | None) -> list[Problem]:
    """The key itself, where the name of its variable belongs."""
    if name is None or VARIABLE.fullmatch(name):
        return []
    what = "is no name of an environment variable; the key itself belongs in one"
    return [Problem(f"{where}.api_key_env", what, type=f"export MY_KEY=... and {where}.api_key_env=MY_KEY")]


def _secret_names(params: Mapping[str, Any], above: str = "") -> list[str]:
    found = []
    for name, value in params.items():
        if isinstance(value, Mapping):
            found += _secret_names(value, f"{above}{name}.")
        elif isinstance(value, str) and SECRET.search(str(name)):
            found.append(f"{above}{name}")
    return found
