"""A run as OpenTelemetry spans: the run, below it its cells, below these the calls that were made for them.

Calls of models and tools follow the semantic conventions for generative AI (`chat MODEL`, `execute_tool NAME`, `gen_ai.*`).
What these have no name for is `dreambench.*`: role, attempts, cost in US dollars. Texts are never part of a span: no prompt, no
answer, no report. Answers from the cache are no calls: a cell's span counts them. Off unless `engine.telemetry=otlp`; where to
is said by OpenTelemetry's own variables (OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, ...).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.engine import Outcome, Work
from dreambench.errors import ConfigError, Problem
from dreambench.install import extra_hint
from dreambench.records import Judgment

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""What litellm calls a provider, and what the conventions call it, where these differ."""
MODELS = "litellm"
"""The provider of a call record that a language model answered."""
NANO = 1_000_000_000


class NoSpans:
    """No telemetry: nothing is imported and nothing is sent."""

    def begin(self, name: str, run: str, cells: int) -> None:
        """The run starts."""

    def around(self, work: Work) -> Work:
        """`work`, with a span for each cell."""
        return work

    def call_recorded(self, record: CallRecord) -> None:
        """A call has ended."""

    def end(self, outcome: Outcome) -> None:
        """The run has ended, well or not."""

    async def close(self) -> None:
        """Sends what is not sent yet."""


class Spans(NoSpans):
    """Makes the spans of one run with `provider`."""

    def __init__(self, provider: TracerProvider, clock: Clock) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("dreambench")
        self._clock = clock
        self._run: Span | None = None
        self._cells: dict[str, Span] = {}
        self._cached: Counter[str] = Counter()

    def begin(self, name: str, run: str, cells: int) -> None:
        known: dict[str, str | int] = {"dreambench.run": run, "dreambench.cells": cells}
        self._run = self._tracer.start_span(f"run {name}", attributes=known, start_time=self._now())

    def around(self, work: Work) -> Work:
        from opentelemetry.trace import StatusCode

        async def observed(cell: Cell) -> Sequence[Judgment]:
            span = self._tracer.start_span(
                f"cell {cell.metric}", self._below(self._run), attributes=_cell(cell), start_time=self._now()
            )
            self._cells[cell.id] = span
            try:
                judgments = await work(cell)
                span.set_attribute("dreambench.judgments", len(judgments))
                return judgments
            except BaseException as error:  # a cancelled cell's span says so too
                span.set_status(StatusCode.ERROR)
                span.set_attribute("error.type", type(error).__name__)
                raise
            finally:
                span.set_attribute("dreambench.cached_calls", self._cached.pop(cell.id, 0))
                span.end(self._now())

        return observed

    def call_recorded(self, record: CallRecord) -> None:
        from opentelemetry.trace import SpanKind, StatusCode

        if record.source != "provider":
            self._cached[record.cell] += 1
            return
        end = self._now()
        name, known, kind = _call(record)
        span = self._tracer.start_span(
            name,
            self._below(self._cells.get(record.cell, self._run)),
            kind=SpanKind.CLIENT if kind == "client" else SpanKind.INTERNAL,
            attributes=known,
            start_time=end - int(record.seconds * NANO),
        )
        if record.outcome != "ok":
            span.set_attribute("error.type", record.outcome)
            span.set_status(StatusCode.ERROR)
        span.end(end)

    def end(self, outcome: Outcome) -> None:
        if self._run is None:
            return
        counts = {"finished": outcome.finished, "before": outcome.before, "owed": outcome.owed}
        self._run.set_attributes({f"dreambench.cells.{name}": count for name, count in counts.items()})
        if outcome.stopped:
            self._run.set_attribute("dreambench.stopped", outcome.stopped)

    async def close(self) -> None:
        """Ends the run's span and sends the rest; a receiver that does not answer costs seconds and spans, never the run."""
        if self._run is not None:
            self._run.end(self._now())
        await asyncio.to_thread(self._provider.shutdown)

    def _now(self) -> int:
        return int(self._clock.now().timestamp() * NANO)

    def _below(self, parent: Span | None) -> Any:
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        return set_span_in_context(parent, Context()) if parent is not None else Context()


def open_spans(telemetry: str | None, clock: Clock, version: str) -> NoSpans:
    """What makes the spans of a run. Raises ConfigError when they are wanted and OpenTelemetry is not installed."""
    if telemetry is None:
        return NoSpans()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise ConfigError(Problem("engine.telemetry", f"{error.name} is not installed", type=extra_hint("otel"))) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "dreambench", "service.version": version}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider, clock)


def _cell(cell: Cell) -> dict[str, str | int]:
    known = {"metric": cell.metric, "judge": cell.judge, "task": cell.task, "report": cell.report, "arm": cell.arm}
    return {"dreambench.repeat": cell.repeat, **{f"dreambench.{key}": value for key, value in known.items() if value}}


def _call(record: CallRecord) -> tuple[str, Mapping[str, Any], Literal["client", "internal"]]:
    """Name, attributes and kind of a call's span."""
    known: dict[str, Any] = {"dreambench.role": record.role, "dreambench.attempts": record.attempts}
    if record.cost is not None:
        known["dreambench.cost_usd"] = record.cost
    if record.role == "tools":
        tool = record.requested_model
        known |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.type": "function"}
        return f"execute_tool {tool}", known, "internal"
    if record.provider != MODELS:  # rules in this process: no generative AI
        return f"answer {record.requested_model}", known, "internal"
    provider, _, model = record.requested_model.partition("/")
    known |= {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": PROVIDERS.get(provider, provider) if model else "litellm",
        "gen_ai.request.model": model or provider,
        "gen_ai.usage.input_tokens": record.prompt_tokens,
        "gen_ai.usage.output_tokens": record.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": record.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": record.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": record.reasoning_tokens,
        "dreambench.repeat": record.repeat,
    }
    if record.answered_model:
        known["gen_ai.response.model"] = record.answered_model
    return f"chat {known['gen_ai.request.model']}", known, "client"
