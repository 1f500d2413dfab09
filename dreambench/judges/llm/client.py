"""One attempt at one call, through instructor on top of litellm.

Both are imported when the first answer has to be bought (seconds, hundreds of megabytes), in a thread, and never for a
stored answer. instructor words the request for an answer model and a mode, once where the words do not depend on the
messages; the answer is read by our own code.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from types import ModuleType
from typing import Any
from weakref import WeakSet

from dreambench.engine.call import Reply
from dreambench.engine.clock import Clock
from dreambench.errors import ProviderError
from dreambench.judges.kinds import Answer
from dreambench.judges.llm import bridge
from dreambench.judges.llm.failures import failure
from dreambench.judges.llm.replies import Price, answer_text, to_reply
from dreambench.judges.llm.turns import turn_text

MODES = {"tools": "TOOLS", "json_schema": "JSON_SCHEMA", "json": "JSON"}
OWN_PARAMETERS = ("temperature", "max_tokens", "reasoning_effort", "seed")
"""Parameters that have a config key of their own."""
_QUIET = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "instructor")
_loading = threading.Lock()
_users: WeakSet[Client] = WeakSet()
"""Clients that have sent something and are not closed: litellm's connections are shared, the last one closes them."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What goes out: messages and the model of the answer, with the parameters that the provider gets.

    Without `answer` it is a turn with native tool calls: `tools` may be called, and nothing forces the answer's form.
    """

    model: str
    messages: Sequence[Mapping[str, Any]]
    answer: type[Answer] | None
    mode: str
    params: Mapping[str, Any]
    api_base: str | None
    tools: Sequence[Mapping[str, Any]] = ()


@dataclass(eq=False, slots=True, weakref_slot=True)
class Client:
    """Sends for one judge. `where` is its config path, for errors; `timeout` is seconds for the whole attempt."""

    where: str
    key_names: Sequence[str] = ()
    price: Price | None = None
    timeout: float = 600.0
    clock: Clock = field(default_factory=Clock)

    async def send(self, ask: Ask, key: str | None) -> Reply:
        """One attempt, no retry anywhere below. Raises ProviderError with all that a retry policy needs to know."""
        await self.begin()
        try:
            response = await self._complete(request_of(ask), ask, key)
        except Exception as error:  # `failure` knows every class that litellm raises
            caught = error
        else:
            return to_reply(response, self.price, answer_text if ask.answer else turn_text)
        # Raised outside of the handler: causes hold the request, and with it more than an error should carry.
        return self.meaning(caught, ask)

    async def begin(self) -> None:
        """Loads litellm where it is not there yet; its connections stay open until this client is closed."""
        if not _ready.is_set():
            await asyncio.to_thread(load)
        _users.add(self)

    async def close(self) -> None:
        """Closes litellm's connections once no other client needs them."""
        _users.discard(self)
        if _ready.is_set() and not _users:
            await _close_connections()

    async def _complete(self, request: dict[str, Any], ask: Ask, key: str | None) -> Any:
        """litellm's response to a request."""
        loaded = load()
        async with asyncio.timeout(self.timeout):
            with bridge.watching() as seen, bridge.priced(self.price is not None), loaded.unlogged():
                completion = await loaded.litellm.acompletion(
                    **request,
                    api_base=ask.api_base,
                    api_key=key,
                    timeout=self.timeout,
                    num_retries=0,
                    max_retries=0,
                )
        return bridge.restored(completion, seen)

    def meaning(self, error: Exception, ask: Ask) -> Reply:
        """A refusal of the provider's filter as a Reply; raises ProviderError for all other trouble."""
        if type(error).__name__ == "UnsupportedParamsError":
            raise unsupported(error, ask, self.where)
        meaning = failure(error, ask.model, self.clock.now())
        if isinstance(meaning, Reply):
            return meaning
        if meaning.code == "auth" and self.key_names:
            read = f"{meaning} (the key is read from {' or '.join(self.key_names)})"
            raise ProviderError(read, code="auth", fatal=True)
        raise meaning


def unsupported(error: BaseException, ask: Ask, where: str) -> ProviderError:
    """Names the parameters that a provider does not take, and what to type: none is ever dropped in silence."""
    text = str(error).split("To drop these")[0].split("\n")[0].removeprefix("litellm.UnsupportedParamsError: ")
    sent = [*ask.params, "tools", "tool_choice", "response_format"]
    named = [name for name in sent if name in text]
    cures = dict.fromkeys(_cure(name, ask, where) for name in named)
    message = f"{ask.model} does not take {', '.join(named) or 'a parameter'}: {text.strip()}"
    return ProviderError("\n  type: ".join([message, *cures]), code="unsupported_parameter", fatal=True)


