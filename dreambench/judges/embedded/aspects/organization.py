"""Organization, by shape: where headings stand and what they share with their text, what list items have in common, and
whether neighbouring parts are closer to each other than parts at random.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import fmean

from dreambench.documents import BlockKind
from dreambench.judges.embedded.lexicon import closes, is_generic, opens
from dreambench.judges.embedded.measures import (
    Feature,
    Finding,
    between,
    cosine,
    falling,
    jaccard,
    rising,
    share,
    step,
    variation,
)
from dreambench.judges.embedded.view import Group, Part, ReportView, plain_title
from dreambench.language.numerals import chinese_number
from dreambench.language.tokens import content_words

__all__ = ["bullet_grouping_logic", "heading_structure", "structural_coherence"]

_NUMBER = re.compile(r"^\W*第?([0-9]{1,2}|[一二三四五六七八九十]{1,3})(?:[.．、)）章部\s]|$)")
_END_MARK = re.compile(r"[.!?;。！？；][\"')”’）]*$")
_LEAD = re.compile(r"^[^.。:：!?！？]{1,60}[:：]")
_MOST_ITEMS = 150
"""List items (or paragraphs' sentences) that are compared with each other."""


def heading_structure(view: ReportView, question: str) -> Finding:
    """Text under headings, their number and length, levels without jumps, words shared with the text below.

    Curves: headings per 1,000 words best from 4 to 11, headings best at 2 to 12 words, level jumps (.5 at .1), general
    headings (.5 at .3), same heading twice (.5 at .1); shares as they are.
    """
    headings = view.headings
    if not headings:
        return Finding((Feature("headings", 0.0, 0.0),), "there are no headings")
    first = headings[0].span.start
    under = share(view.document.blocks[s.block].span.start > first for s in view.sentences)
    dense = len(headings) / max(view.words / 1000, 0.05)
    jumps = share(b.level > a.level + 1 for a, b in pairwise(headings))
    titles = [plain_title(section.title) for section in headings]
    generic = share(is_generic(title) for title in titles)
    lengths = fmean(between(view.length(title), 2, 12, 4) for title in titles)
    kept = share(
        _kept(view, title, section.span.start, section.span.end) for title, section in zip(titles, headings, strict=True)
    )
    again = 1 - len({title.lower() for title in titles}) / len(titles)
    return Finding(
        (
            Feature("text under headings", under, under, 0.15),
            Feature("headings per 1,000 words", dense, between(dense, 4, 11, 7), 0.2),
            Feature("level jumps", jumps, falling(jumps, 0.1), 0.15),
            Feature("general headings", generic, falling(generic, 0.3), 0.15),
            Feature("fitting length", lengths, lengths, 0.05),
            Feature("headings whose words return in their text", kept, kept, 0.2),
            Feature("headings used twice", again, falling(again, 0.1), 0.1),
        )
    )


def bullet_grouping_logic(view: ReportView, question: str) -> Finding:
    """Items of one list look alike and are closer in words to each other than to other lists; a line introduces them.

    Mean over lists, weighted by items. Curves: own list against others: step at .01 (jaccard difference, width .01),
    one form: step at .93 (width .04), items best at 2 to 8 a list, variation of item lengths (.5 at .7), items told twice
    (.5 at .05).
    """
    lists = view.lists
    if not lists:
        return _paragraph_grouping(view)
    weights = [len(group.items) for group in lists]
    alike = _mean([_parallel(group) for group in lists], weights)
    uneven = _mean([variation([view.length(item) for item in group.items]) for group in lists], weights)
    sized = _mean([between(len(group.items), 2, 8, 5) for group in lists], weights)
    introduced = _mean([_introduced(group) for group in lists], weights)
    bags = [[frozenset(content_words(item)) for item in group.items] for group in lists]
    closer = _closeness(bags)
    twins = _twins(bags)
    return Finding(
        (
            Feature("items of one form", alike, step(alike, 0.93, 0.04), 0.25),
            Feature("closer to own list than to others", closer, step(closer, 0.01, 0.01), 0.25),
            Feature("variation of item length", uneven, falling(uneven, 0.7), 0.15),
            Feature("lists of fitting size", sized, sized, 0.1),
            Feature("lists introduced", introduced, introduced, 0.15),
            Feature("items told twice", twins, falling(twins, 0.05), 0.1),
        )
    )


def structural_coherence(view: ReportView, question: str) -> Finding:
    """An opening and a closing part, numbering that counts on, neighbours closer than other parts, parts in proportion.

    Curves: neighbours against all pairs: step at 0 (cosine difference, width .03), likeness of parts (.5 at .15),
    variation of part lengths (.5 at .9), parts that repeat another (.5 at .1).
    """
    parts = view.parts
    if len(parts) < 2:
        remark = "there is no text" if not parts else "the report has one part only"
        return Finding((Feature("parts", float(len(parts)), 0.2 * len(parts)),), remark)
    framed = fmean([_opens(view), _closes(view)])
    counted = _counts_on([section.title for section in view.headings if section.level == view.part_level])
    alike = {pair: cosine(parts[pair[0]].words, parts[pair[1]].words) for pair in _pairs(parts)}
    whole = fmean(alike.values())
    near = fmean(alike[index, index + 1] for index in range(len(parts) - 1)) - whole
    uneven = variation([part.length for part in parts])
    doubled = share(any(likeness > 0.75 for pair, likeness in alike.items() if index in pair) for index in range(len(parts)))
    return Finding(
        (
            Feature("opening and closing part", framed, framed, 0.25),
            Feature("numbering that counts on", counted, counted, 0.1),
            Feature("neighbouring parts closer than others", near, step(near, 0.0, 0.03), 0.2),
            Feature("likeness of parts", whole, rising(whole, 0.15), 0.2),
            Feature("variation of part length", uneven, falling(uneven, 0.9), 0.15),
            Feature("parts that repeat another", doubled, falling(doubled, 0.1), 0.1),
        )
    )


def _kept(view: ReportView, title: str, start: int, end: int) -> bool:
    """Whether a content word of a heading occurs in the text below it."""
    wanted = set(content_words(title))
    blocks = view.document.blocks
    return not wanted or any(
        not wanted.isdisjoint(sentence.words) for sentence in view.sentences if start <= blocks[sentence.block].span.start < end
    )


def _parallel(group: Group) -> float:
    """Share of items that agree with the most common form: led by a label or not, ended by a mark or not, first character."""
    forms = [
        (bool(_LEAD.match(item)), bool(_END_MARK.search(item)), item[:1].isupper() or not item[:1].isascii())
        for item in group.items
    ]
    return fmean(Counter(form[index] for form in forms).most_common(1)[0][1] / len(forms) for index in range(3))


def _introduced(group: Group) -> float:
    """1 for a sentence before the list that ends with a colon, .7 for a heading, .6 for another sentence, 0 for none."""
    if group.intro.endswith((":", "：")):
        return 1.0
    return 0.7 if group.headed else 0.6 if group.intro else 0.0


def _closeness(bags: Sequence[Sequence[frozenset[str]]]) -> float:
    """Mean likeness (jaccard) of items of one list minus that of items of different lists."""
    items = [(number, bag) for number, group in enumerate(bags) for bag in group][:_MOST_ITEMS]
    inside: list[float] = []
    outside: list[float] = []
    for (a, first), (b, second) in combinations(items, 2):
        (inside if a == b else outside).append(jaccard(first, second))
    return (fmean(inside) if inside else 0.0) - (fmean(outside) if outside else 0.0)


def _twins(bags: Sequence[Sequence[frozenset[str]]]) -> float:
    """Share of items that nearly repeat an earlier one."""
    items = [bag for group in bags for bag in group if len(bag) > 2][:_MOST_ITEMS]
    return share(any(jaccard(bag, earlier) > 0.7 for earlier in items[:index]) for index, bag in enumerate(items))


def _paragraph_grouping(view: ReportView) -> Finding:
    """Without lists: sentences of one paragraph are closer to each other than to other paragraphs."""
    bags = [[frozenset(s.words) for s in group] for group in view.paragraphs if len(group) > 1]
    if not bags:
        return Finding(
            (Feature("lists", 0.0, 0.3 if view.prose else 0.0),), "there are no lists and no paragraphs to group points"
        )
    closer = _closeness(bags)
    sized = fmean(between(len(group), 2, 7, 5) for group in bags)
    return Finding(
        (
            Feature("closer to own paragraph than to others", closer, step(closer, 0.01, 0.01), 0.6),
            Feature("paragraphs of fitting size", sized, sized, 0.4),
        ),
        "there are no lists, so paragraphs are judged",
    )


def _opens(view: ReportView) -> float:
    """1 when the first part has an opening's heading, .7 for a paragraph before the first list, else 0."""
    if any(opens(section.title) for section in view.headings[:2]):
        return 1.0
    kinds = [view.document.blocks[sentence.block].kind for sentence in view.sentences[:1]]
    return 0.7 if kinds == [BlockKind.PARAGRAPH] else 0.0


def _closes(view: ReportView) -> float:
    """1 when one of the last two headings is a closing's, .5 for a last paragraph, else 0."""
    if any(closes(section.title) for section in view.headings[-2:]):
        return 1.0
    kinds = [view.document.blocks[sentence.block].kind for sentence in view.sentences[-1:]]
    return 0.5 if kinds == [BlockKind.PARAGRAPH] else 0.0


def _counts_on(titles: Sequence[str]) -> float:
    """Share of numbered headings that follow their predecessor; 1 where fewer than two are numbered."""
    written = [match[1] for title in titles if (match := _NUMBER.match(title))]
    numbers = [int(number) if number.isdigit() else chinese_number(number) or 0 for number in written]
    return share(b == a + 1 for a, b in pairwise(numbers)) if len(numbers) > 1 else 1.0


def _pairs(parts: Sequence[Part]) -> list[tuple[int, int]]:
    return list(combinations(range(len(parts)), 2))


def _mean(values: Sequence[float], weights: Sequence[int]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
