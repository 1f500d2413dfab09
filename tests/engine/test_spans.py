"""A run's spans as a receiver on loopback gets them over OTLP, held against the run's own ledger."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from dreambench.engine.call import CallRecord
from dreambench.engine.cell import Cell
from dreambench.engine.clock import Clock
from dreambench.engine.spans import NoSpans, Spans, open_spans
from dreambench.errors import ConfigError, ProviderError
from dreambench.records import Judgment
from tests.apps.command import dreambench
from tests.apps.conftest import DATA
from tests.support.openai_stub import OpenAIStub

pytest.importorskip("opentelemetry.sdk")


@dataclass
class Receiver:
    """An OTLP receiver: what was sent to it, by path."""

    url: str
    bodies: list[tuple[str, bytes]] = field(default_factory=list)

    def spans(self) -> list[Any]:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        found = []
        for path, body in self.bodies:
            assert path == "/v1/traces"
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            for resource in request.resource_spans:
                known = values(resource.resource.attributes)
                assert (known["service.name"], known["service.version"]) == ("dreambench", "0+source")
                found += [span for scope in resource.scope_spans for span in scope.spans]
        return found


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    got = Receiver(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield got
    server.shutdown()
    thread.join()
    server.server_close()


def values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


def test_a_runs_spans_say_what_its_ledger_says(receiver: Receiver, tmp_path: Path) -> None:
    with OpenAIStub() as stub:
        judge = ["judge=litellm", "judge.litellm.model=openai/one", f"judge.litellm.api_base={stub.url}"]
        line = [*DATA, *judge, "judge.litellm.price={input:1.0,output:2.0}", "metric=[wq,length]", "dataset.limit=1"]
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url}
        ran = dreambench(*line, "engine.telemetry=otlp", cwd=tmp_path, env=env)
        assert ran.code == 0, ran.err
        again = dreambench(*line, cwd=tmp_path, env=env)
        assert "0 cells judged" in again.out
    spans = receiver.spans()
    assert len({span.trace_id for span in spans}) == 1, "and the second run, without the key, sent nothing"
    (run,) = [span for span in spans if not span.parent_span_id]
    (folder,) = (tmp_path / "outputs").iterdir()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert run.name == f"run {folder.name}" and values(run.attributes)["dreambench.run"] == summary["run"]
    cells = {span.span_id: span for span in spans if span.parent_span_id == run.span_id}
    assert Counter(span.name for span in cells.values()) == Counter(
        pl.read_parquet(folder / "judgments.parquet")
        .select("metric", "report")
        .unique()
        .select(pl.format("cell {}", "metric"))
        .to_series()
        .to_list()
    )
    chats = [span for span in spans if span.parent_span_id in cells]
    assert len(spans) == 1 + len(cells) + len(chats)
    calls = pl.read_parquet(folder / "calls.parquet").filter(pl.col("source") == "provider")
    assert len(chats) == calls.height > 0
    for span in chats:
        known = values(span.attributes)
        assert (span.name, known["gen_ai.operation.name"], known["gen_ai.provider.name"]) == ("chat one", "chat", "openai")
        assert known["gen_ai.request.model"] == "one" and known["gen_ai.response.model"].startswith("one")
        parent = cells[span.parent_span_id]
        assert parent.start_time_unix_nano <= span.end_time_unix_nano <= parent.end_time_unix_nano
        assert span.kind == 3  # client
    for name, column in {"gen_ai.usage.input_tokens": "prompt_tokens", "dreambench.cost_usd": "cost"}.items():
        assert sum(values(span.attributes)[name] for span in chats) == pytest.approx(calls[column].sum())
    sent = b"".join(body for _, body in receiver.bodies)
    texts = pl.read_parquet(folder / "reports.parquet")
    assert not [text for text in texts["text"].to_list() + texts["query"].to_list() if text[:60].encode() in sent]


def test_names_are_those_of_the_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

    known = {getattr(gen_ai_attributes, name) for name in dir(gen_ai_attributes) if name.isupper()}
    _, made = recorded(record(role="tools", provider="tools", requested_model="corpus.web_search"), record())
    used = {key for span in made for key in span.attributes if key.startswith("gen_ai.")}
    assert used <= known and len(used) == 11


def test_failed_calls_and_cells_say_so() -> None:
    cell, (call,) = recorded(record(outcome="refusal"), error=ProviderError("gone", code="gone"))
    assert call.attributes["error.type"] == "refusal" and not call.status.is_ok
    assert cell.attributes["error.type"] == "ProviderError" and not cell.status.is_ok


def test_answers_from_the_cache_are_counted_and_rules_are_no_models() -> None:
    cell, (call,) = recorded(record(source="cache"), record(source="flight"), record(provider="embedded", requested_model="e"))
    assert cell.attributes["dreambench.cached_calls"] == 2
    assert call.name == "answer e" and not [key for key in call.attributes if key.startswith("gen_ai.")]


def test_without_the_key_nothing_is_imported_and_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(open_spans(None, Clock(), "1")) is NoSpans
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match=r"engine\.telemetry: .* is not installed\n  type: pip install"):
        open_spans("otlp", Clock(), "1")


def record(**changed: Any) -> CallRecord:
    known: dict[str, Any] = {"key": "k", "cell": "c", "role": "judging", "provider": "litellm", "account": "a"}
    known |= {"requested_model": "gemini/flash", "answered_model": "flash-1", "fingerprint": "", "repeat": 0}
    known |= {"source": "provider", "outcome": "ok", "attempts": 1, "prompt_tokens": 10, "completion_tokens": 2}
    return CallRecord(**known | {"cached_tokens": 4, "reasoning_tokens": 1, "cost": 0.5, "seconds": 0.25} | changed)


def recorded(*records: CallRecord, error: Exception | None = None) -> tuple[Any, list[Any]]:
    """The spans of one cell that made these calls, and theirs."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    spans = Spans(provider, Clock())

    async def work(cell: Cell) -> list[Judgment]:
        for one in records:
            spans.call_recorded(one)
        if error:
            raise error
        return []

    async def run() -> None:
        spans.begin("demo", "r", 1)
        try:
            await spans.around(work)(Cell("c", "wq", "j", "t", "r", 0, {}))
        except ProviderError:
            assert error
        await spans.close()

    asyncio.run(run())
    *calls, cell, top = memory.get_finished_spans()
    assert cell.parent.span_id == top.context.span_id and all(one.parent.span_id == cell.context.span_id for one in calls)
    assert not calls or (calls[0].end_time - calls[0].start_time) / 1e9 == pytest.approx(0.25)
    return cell, calls
