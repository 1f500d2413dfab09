"""The server, and the undisturbed run that every disturbed one must end like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.tiny import QUESTIONS, Tiny
from tests.support.openai_stub import OpenAIStub


@pytest.fixture(scope="session")
def server() -> Iterator[OpenAIStub]:
    """One address for all: it is part of a run's identity."""
    with OpenAIStub() as running:
        yield running


@pytest.fixture(scope="session")
def undisturbed(server: OpenAIStub, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The run as it is without trouble, finished; its cache may be copied."""
    whole = Tiny(tmp_path_factory.mktemp("undisturbed"), server)
    result = whole.attempt()
    assert result.outcome.complete
    assert len(whole.asked) == sum(whole.asked.values()) == QUESTIONS
    return whole


@pytest.fixture
def tiny(tmp_path: Path, server: OpenAIStub, undisturbed: Tiny) -> Iterator[Tiny]:
    """A run that was not started yet, at a server that has forgotten everything."""
    server.forget()
    yield Tiny(tmp_path, server)
    server.forget()
