"""`classify_domain`: the first sentences of the about page against descriptions of publishers and of ways of working
(`sites.yaml`). Category: the description that any sentence is closest to. Score: the mean of the levels' scores, weighted by
exp(likeness / .08) of each level's closest description.

Without an about page, or with one that is not in English, the rules answer and the reason says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import yaml

from dreambench.judges.embedded import classify_domain as rules
from dreambench.judges.embedded.classify_domain import refusal as refusal
from dreambench.judges.embedded.semantic.encoder import encode
from dreambench.judges.embedded.sites import RESERVED, SUFFIX_WEIGHT, suffix_category
from dreambench.judges.kinds.classify_domain import Context
from dreambench.language.text import guess_language
from dreambench.language.tokens import sentences

_READ = 10
_SHARPNESS = 0.08
_UNLIKE = 0.2
"""Under this likeness to every description a page says nothing about its publisher."""


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Category and authority, with the likeness to each description that decided."""
    if not context.about.strip() or guess_language(context.about) != "en":
        why = "is not in English, which the encoder needs" if context.about.strip() else "could not be read"
        found = rules.answer(settings, context)
        return {**found, "reason": f"Its page about itself {why}; by rules: {found['reason']}"}
    said = [sentence.text for sentence in sentences(context.about)][:_READ]
    categories = _closest(said, _descriptions()["categories"])
    levels = _closest(said, _descriptions()["levels"])
    suffix = suffix_category(context.domain.strip().lower())
    if suffix and SUFFIX_WEIGHT[suffix[0]] > 2 and context.domain.rpartition(".")[2] not in RESERVED:
        categories[suffix[0]] += _UNLIKE  # who may register it is known
    category = max(categories, key=lambda name: categories[name])
    if categories[category] < _UNLIKE:
        category = "other"
    weights = {int(score): math.exp(alike / _SHARPNESS) for score, alike in levels.items()}
    score = sum(score * weight for score, weight in weights.items()) / sum(weights.values())
    near = ", ".join(f"{name} {alike:.2f}" for name, alike in sorted(categories.items(), key=lambda pair: -pair[1])[:3])
    level = ", ".join(f"{name} {alike:.2f}" for name, alike in levels.items())
    return {
        "reason": f"Its page about itself is closest to {near}; likeness to levels of authority: {level}.",
        "category": category,
        "score": max(1, min(10, round(score))),
    }


def _closest(said: list[str], descriptions: Mapping[str, list[str]]) -> dict[str, float]:
    """For each name the mean of its two highest likenesses of a sentence and one of its descriptions."""
    vectors = encode(said)
    found = {}
    for name, texts in descriptions.items():
        best = sorted((float(value) for value in (vectors @ encode(texts).T).max(axis=1)), reverse=True)[:2]
        found[str(name)] = round(sum(best) / len(best), 4)
    return found


@cache
def _descriptions() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(resources.files(__package__).joinpath("sites.yaml").read_text(encoding="utf-8"))
    return found
