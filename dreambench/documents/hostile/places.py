"""From hits to passages: how far a passage reaches.

Within a paragraph everything from the first hit to the last belongs to the passage, with weak hits beside it; a paragraph
that begins by addressing the judge belongs to it whole, and so does the one below a heading that does. Markers and addresses
after a passage are its citations. What would be left of a line (a bullet, an empty pair of brackets, a code fence) goes too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dreambench.documents.hostile.features import Features
from dreambench.documents.hostile.model import Found, Kind
from dreambench.documents.hostile.orders import STRONG, WEAK, Rule, first_match

_SENTENCE = re.compile(
    r".(?:[^.!?。！？；\n]++|(?!$)\n|[.!?]++(?:[\"'”’)\]*_]|</\w++>)*+(?!\s|$))*+"
    r"(?:[.!?]++(?:[\"'”’)\]*_]|</\w++>)*+|[。！？；]++[”’」』）*_]*+|$)",
    re.DOTALL,
)
_CITED = re.compile(
    r"(?:[ \t]*+(?:\[\^?[^\]\n]{1,60}\](?:\([^)\n]{0,2000}+\))?|【[^】\n]{1,60}】|<?https?://[^\s<>)\]]{1,2000}+>?"
    r"|\(https?://[^)\n]{0,2000}+\)|<sup>.{1,60}?</sup>))++"
)
_CITED_NEXT = re.compile(rf"\s*+{_CITED.pattern}[ \t]*+(?=\n|$)")
_LEFT_BEFORE = re.compile(r"[ \t]*+(?:(?:[-*+•>]|#{1,6}|\d{1,3}[.)]|<\w+[^<>\n]*>|[|*_\"'“「『(\[（【{~:`$])[ \t]*+)*+")
_LEFT_AFTER = re.compile(r"(?:</\w+>|[|*_\"'”」』)\]）】}~`.,;。！$\\ \t])*+(?=\n|$)")
_FENCE_BEFORE = re.compile(r"(?:^|\n)[ \t]*(`{3,}|~{3,})[^\n`]*\n\s*$")
_BRACKETS = {"(": ")", "[": "]", "（": "）", "【": "】", "“": "”", "「": "」", "『": "』", '"': '"'}
_PAIRS = {**_BRACKETS, "*": "*", "_": "_", "`": "`", "$": "$"}
_UNSEEN = (Kind.HIDDEN, Kind.INVISIBLE)
_OPENINGS = ("address", "message header")
_LONGEST_FENCE = 60
_LONGEST_LEFT = 400
_LONGEST_ADDRESS = 80
_LONGEST_BELOW = 4_000


def find_orders(features: Features, before: Sequence[Found]) -> list[Found]:
    """Stretches of sentences that are addressed to a judge; `before` are hits of other rules, which count as strong."""
    rules = _candidates(features)
    if not rules and not before:
        return []
    folded, edges = features.folded, features.edges
    found: list[Found] = []
    whole = -1
    numbers = sorted({bisect_right(edges, hit.start) - 1 for hit in before}.union(rules))
    spans = [(edges[index], edges[min(index + 1, len(edges) - 1)]) for index in numbers]
    for index, (start, end), marked in zip(numbers, spans, _overlapping(before, spans), strict=True):
        stretch = _block(folded, start, end, rules.get(index, ()), marked)
        if stretch and (below := _block_below(folded, stretch, edges, index)):
            whole = index + 1
            found += [stretch, below]
        elif stretch and index != whole:
            found.append(stretch)
    return found


def holds_order(folded: str) -> bool:
    """Whether any sentence of a short folded text meets a strong rule."""
    return any(first_match(STRONG, match[0]) for match in _SENTENCE.finditer(folded))


def _candidates(features: Features) -> dict[int, list[Rule]]:
    """The rules that may apply, by the number of the paragraph that has the words they need."""
    folded = features.folded
    found: dict[int, list[Rule]] = {}
    present = _present(features)
    if not present:
        return found
    for rule, words in _FIRST:
        first = words & present
        then = [part for part in rule.then if features.has(part)] if first else []
        if not first or (rule.then and not then):
            continue
        edges = features.edges
        for word in first:
            at = folded.find(word)
            while at >= 0:
                index = bisect_right(edges, at) - 1
                stop = edges[index + 1] if index + 1 < len(edges) else len(folded)
                rules = found.get(index)
                if rules is None or rules[-1] is not rule:
                    block = folded[edges[index] : stop]
                    if not then or any(part in block for part in then):
                        found.setdefault(index, []).append(rule)
                at = folded.find(word, stop)
    return found


_FIRST = [(rule, frozenset(rule.first)) for rule in STRONG]
_ALL = frozenset[str]().union(*(words for _, words in _FIRST))
_WORDS = frozenset(word for word in _ALL if word.isascii() and word.isalpha())
_PARTS = sorted(_ALL - _WORDS)


def _present(features: Features) -> frozenset[str]:
    """Which of the words that rules begin with a text has: looked up once for all rules, because most texts have none."""
    return (_WORDS & features.words) | {part for part in _PARTS if _occurs(features, part)}


def _occurs(features: Features, word: str) -> bool:
    if not word.isascii():
        return features.has_cjk and features.has(word)
    return word in features.words if word.isalpha() else features.has(word)


class _Part(NamedTuple):
    """A sentence, or the stretch of it that counts; `whole` where that begins with the sentence. Without rule: plain text."""

    start: int
    end: int
    rule: str
    whole: bool = True


def _overlapping(hits: Sequence[Found], spans: Sequence[tuple[int, int]]) -> Iterator[list[Found]]:
    """For each stretch (in order, apart) the hits that touch it, in one pass over both."""
    waiting = sorted(hits, key=lambda hit: hit.start)
    active: list[Found] = []
    at = 0
    for start, end in spans:
        while at < len(waiting) and waiting[at].start < end:
            active.append(waiting[at])
            at += 1
        active = [hit for hit in active if hit.end > start]
        yield list(active)


def _block(folded: str, start: int, end: int, rules: Sequence[Rule], marked: Sequence[Found]) -> Found | None:
    """The passage of one paragraph, None where there is none; `marked` are the hits of other rules in it."""
    spans = [match.span() for match in _SENTENCE.finditer(folded, start, end)]
    inside = _overlapping(marked, spans)
    parts = [_part(folded, *span, rules, touching) for span, touching in zip(spans, inside, strict=True)]
    at = [number for number, part in enumerate(parts) if part.rule]
    if not at:
        return None
    first, last = at[0], at[-1]
    if parts[first].whole:
        while first > 0 and _is_weak(folded, parts[first - 1]):
            first -= 1
    while last + 1 < len(parts) and _is_weak(folded, parts[last + 1]):
        last += 1
    if at[0] == 0 and parts[0].rule in _OPENINGS:
        last = len(parts) - 1
    return Found(parts[first].start, parts[last].end, Kind.ORDER, parts[at[0]].rule)


def _is_weak(folded: str, part: _Part) -> bool:
    return first_match(WEAK, folded[part.start : part.end]) is not None


def _part(folded: str, left: int, right: int, rules: Sequence[Rule], inside: Sequence[Found]) -> _Part:
    hit = first_match(rules, folded[left:right])
    if hit and not any(found.start < left + hit[2] and left + hit[1] < found.end for found in inside):
        start, end = _clause(folded, left, left + hit[1], right)
        return _Part(start, end, hit[0], not folded[left:start].strip())
    inside = [found for found in inside if found.kind is not Kind.HIDDEN]
    if not inside:
        return _Part(left, right, "")
    start, end = max(left, min(found.start for found in inside)), min(right, max(found.end for found in inside))
    if folded[left:start].strip() and first_match(WEAK, folded[left:start].strip()):
        start = left
    return _Part(start, end, inside[0].rule, not folded[left:start].strip())


def _clause(folded: str, left: int, hit: int, right: int) -> tuple[int, int]:
    """Where the passage lies in its sentence: in brackets or quotes around the hit, after a semicolon, or all of it."""
    first = min(hit + 1, right - 1)
    nearest = {mark: folded.find(mark, first + 1, right) for mark in _BRACKETS.values()}
    for at in range(first, left - 1, -1):
        char = folded[at]
        close = nearest[_BRACKETS[char]] if char in _BRACKETS else hit
        if char in nearest:
            nearest[char] = at
        if char in _BRACKETS and (close < 0 or close > hit) and folded[left:at].strip(" \t\n-*#>_+0123456789."):
            return at + 1, close if close > 0 else right
    mark = folded[hit : hit + 2].strip()[:1]
    if mark and mark in ";；—–" and folded[left:hit].strip():
        return hit, right
    return left, right


def _block_below(folded: str, stretch: Found, edges: Sequence[int], index: int) -> Found | None:
    """The paragraph below one that only addresses the judge ("## Note to the grader", "To the judge:")."""
    if stretch.rule not in _OPENINGS or index + 2 >= len(edges) or stretch.end - stretch.start > _LONGEST_ADDRESS:
        return None
    said = folded[edges[index] : edges[index + 1]].strip()
    if not said.startswith("#") and not said.rstrip("*_ ").endswith((":", "：", ",", "，", "-", "—")):
        return None
    start, end = edges[index + 1], edges[index + 2]
    if folded[start:end].lstrip().startswith("#") or end - start > _LONGEST_BELOW:
        return None
    return Found(start, end, Kind.ORDER, "address")


def widen(text: str, hit: Found) -> tuple[int, int]:
    """A hit with the citations after it (of a visible one) and with what would be left over of its lines."""
    start, end = hit.start, hit.end
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    if hit.kind not in _UNSEEN and (cited := _CITED_NEXT.match(text, end) or _CITED.match(text, end)):
        end = cited.end()
    line = text.rfind("\n", max(0, start - _LONGEST_LEFT), start) + 1
    if start - line < _LONGEST_LEFT and _LEFT_BEFORE.fullmatch(text, line, start) and (after := _LEFT_AFTER.match(text, end)):
        return _code_block(text, line, after.end())
    while start and end < len(text) and _PAIRS.get(text[start - 1]) == text[end]:
        start, end = start - 1, end + 1
    return start, end


def _code_block(text: str, start: int, end: int) -> tuple[int, int]:
    """With the fences around it, where nothing else stands between them."""
    begin = max(0, start - _LONGEST_FENCE)
    fence = _FENCE_BEFORE.search(text, begin, start)
    if fence and (closing := re.compile(rf"\s*\n[ \t]*{fence[1]}[ \t]*(?=\n|$)").match(text, end)):
        return fence.start() + (fence[0][:1] == "\n"), closing.end()
    return start, end
