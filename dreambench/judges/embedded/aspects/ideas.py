"""Ideas and content, by counting: does the text speak of what was asked, does it say something definite, does it connect it.

What cannot be seen this way: whether the position is a good one, the details well chosen, the synthesis new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dreambench.judges.embedded.lexicon import closes, fillers, opens, relations
from dreambench.judges.embedded.measures import Feature, Finding, cosine, falling, jaccard, rising, share
from dreambench.judges.embedded.view import ReportView, Sentence, plain_title
from dreambench.language.dates import find_dates
from dreambench.language.entities import find_entities
from dreambench.language.quantities import find_quantities
from dreambench.language.tokens import content_words

__all__ = ["conceptual_synthesis", "detail_relevance", "information_density", "main_idea_clarity"]

_TWINS = 0.6
_COMPARED = 400
_RELATING = ("cause", "contrast", "comparison", "condition")


def main_idea_clarity(view: ReportView, question: str) -> Finding:
    """Title, opening and headings speak the question's words; the end takes up the opening; a summary part stands out.

    Curves: title and headings by the share of them that shares words with the question, opening by its cosine with the
    question (.5 at .2), return by the cosine of closing and opening (.5 at .2).
    """
    asked = Counter(content_words(question))
    title = content_words(plain_title(view.document.title))
    on_title = share(word in asked for word in title)
    titles = [set(content_words(plain_title(section.title))) for section in view.headings]
    on_headings = share(not asked.keys().isdisjoint(words) for words in titles)
    opening = cosine(_bag(view.opening), asked)
    returning = cosine(_bag(view.opening), _bag(view.closing)) if len(view.prose) > len(view.opening) else 0.0
    announced = share([any(opens(s.title) for s in view.headings[:3]), any(closes(s.title) for s in view.headings[-3:])])
    return Finding(
        (
            Feature("title words in question", on_title, on_title, 0.2),
            Feature("likeness of opening and question", opening, rising(opening, 0.2), 0.3),
            Feature("headings that share a word with the question", on_headings, on_headings, 0.2),
            Feature("likeness of closing and opening", returning, rising(returning, 0.2), 0.2),
            Feature("summary and conclusion announced", announced, announced, 0.1),
        )
    )


def detail_relevance(view: ReportView, question: str) -> Finding:
    """Sentences share words with the question and with the headings they stand under; few are told twice.

    Curves: shares as they are, sentences told twice (.5 at .05).
    """
    asked = set(content_words(question))
    on_question = share(not asked.isdisjoint(sentence.words) for sentence in view.sentences)
    several = share(len(asked.intersection(sentence.words)) > 1 for sentence in view.sentences)
    on_heading = share(not view.heading_words(s.section).isdisjoint(s.words) for s in view.sentences)
    twins = _twin_share(view.sentences)
    return Finding(
        (
            Feature("sentences on the question", on_question, on_question, 0.35),
            Feature("sentences with two or more of its words", several, several, 0.2),
            Feature("sentences on their heading", on_heading, on_heading, 0.25),
            Feature("sentences told twice", twins, falling(twins, 0.05), 0.2),
        )
    )


def information_density(view: ReportView, question: str) -> Finding:
    """Figures, dates and names per 100 words, share of new content words, few empty phrases.

    Curves: figures (.5 at 1.5 per 100 words), dates (.5 at .8), distinct names (.5 at 2.5), new words per sentence as they
    are, empty phrases (.5 at 6 per 1,000 words), sentences told twice (.5 at .05).
    """
    hundreds = max(view.words / 100, 0.01)
    figures = sum(len([q for q in find_quantities(s.text) if q.kind != "ordinal"]) for s in view.sentences) / hundreds
    dates = sum(len(find_dates(s.text)) for s in view.sentences) / hundreds
    names = len({entity.norm for s in view.sentences for entity in find_entities(s.text)}) / hundreds
    empty = sum(fillers(s.text) for s in view.sentences) / hundreds * 10
    fresh = _fresh_words(view.sentences)
    twins = _twin_share(view.sentences)
    return Finding(
        (
            Feature("figures per 100 words", figures, rising(figures, 1.5), 0.25),
            Feature("dates per 100 words", dates, rising(dates, 0.8), 0.1),
            Feature("names per 100 words", names, rising(names, 2.5), 0.2),
            Feature("content words not used in the 20 sentences before", fresh, fresh, 0.2),
            Feature("empty phrases per 1,000 words", empty, falling(empty, 6.0), 0.15),
            Feature("sentences told twice", twins, falling(twins, 0.05), 0.1),
        )
    )


def conceptual_synthesis(view: ReportView, question: str) -> Finding:
    """Words of cause, contrast, comparison and condition, spread over all parts; parts that take up each other's words.

    Curves: relating words (.5 at 1.5 per 100 words), kinds of relation by their evenness, parts with at least two kinds as
    they are, likeness of parts to the rest of the report (.5 at .25), parts whose own words the last part takes up.
    """
    found = [[kind for kind, _ in relations(s.text) if kind in _RELATING] for s in view.sentences]
    counts = Counter(kind for kinds in found for kind in kinds)
    density = sum(counts.values()) / max(view.words / 100, 0.01)
    even = len(counts) / len(_RELATING) if counts else 0.0
    even *= (1 - max(counts.values()) / sum(counts.values())) / (1 - 1 / len(_RELATING)) if counts else 0.0
    kinds_of_part = [
        {kind for s, kinds in zip(view.sentences, found, strict=True) if part.first <= s.block <= part.last for kind in kinds}
        for part in view.parts
    ]
    spread = share(len(kinds) > 1 for kinds in kinds_of_part)
    linked, gathered = _links(view)
    return Finding(
        (
            Feature("relating words per 100 words", density, rising(density, 1.5), 0.35),
            Feature("evenness of cause, contrast, comparison, condition", even, even, 0.15),
            Feature("parts with two kinds of relation", spread, spread, 0.2),
            Feature("likeness of parts to the others", linked, rising(linked, 0.25), 0.15),
            Feature("parts that the last one takes up", gathered, gathered, 0.15),
        )
    )


def _bag(sentences: Sequence[Sentence]) -> Counter[str]:
    return Counter(word for sentence in sentences for word in sentence.words)


def _twin_share(sentences: Sequence[Sentence]) -> float:
    """Share of sentences with at least five content words that an earlier one (among 400) nearly repeats."""
    sets = [frozenset(sentence.words) for sentence in sentences if len(set(sentence.words)) >= 5][:_COMPARED]
    places: dict[str, list[int]] = {}
    twins = 0
    for index, words in enumerate(sets):
        met = Counter(earlier for word in words for earlier in places.get(word, ()))
        twins += any(shared >= len(words) * 0.5 and jaccard(words, sets[earlier]) >= _TWINS for earlier, shared in met.items())
        for word in words:
            places.setdefault(word, []).append(index)
    return twins / len(sets) if sets else 0.0


def _fresh_words(sentences: Sequence[Sentence], window: int = 20) -> float:
    """Mean share of a sentence's content words that do not occur in the `window` sentences before it."""
    shares = []
    for index, sentence in enumerate(sentences):
        before = {word for earlier in sentences[max(0, index - window) : index] for word in earlier.words}
        if sentence.words and index:
            shares.append(share(word not in before for word in sentence.words))
    return sum(shares) / len(shares) if shares else 0.0


def _links(view: ReportView) -> tuple[float, float]:
    """Mean likeness of a part to all others together; share of parts with two distinctive words in the last part."""
    parts = view.parts
    if len(parts) < 2:
        return 0.0, 0.0
    whole = sum((part.words for part in parts), Counter())
    alike = sum(cosine(part.words, whole - part.words) for part in parts) / len(parts)
    last = set(parts[-1].words)
    own = [{word for word, count in part.words.items() if count > 1 and count * 2 > whole[word]} for part in parts[:-1]]
    return alike, share(len(last & words) > 1 for words in own)
