"""The scripted server that LLM judges are tested against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import KEY
from tests.support.openai_stub import OpenAIStub


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIStub]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with OpenAIStub() as running:
        yield running
