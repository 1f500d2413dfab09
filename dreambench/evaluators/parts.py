"""Long reports in parts: cut at sections, with a stretch of the part before as context.

A part ends at the last section that begins in its second half; where none does, at the last block, and inside a block that
is longer than a part at the last sentence. Only the agent's own answer is cut up: no thinking, no reference lists.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dreambench.documents import Document, Span


@dataclass(frozen=True, slots=True)
class Part:
    """`own` are the stretches of the report that the part answers for; `lead` is what stands before them, for context."""

    own: tuple[Span, ...]
    lead: Span

    def text(self, report: str) -> str:
        """What a judge reads."""
        before = self.lead.of(report)
        return before + "\n\n".join(span.of(report) for span in self.own)

    def __len__(self) -> int:
        return sum(len(span) for span in self.own)


def cut_in_parts(document: Document, size: int, overlap: int) -> list[Part]:
    """The report's body in parts of at most `size` characters of their own, each led by at most `overlap` characters."""
    sentences = [sentence.span.start for sentence in document.sentences]
    cuts = [
        sorted(section.span.start for section in document.sections),
        [block.span.start for block in document.blocks],
        sentences,
    ]
    parts: list[Part] = []
    own: list[Span] = []
    for span in document.body:
        for piece in _cut(span, size, cuts):
            if own and sum(map(len, own)) + len(piece) > size:
                parts.append(Part(tuple(own), _lead(parts, own[0].start, overlap, sentences)))
                own = []
            own.append(piece)
    if own:
        parts.append(Part(tuple(own), _lead(parts, own[0].start, overlap, sentences)))
    return [part for part in parts if part.text(document.text).strip()]


def shares(total: int, parts: Sequence[Part]) -> list[int]:
    """`total` divided by the parts' lengths, in whole numbers that sum to it (largest remainders)."""
    length = sum(map(len, parts))
    exact = [total * len(part) / length for part in parts]
    whole = [int(share) for share in exact]
    by_rest = sorted(range(len(parts)), key=lambda at: (whole[at] - exact[at], at))
    for at in by_rest[: total - sum(whole)]:
        whole[at] += 1
    return whole


def _cut(span: Span, size: int, cuts: Sequence[Sequence[int]]) -> Iterator[Span]:
    start = span.start
    while span.end - start > size:
        least = (start + size // 2, start + size // 2, start)
        found = (_last(starts, low, start + size) for starts, low in zip(cuts, least, strict=True))
        end = next((cut for cut in found if cut is not None), start + size)
        yield Span(start, end)
        start = end
    if start < span.end:
        yield Span(start, span.end)


def _last(starts: Sequence[int], above: int, upto: int) -> int | None:
    at = bisect_right(starts, upto) - 1
    return starts[at] if at >= 0 and starts[at] > above else None


def _lead(parts: Sequence[Part], start: int, overlap: int, sentences: Sequence[int]) -> Span:
    """The last whole sentences of the part before, where it ends right before `start`."""
    if not parts or parts[-1].own[-1].end != start:
        return Span(start, start)
    at = bisect_left(sentences, max(parts[-1].own[-1].start, start - overlap))
    return Span(sentences[at], start) if at < len(sentences) and sentences[at] < start else Span(start, start)
