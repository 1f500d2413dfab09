"""Sentences that mean what a statement means; whether they agree with it is for the rules to say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dreambench.judges.embedded.semantic.encoder import encode
from dreambench.judges.embedded.semantic.view import likeness
from dreambench.language.entailment import Quote, Relation, relate
from dreambench.language.tokens import Sentence, bm25, sentences

MOST_READ = 40
"""Sentences of a page that are encoded: the best of them by BM25 and the first ones."""
CLOSE = 0.45
KEPT = 3


def nearest_sentences(statement: str, text: str) -> list[tuple[Sentence, float]]:
    """At most KEPT sentences of `text` with their likeness of at least CLOSE, the closest first."""
    cut = sentences(text)
    if len(cut) > MOST_READ:
        ranks = bm25(statement, [sentence.text for sentence in cut])
        best = sorted(range(len(cut)), key=lambda index: (-ranks[index], index))[: MOST_READ - 8]
        cut = [cut[index] for index in sorted({*best, *range(8)})]
    if not cut:
        return []
    alike = encode([sentence.text for sentence in cut]) @ encode([statement])[0]
    order = np.argsort(-alike, kind="stable")[:KEPT]
    return [(cut[index], round(float(alike[index]), 4)) for index in order if alike[index] >= CLOSE]


def relate_nearest(statement: str, text: str) -> tuple[Relation, float]:
    """The rules' verdict on the closest sentences alone, with quotes placed in `text`, and the best likeness."""
    found = nearest_sentences(statement, text)
    if not found:
        return Relation("unrelated", 0.9, (), f"no sentence has a likeness of {CLOSE}"), 0.0
    relations = [(_placed(relate(statement, sentence.text), sentence), alike) for sentence, alike in found]
    rank = {"supports": 2, "contradicts": 2, "partially": 1, "unrelated": 0}
    best = max(relations, key=lambda pair: (rank[pair[0].label], pair[1]))
    return best[0], found[0][1]


def likest(statement: str, texts: Sequence[str]) -> list[float]:
    """The likeness of each text to the statement."""
    wanted = encode([statement])[0]
    return [likeness(row, wanted) for row in encode(texts)]


def _placed(relation: Relation, sentence: Sentence) -> Relation:
    quote = tuple(Quote(sentence.start + q.start, sentence.start + q.end, q.text) for q in relation.quote)
    return Relation(relation.label, relation.confidence, quote, relation.why)
