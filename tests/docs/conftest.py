"""Tiny runs that the tests of this folder share: by rules, over lists of items, and against a scripted server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import run
from tests.support.openai_stub import OpenAIStub

SMALL = ["dataset.ids=[saturn-moons]", "metric.factuality.claims=4", "metric.ci.limit=12"]
BY_RULES = ["wq", "factuality", "ci", "da", "kic", "rq", "fact", "citations", "length"]
LISTED = {"item_quality": ["dataset=protocol_items", "dataset.folders=demo"], "verticals": ["dataset=criteria"]}
METRICS = [*BY_RULES, "race", *LISTED]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The run's folder by metric: `race` needs a language model."""
    home = tmp_path_factory.mktemp("runs")
    rules = run(home, *SMALL, "dataset.agents=[good]", f"metric=[{','.join(BY_RULES)}]")
    with OpenAIStub() as stub:
        model = ["judge=openai_compatible", "judge.openai_compatible.model=openai/any"]
        model += [f"judge.openai_compatible.api_base={stub.url}", "metric=[race]", "metric.race.reference_agent=good"]
        by_model = run(home, "dataset.ids=[saturn-moons]", "dataset.agents=[good,badly_cited]", *model)
    listed = {name: run(home, *data, "dataset.limit=1", f"metric=[{name}]") for name, data in LISTED.items()}
    return {**dict.fromkeys(BY_RULES, rules), "race": by_model, **listed}
