"""`extract_claims`: the rules find the claims; with a limit, the encoder chooses those closest to the question and unlike each
other (maximal marginal relevance, Carbonell and Goldstein 1998, lambda .7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded import extract_claims as rules
from dreambench.judges.embedded.extract_claims import refusal as refusal
from dreambench.judges.embedded.semantic.encoder import encode
from dreambench.judges.kinds.extract_claims import Context

_LAMBDA = 0.7


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The claims with the words that make them; none where nothing can be checked."""
    found: list[dict[str, str]] = rules.answer(settings, context.model_copy(update={"limit": None}))["claims"]
    if context.limit is None or not found:
        return {"claims": found}
    return {"claims": [found[index] for index in _chosen([c["claim"] for c in found], context.question, context.limit)]}


def _chosen(claims: list[str], question: str, limit: int) -> list[int]:
    vectors = encode(claims)
    near = vectors @ encode([question])[0]
    alike = vectors @ vectors.T
    chosen: list[int] = []
    while len(chosen) < min(limit, len(claims)):
        left = [index for index in range(len(claims)) if index not in chosen]
        worth = {i: _LAMBDA * near[i] - (1 - _LAMBDA) * max((alike[i, j] for j in chosen), default=0.0) for i in left}
        chosen.append(max(left, key=lambda index: (round(float(worth[index]), 4), -index)))
    return chosen
