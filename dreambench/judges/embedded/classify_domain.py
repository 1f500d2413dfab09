"""`classify_domain` by rules: who publishes (words of the about page, suffix, words of the name), then how the content is made
and checked. What a site says of its own importance ("leading", "trusted") counts for nothing.

Score = the category's usual authority + what the practices add, within 1-10; of a publisher that says nothing about itself
and whose suffix proves nothing, no more than moderate (6). A few sites that most readers know have fixed verdicts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from dreambench.judges.embedded.sites import (
    RESERVED,
    SUFFIX_WEIGHT,
    category_cues,
    host_categories,
    practice_cues,
    suffix_category,
    well_known,
)
from dreambench.judges.kinds.classify_domain import Category, Context

USUAL: Mapping[Category, float] = {
    "government": 8.5,
    "academic": 7.5,
    "news": 6.0,
    "ngo": 5.5,
    "commercial": 4.5,
    "social": 3.0,
    "other": 4.0,
}
"""Authority of a publisher of each category that tells nothing more about itself."""

_CUE, _FIRST, _HOST, _TITLE, _MOST = 1.0, 1.0, 1.5, 0.3, 6.0
_UNPROVEN = 6


def refusal(settings: Mapping[str, Any]) -> str | None:
    """None: no setting changes the question."""
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Category and authority, with the words that decided."""
    domain = context.domain.strip().lower().rstrip(".")
    about = context.about.strip()
    if known := well_known(domain):
        return _result(f"{domain} is a well-known {known[0]} site", known[0], known[1])
    weights, words = _evidence(domain, about, context.titles)
    category = _heaviest(weights)
    practices = practice_cues(about)
    score = USUAL[category] + sum(cue.weight for cue in practices)
    suffix = suffix_category(domain)
    if not about and not (suffix and SUFFIX_WEIGHT[suffix[0]] > 2):
        score = min(score, _UNPROVEN)
    seen = (
        f"it looks like {category} ({', '.join(words[category][:5])})" if words[category] else "nothing says who publishes it"
    )
    how = f"; {', '.join(f'{cue.name} ({cue.text}) {cue.weight:+.1f}' for cue in practices)}" if practices else ""
    missing = "" if about else "; its page about itself could not be read"
    return _result(f"{seen[0].upper()}{seen[1:]}{how}{missing}", category, round(score))


def _evidence(domain: str, about: str, titles: list[str]) -> tuple[dict[Category, float], dict[Category, list[str]]]:
    """Weight and words for each category; every different word counts once, the words of one source have a ceiling."""
    weights: dict[Category, float] = defaultdict(float)
    words: dict[Category, list[str]] = defaultdict(list)
    reserved = domain.rpartition(".")[2] in RESERVED
    if not reserved and (suffix := suffix_category(domain)):
        weights[suffix[0]] += SUFFIX_WEIGHT[suffix[0]]
        words[suffix[0]].append(f".{suffix[1]}")
    for category, word in host_categories(domain):
        weights[category] += _HOST / 3 if reserved and about else _HOST
        words[category].append(word)
    told: dict[Category, float] = defaultdict(float)
    for category, word, first in sorted(set(category_cues(about)), key=lambda cue: (cue[0], not cue[2], cue[1])):
        if word not in words[category]:
            words[category].append(word)
            told[category] += _CUE + _FIRST * first
    for category, weight in told.items():
        weights[category] += min(weight, _MOST)
    for category, word, _ in category_cues("\n".join(titles)):
        weights[category] += _TITLE
        words[category].append(word)
    return weights, words


def _heaviest(weights: Mapping[Category, float]) -> Category:
    order = list(USUAL)
    return max(weights, key=lambda category: (weights[category], -order.index(category)), default="other")


def _result(reason: str, category: Category, score: int) -> dict[str, Any]:
    return {"reason": f"{reason}.", "category": category, "score": max(1, min(10, score))}
