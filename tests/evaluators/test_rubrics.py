"""The rubrics of Factuality and Citation Integrity: variants ask the same, and the embedded judge can answer all of them."""

from __future__ import annotations

import pytest

from dreambench.judges.embedded import EmbeddedJudge
from dreambench.judges.kinds.entailment import labels_of, unquoted_of
from tests.support.gateway import TestGateway
from tests.support.workflow import SHELF

QUESTIONS = sorted({name.rpartition(".")[0] for folder in ("factuality", "ci") for name in SHELF.names(folder)})


def test_there_is_a_rubric_for_every_question() -> None:
    assert QUESTIONS == [
        "ci/extract",
        "ci/support",
        "factuality/confirming",
        "factuality/contradicting",
        "factuality/extract",
        "factuality/judgment",
        "factuality/queries",
    ]


@pytest.mark.parametrize("question", QUESTIONS)
def test_variants_ask_the_same_in_other_words(question: str, gateway: TestGateway) -> None:
    default, terse = SHELF.load(f"{question}.default"), SHELF.load(f"{question}.terse")
    assert default.kind is terse.kind and default.settings == terse.settings
    assert default.sha256 != terse.sha256
    judge = EmbeddedJudge(name="embedded", gateway=gateway)
    assert judge.refusal(default) is None and judge.refusal(terse) is None


def test_a_pass_says_something_with_the_labels_that_need_a_quote() -> None:
    telling = {}
    for name in ("confirming", "contradicting"):
        settings = SHELF.load(f"factuality/{name}.default").settings
        telling[name] = set(labels_of(settings)) - set(unquoted_of(settings))
    assert telling == {"confirming": {"supported", "partially_supported"}, "contradicting": {"contradicted"}}
