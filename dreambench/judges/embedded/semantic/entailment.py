"""`entailment`: the encoder finds the sentences of each passage that mean what the claim means, the rules compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dreambench.judges.embedded.entailment import refusal as refusal
from dreambench.judges.embedded.entailment import verdict
from dreambench.judges.embedded.semantic.retrieval import relate_nearest
from dreambench.judges.kinds.entailment import Context, Passage
from dreambench.language.entailment import Relation


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The verdict of the passage that decides, with its sentence."""
    return verdict(settings, context, _decide)


def _decide(claim: str, passages: Sequence[Passage]) -> tuple[Passage, Relation]:
    """A verdict for or against before a partial one, that before none; among equals the closest sentence."""
    rank = {"supports": 2, "contradicts": 2, "partially": 1, "unrelated": 0}
    found = [(passage, *relate_nearest(claim, passage.text)) for passage in passages]
    passage, relation, _ = max(found, key=lambda item: (rank[item[1].label], item[2]))
    return passage, relation
