"""The ten aspects of writing quality by likeness of meaning.

`step(x, m, w)` is .5 at m; middles are near the medians of long reports in English, so that both halves of the scale are used.
Where an aspect also has a side that no likeness shows (figures, sentence lengths, connecting words, levels of headings), the
degree that the rules give is one more feature, named so and with the weight shown.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from dreambench.judges.embedded.aspects import aspects as rules
from dreambench.judges.embedded.measures import Feature, Finding, falling, share, step
from dreambench.judges.embedded.semantic.encoder import Vectors, encode
from dreambench.judges.embedded.semantic.view import SemanticView, centre, likeness, mean_of
from dreambench.judges.embedded.view import plain_title

SemanticAspect = Callable[[SemanticView, str], Finding]

_TOLD_TWICE = 0.88
_WINDOW = 20
_BEGINNINGS = 24


def main_idea_clarity(view: SemanticView, question: str) -> Finding:
    """Title, opening and its best sentence mean what the question asks; the closing means what the opening does."""
    asked, title = encode([question, plain_title(view.base.document.title)])
    opening, closing = view.ends()
    best = max((likeness(row, asked) for row in encode([s.text for s in view.base.opening])), default=0.0)
    return Finding(
        (
            _step("title and question", likeness(title, asked), 0.72, 0.1, 0.25),
            _step("opening and question", likeness(opening, asked), 0.7, 0.1, 0.25),
            _step("best opening sentence and question", best, 0.7, 0.1, 0.2),
            _step("closing and opening", likeness(closing, opening), 0.72, 0.1, 0.3),
        )
    )


def detail_relevance(view: SemanticView, question: str) -> Finding:
    """Sentences mean something close to the question and to the rest of their part; few are told twice."""
    near = view.vectors @ encode([question])[0]
    fitting = [likeness(row, _others(rows, index)) for _, rows in view.parts if len(rows) > 1 for index, row in enumerate(rows)]
    astray = share(bool(value < 0.12) for value in near)
    return Finding(
        (
            _step("sentences and question", mean_of(near), 0.4, 0.08, 0.4),
            Feature("sentences that stray (likeness under .12)", astray, falling(astray, 0.15), 0.15),
            _step("sentences and the rest of their part", mean_of(fitting), 0.55, 0.08, 0.3),
            _told_twice(view, 0.15),
        )
    )


def information_density(view: SemanticView, question: str) -> Finding:
    """Each sentence adds to the 20 before it; figures, dates and names are counted by rules."""
    new = [
        1 - max(likeness(row, earlier) for earlier in view.vectors[max(0, index - _WINDOW) : index])
        for index, row in enumerate(view.vectors)
        if index
    ]
    return Finding(
        (
            _step("newness of sentences", mean_of(new), 0.42, 0.07, 0.4),
            _told_twice(view, 0.2),
            _by_rules("information_density", view, question, 0.4),
        )
    )


def conceptual_synthesis(view: SemanticView, question: str) -> Finding:
    """The closing takes up the parts, parts bear on each other without being the same; relating words are counted by rules."""
    _, closing = view.ends()
    taken_up = [likeness(middle, closing) for middle in view.centres[:-1]]
    return Finding(
        (
            _step("parts and closing", mean_of(taken_up), 0.72, 0.1, 0.3),
            _step("parts and each other", _pair_mean(view.centres), 0.7, 0.1, 0.2),
            _by_rules("conceptual_synthesis", view, question, 0.5),
        )
    )


def heading_structure(view: SemanticView, question: str) -> Finding:
    """Headings mean what their part says, and say it of no other part; levels and lengths are judged by rules."""
    titled = [(plain_title(part.title), row) for row, (part, _) in enumerate(view.parts) if part.title]
    if not titled:
        return Finding((_by_rules("heading_structure", view, question, 1.0),), "no part has a heading")
    alike = encode([title for title, _ in titled]) @ view.centres.T
    own = [round(float(alike[index, row]), 4) for index, (_, row) in enumerate(titled)]
    best = share(bool(alike[index, row] >= alike[index].max() - 1e-6) for index, (_, row) in enumerate(titled))
    return Finding(
        (
            _step("headings and their parts", mean_of(own), 0.5, 0.1, 0.35),
            Feature("headings closest to their own part", best, best, 0.25),
            _by_rules("heading_structure", view, question, 0.4),
        )
    )


def bullet_grouping_logic(view: SemanticView, question: str) -> Finding:
    """Items mean something closer to their own list than to other lists; forms and sizes are judged by rules."""
    if not view.items:
        return Finding((_paragraphs(view, 0.6), _by_rules("bullet_grouping_logic", view, question, 0.4)), "there are no lists")
    pairs = list(combinations(view.items, 2))
    inside = [likeness(a, b) for (first, a), (second, b) in pairs if first == second]
    outside = [likeness(a, b) for (first, a), (second, b) in pairs if first != second]
    gap = mean_of(inside) - mean_of(outside) if outside else 0.0
    return Finding(
        (
            _step("items of one list", mean_of(inside), 0.42, 0.08, 0.25),
            _step("own list against others", gap, 0.07, 0.05, 0.4),
            _by_rules("bullet_grouping_logic", view, question, 0.35),
        )
    )


def structural_coherence(view: SemanticView, question: str) -> Finding:
    """Neighbouring parts are closer than distant ones, sentences stand in the part that they fit; frame and order by rules."""
    if len(view.parts) < 2:
        return Finding((_by_rules("structural_coherence", view, question, 1.0),), "the report has one part only")
    near = mean_of([likeness(a, b) for a, b in zip(view.centres, view.centres[1:], strict=False)])
    at_home = _at_home(view)
    return Finding(
        (
            _step("neighbouring parts against all", near - _pair_mean(view.centres), 0.01, 0.03, 0.25),
            _step("parts and each other", _pair_mean(view.centres), 0.7, 0.1, 0.2),
            _step("sentences in the part that they fit best", at_home, 0.45, 0.12, 0.25),
            _by_rules("structural_coherence", view, question, 0.3),
        )
    )


def rhythm_and_variety(view: SemanticView, question: str) -> Finding:
    """Sentences begin in different ways; lengths and their variation, which no likeness shows, are judged by rules."""
    starts = [" ".join(sentence.text.split()[:4])[:40] for sentence in view.sentences[:_BEGINNINGS]]
    different = 1 - _pair_mean(encode(starts)) if len(starts) > 1 else 0.0
    return Finding(
        (
            _step("difference of beginnings", different, 0.75, 0.06, 0.35),
            _by_rules("rhythm_and_variety", view, question, 0.65),
        )
    )


def transition_smoothness(view: SemanticView, question: str) -> Finding:
    """Each sentence is close to the one before it, with few jumps; connecting words are counted by rules."""
    jumps = share(bool(value < 0.15) for value in view.neighbours)
    return Finding(
        (
            _step("neighbouring sentences", mean_of(view.neighbours), 0.4, 0.08, 0.45),
            Feature("jumps (likeness under .15)", jumps, falling(jumps, 0.15) if len(view.neighbours) else 0.0, 0.2),
            _by_rules("transition_smoothness", view, question, 0.35),
        )
    )


def readability_and_flow(view: SemanticView, question: str) -> Finding:
    """Sentences of a paragraph or a run of items keep to one thought; lengths, words and markup are judged by rules."""
    return Finding((_paragraphs(view, 0.3), _by_rules("readability_and_flow", view, question, 0.7)))


ASPECTS: dict[str, SemanticAspect] = {
    function.__name__: function
    for function in (
        main_idea_clarity,
        detail_relevance,
        information_density,
        conceptual_synthesis,
        heading_structure,
        bullet_grouping_logic,
        structural_coherence,
        rhythm_and_variety,
        transition_smoothness,
        readability_and_flow,
    )
}
"""The aspects by name."""


def _step(name: str, value: float, middle: float, width: float, weight: float) -> Feature:
    return Feature(f"likeness of {name}" if " of " not in name else name, value, step(value, middle, width), weight)


def _by_rules(aspect: str, view: SemanticView, question: str, weight: float) -> Feature:
    degree = round(rules()[aspect](view.base, question).degree, 4)
    return Feature("degree by rules", degree, degree, weight)


def _told_twice(view: SemanticView, weight: float) -> Feature:
    alike = view.vectors @ view.vectors.T
    twice = share(bool((alike[index, :index] > _TOLD_TWICE).any()) for index in range(1, len(alike)))
    return Feature("sentences told twice", twice, falling(twice, 0.08), weight)


def _others(rows: Vectors, index: int) -> Vectors:
    return centre(np.delete(rows, index, axis=0))


def _pair_mean(rows: Vectors) -> float:
    """Mean likeness of all pairs of rows; 0 for fewer than two."""
    count = len(rows)
    return round(float(((rows @ rows.T).sum() - np.square(rows).sum()) / (count * (count - 1))), 4) if count > 1 else 0.0


def _at_home(view: SemanticView) -> float:
    """Share of sentences that are closest to the centre of their own part, that centre made without the sentence."""
    hits = []
    for number, (_, rows) in enumerate(view.parts):
        for index, row in enumerate(rows):
            if len(rows) > 1:
                others = np.delete(view.centres, number, axis=0) @ row
                hits.append(bool(row @ _others(rows, index) >= others.max()))
    return share(hits)


def _paragraphs(view: SemanticView, weight: float) -> Feature:
    """Mean likeness of the sentences of one block; where all blocks have one sentence, of neighbouring sentences."""
    blocks: dict[int, list[int]] = {}
    for row, sentence in enumerate(view.sentences):
        blocks.setdefault(sentence.block, []).append(row)
    within = [_pair_mean(view.vectors[rows]) for rows in blocks.values() if len(rows) > 1]
    value = mean_of(within) if within else mean_of(view.neighbours)
    return _step("sentences of one paragraph", value, 0.4, 0.1, weight)
