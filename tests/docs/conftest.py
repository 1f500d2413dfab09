"""Two tiny runs that the tests of this folder share: by rules, and against a scripted server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import run
from tests.support.openai_stub import OpenAIStub

TINY = ["dataset.ids=[saturn-moons]", "dataset.agents=[good,badly_cited]"]
BY_RULES = ["wq", "factuality", "ci", "da", "kic", "rq", "fact", "citations", "length"]
METRICS = [*BY_RULES, "race"]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The run's folder by metric: `race` needs a language model."""
    home = tmp_path_factory.mktemp("runs")
    rules = run(home, *TINY, f"metric=[{','.join(BY_RULES)}]", "metric.factuality.claims=4")
    with OpenAIStub() as stub:
        model = ["judge=openai_compatible", "judge.openai_compatible.model=openai/any"]
        model += [f"judge.openai_compatible.api_base={stub.url}", "metric=[race]", "metric.race.reference_agent=good"]
        by_model = run(home, *TINY, *model)
    return {**dict.fromkeys(BY_RULES, rules), "race": by_model}
