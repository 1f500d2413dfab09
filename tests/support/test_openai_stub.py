"""The scripted server itself: its answers fit the schemas, and it carries the load that tests put on it."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import date
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tests.support.openai_stub import OpenAIStub, failing
from tests.support.schema_answers import answer_to


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    label: Literal["yes", "no"]
    share: float = Field(gt=0, lt=1)
    quote: str


class Everything(BaseModel):
    whole: int = Field(ge=3, le=9)
    above: int = Field(gt=3, lt=6)
    anything: int
    colour: Colour
    constant: Literal[7]
    parts: list[Part] = Field(min_length=2, max_length=4)
    by_id: dict[str, Part]
    pair: tuple[int, str]
    maybe: float | None
    day: date
    text: Annotated[str, Field(min_length=30, max_length=40)]
    flag: bool
    nothing: None
    left_out: str = "default"


@given(st.text(min_size=1, max_size=8))
@settings(max_examples=60)
def test_answers_fit_the_schema_and_depend_on_the_seed_alone(seed: str) -> None:
    schema = Everything.model_json_schema()
    answer = answer_to(schema, seed, "A line of the prompt with enough words in it.\nshort")
    made = Everything.model_validate(json.loads(json.dumps(answer)))
    assert made.parts[0].quote == "A line of the prompt with enough words in it."
    assert answer == answer_to(schema, seed, "A line of the prompt with enough words in it.\nshort")


async def _post(stub: OpenAIStub, number: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(stub.url.rsplit(":", 1)[1].split("/")[0]))
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"q {number}"}]}).encode()
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    status = int((await reader.readline()).split()[1])
    writer.close()
    return status


def test_256_at_once_and_hundreds_a_second() -> None:
    async def go() -> list[int]:
        return await asyncio.gather(*(_post(stub, number) for number in range(256)))

    with OpenAIStub(latency=0.1, sigma=0.1) as stub:
        began = time.monotonic()
        assert asyncio.run(go()) == [200] * 256
        assert time.monotonic() - began < 5
        assert stub.most > 128


def test_scripts_are_played_in_order_to_the_requests_they_match() -> None:
    with OpenAIStub() as stub:
        stub.script(failing(500), failing(429), when=lambda body: "q 1" in str(body))
        statuses = [asyncio.run(_post(stub, number)) for number in (1, 2, 1, 1)]
    assert statuses == [500, 200, 429, 200]
    assert [body["messages"][0]["content"] for body in stub.bodies] == ["q 1", "q 2", "q 1", "q 1"]


@pytest.mark.parametrize("times", [2])
def test_it_stops_with_connections_open(times: int) -> None:
    for _ in range(times):
        with OpenAIStub(latency=30, sigma=0) as stub:

            async def hang(running: OpenAIStub = stub) -> None:
                with pytest.raises((TimeoutError, ValueError)):
                    await asyncio.wait_for(_post(running, 1), 0.1)

            asyncio.run(hang())
