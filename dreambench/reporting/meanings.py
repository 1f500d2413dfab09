"""What the labels of items count, in words: the page's legend, and docs/reading.md."""

from __future__ import annotations

from collections.abc import Iterable

MEANINGS = {
    "contradicted": "what was read says otherwise: counts 0",
    "unsupported": "what was read does not say it: counts 0",
    "dangling": "a marker without an entry in the reference list",
    "neutral": "the cited page was read and is silent on the claim, so the citation fails: counts 0, like contradicted",
    "partially_supported": "a part of the claim is said there: counts half",
    "supported": "what was read says it: counts 1",
    "unverifiable": "nothing could be read: in no score but the strict variants, where it counts 0",
    "uncited": "a sentence or claim of the report without a citation",
    "never_cited": "an entry of the reference list that no sentence cites",
}
"""Label: what an item that has it says, and counts by default. Labels of scales and categories speak for themselves."""


def meanings(labels: Iterable[str]) -> dict[str, str]:
    """MEANINGS of those `labels` that have one, in its order."""
    there = set(labels)
    return {label: words for label, words in MEANINGS.items() if label in there}
