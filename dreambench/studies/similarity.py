"""Likeness of short texts: cosine of TF-IDF vectors over stemmed content words (Chinese: character bigrams). No model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dreambench.language.tokens import content_words
from dreambench.stats.results import FloatArray

MOST_WORDS = 2000
"""Words of the vocabulary, the most frequent first, so that a large benchmark fits into memory."""


def vectors(texts: Sequence[str]) -> FloatArray:
    """One row of length 1 per text (of length 0 where a text shares no word with the vocabulary)."""
    bags = [Counter(content_words(text)) for text in texts]
    spread = Counter(word for bag in bags for word in bag)
    words = [word for word, _ in sorted(spread.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_WORDS]]
    place = {word: column for column, word in enumerate(words)}
    rows = np.zeros((len(texts), len(words)))
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            if word in place:
                rows[row, place[word]] = count * (1 + np.log((1 + len(texts)) / (1 + spread[word])))
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=length > 0), dtype=np.float64)


def in_plane(rows: FloatArray) -> FloatArray:
    """The rows on their first two principal axes; signs are fixed, so equal rows give equal pictures."""
    centred = rows - rows.mean(axis=0, keepdims=True)
    if min(rows.shape) < 2:
        return np.zeros((len(rows), 2))
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    flat = left[:, :2] * sizes[:2]
    signs = np.sign(flat[np.abs(flat).argmax(axis=0), np.arange(2)])
    return np.asarray(flat * np.where(signs == 0, 1, signs), dtype=np.float64)


def silhouettes(rows: FloatArray, labels: Sequence[str]) -> FloatArray:
    """Rousseeuw's silhouette (1987) of every row by cosine distance, -1 to 1; 0 for the only row of its label.

    Raises ValueError for fewer than two labels.
    """
    names = sorted(set(labels))
    if len(names) < 2:
        raise ValueError("silhouettes need two labels or more")
    own = np.array([names.index(label) for label in labels])
    distance = 1 - rows @ rows.T
    np.fill_diagonal(distance, 0.0)
    member = np.eye(len(names))[own]
    sums, sizes = distance @ member, member.sum(axis=0)
    index = np.arange(len(own))
    inside = sums[index, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[index, own] = np.inf
    outside = means.min(axis=1)
    widest = np.maximum(inside, outside)
    found = np.divide(outside - inside, widest, out=np.zeros(len(own)), where=widest > 0)
    return np.asarray(np.where(sizes[own] > 1, found, 0.0), dtype=np.float64)
