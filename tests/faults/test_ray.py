"""A run on a Ray cluster of two nodes on this machine, whose worker and then whose node are killed in mid-run."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from dreambench.engine.call import CallRecord
from tests.faults.test_workers import Killing, started
from tests.faults.tiny import QUESTIONS, Tiny, exit_code, same_numbers
from tests.support import openai_stub as acts

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow

RAY = ["engine=ray", "engine.workers=2", *("engine.retry.base=0.001", "engine.start=4", "engine.most=4")]
TRIES = 3


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any]]:
    """A cluster of two nodes, and the second of them. Ray gives a node half a minute to start; a busy machine tries again."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    for left in reversed(range(TRIES)):
        running = Cluster()
        try:
            running.add_node(num_cpus=2, include_dashboard=False)
            node = running.add_node(num_cpus=1)
            running.wait_for_nodes(60)
            break
        except Exception as error:  # Ray raises plain ones
            running.shutdown()
            if not left:
                pytest.skip(f"Ray starts no cluster on this machine: {error}")
    running.connect()
    try:
        yield running, node
    finally:
        ray.shutdown()
        running.shutdown()


def test_a_worker_and_a_node_are_killed_and_the_table_is_the_same(
    cluster: tuple[Any, Any], tiny: Tiny, undisturbed: Tiny
) -> None:
    running, node = cluster
    tiny.overrides = RAY
    tiny.stub.always(acts.slow(0.05))

    class Disturbed(Killing):
        """A worker at the third paid call, the second node at the ninth."""

        def call_recorded(self, record: CallRecord) -> None:
            self.paid += record.source == "provider" and record.outcome == "ok"
            if self.paid == 3:
                os.kill(started(tiny.run)[0]["pid"], signal.SIGKILL)
                self.paid += 100
            elif self.paid == 109:
                running.remove_node(node, allow_graceful=False)
                self.paid += 100

    tiny.watch = Disturbed
    result = tiny.attempt()
    assert exit_code(result) == 0
    lost = json.loads((tiny.run / "summary.json").read_text(encoding="utf-8"))["spent"]["lost_in_flight"]
    assert len(tiny.asked) == QUESTIONS
    assert len(tiny.stub.requests) - QUESTIONS <= lost <= 2 * 4
    assert any("workers that died: " in finding for finding in result.findings)
    same_numbers(tiny.run, undisturbed.run)