def _cure(name: str, ask: Ask, where: str) -> str:
    if name not in ask.params and ask.answer is None:
        return f"{where}.tool_mode=json"
    if name not in ask.params:
        return f"{where}.mode={' or '.join(mode for mode in MODES if mode != ask.mode)}"
    return f"{where}.{name}=null" if name in OWN_PARAMETERS else f"~{where}.params.{name}"


_ready = threading.Event()


@dataclass(frozen=True, slots=True)
class Loaded:
    """The libraries, set up."""

    litellm: ModuleType
    instructor: ModuleType
    once: Any
    """One attempt in every version of instructor: an int means retries in some and attempts in others."""
    unlogged: Callable[[], AbstractContextManager[object]]
    """Around a call whose success and failure litellm need not log: nobody listens, and it prices every answer once more."""


@cache
def _load_once() -> Loaded:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches a price map from the network at import
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads a .env file from the working folder
    import instructor
    import litellm
    from tenacity import Retrying, stop_after_attempt

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.num_retries = None
    litellm.cache = None
    bridge.watch(litellm)
    for name in ("callbacks", "input_callback", "success_callback", "failure_callback", "service_callback"):
        setattr(litellm, name, [])
    # A call that is cancelled while litellm words its request in a thread leaves litellm's coroutine behind; nothing was sent.
    warnings.filterwarnings("ignore", r"coroutine '\w+\.a(?:sync_)?completion\w*' was never awaited", RuntimeWarning)
    for logger in _QUIET:
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    instructor.from_litellm  # noqa: B018  (loaded lazily by instructor: now, in this thread, not in the event loop)
    unlogged: Callable[[], AbstractContextManager[object]] = nullcontext
    with suppress(ImportError):  # older versions always log
        from litellm._internal_context import internal_sub_call

        unlogged = internal_sub_call
    with suppress(ImportError):
        from litellm.litellm_core_utils.litellm_logging import Logging

        bridge.spare_prices(Logging)
    return Loaded(litellm, instructor, Retrying(stop=stop_after_attempt(1), reraise=True), unlogged)


def request_of(ask: Ask) -> dict[str, Any]:
    """What litellm is asked: model, messages and parameters, and how the answer is to be given."""
    messages = [dict(message) for message in ask.messages]
    request = {"model": ask.model, "messages": messages, **ask.params}
    if ask.answer is None:
        return {**request, "tools": [dict(tool) for tool in ask.tools]} if ask.tools else request
    form = _form(ask.answer, ask.mode)
    return request | (_worded(ask.answer, ask.mode, messages) if form is None else json.loads(form))


@lru_cache(maxsize=256)
def _form(answer: type[Answer], mode: str) -> str | None:
    """What instructor adds to every request for an answer, as JSON: providers' code in litellm may change what it is given.

    None where instructor words the messages themselves.
    """
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    worded = _worded(answer, mode, messages)
    return json.dumps(worded) if worded.pop("messages") == messages else None


def _worded(answer: type[Answer], mode: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The request as instructor words it, caught on its way to litellm."""
    instructor = load().instructor
    sent: dict[str, Any] = {}

    def catch(**request: Any) -> Any:
        sent.update(request)
        raise _Sent

    asking = instructor.from_litellm(catch, mode=getattr(instructor.Mode, MODES[mode]))
    try:
        asking.chat.completions.create(
            response_model=answer, messages=[dict(message) for message in messages], model="", max_retries=load().once
        )
    except Exception as error:  # instructor's own class around ours
        if not sent:
            raise RuntimeError(f"instructor cannot word a request for {answer.__name__}: {error}") from error
    del sent["model"]
    return sent


class _Sent(Exception):
    """No error: it ends instructor's part."""


def load() -> Loaded:
    """litellm and instructor, set up, and a one-attempt policy."""
    with _loading:
        loaded = _load_once()
        _ready.set()
        return loaded


async def _close_connections() -> None:
    litellm = load().litellm
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    await asyncio.sleep(0)  # lets the book-keeping of the last response reach the queue: else it would revive the worker
    await GLOBAL_LOGGING_WORKER.flush()
    await GLOBAL_LOGGING_WORKER.stop(discard_pending=True)
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()  # a closed client that stays there would be used again
