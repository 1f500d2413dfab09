"""Reorder sections: sections of equal rank change places, each text whole.

Eligible units are the sections of the largest group of siblings, the opening and closing ones (introduction, summary,
conclusion, sources) aside. Where headings are numbered, the numbers stay with the places, so that the report still counts; a
report that refers to its sections by number has none. A chosen section takes the place of the next chosen one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, ClassVar

from dreambench.documents import BlockKind, Document, Section, Span
from dreambench.errors import AnswerError
from dreambench.judges.kinds.rewrite import order_of
from dreambench.perturbations.edits import Change, Role
from dreambench.perturbations.perturbation import Perturbation, Source, Unit

if TYPE_CHECKING:
    from dreambench.perturbations.authors import Pen

_FIXED_PLACE = re.compile(
    r"introduction|answer|at a glance|bottom line|summar|abstract|overview|background|conclusions?|closing"
    r"|references?|sources?|bibliography|appendix"
    r"|outlook|final|future|directions|recommend|implications|synthesis|additional|takeaways|next steps|importance|why "
    r"|limitation|uncertaint|gaps\b|frameworks?\b|foundations?\b|theor|\bproblem|\bother\b|basics|concepts|scope"
    r"|methodolog|keyword|terminolog|table of contents|tl;?dr|disclaimer|notes?$|definitions?|checklist"
    r"|foundational|outcomes?\b|context"
    r"|引言|前言|摘要|概述|概要|背景|绪论|导言|结论|总结|结语|小结|参考|来源|附录|展望|说明|目录|定义|研究方法|其他|其它|基本概念|基本特征|特性"
    r"|理论基础|概念|建议|未来|前景|启示|重要性|意义|综合|综述|不确定性|局限|为什么|为何",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"^(?P<marks>[ \t]{0,3}#{1,6}[ \t]+(?:\*\*)?(?:第|[（(])?)(?P<number>\d{1,2}|[一二三四五六七八九十]{1,3}|[A-Z]"
    r"|[IVX]{1,4})(?=[.、．)）:：章节部])"
)
_SUB_NUMBER = re.compile(r"^(?P<marks>[ \t]{0,3}#{1,6}[ \t]+(?:\*\*)?)(?P<number>\d{1,2})(?=\.\d)", re.MULTILINE)
_REFERS = re.compile(
    r"\b(?:sections?|parts?|chapters?) (?:\d|[IVX]+\b|[A-Z]\b)|第[一二三四五六七八九十\d]+[章节部分]|(?:见|如|参见)\s?\d+\.\d"
    r"|\b(?:see|in) (?:the )?(?:previous|next|following|preceding) (?:section|part|chapter)|§ ?\d|上一节|下一节|前一章|下一章",
    re.IGNORECASE,
)


class ReorderSections(Perturbation):
    """Moves the chosen sections, each to the place of the next one."""

    id: ClassVar[str] = "reorder_sections"
    kind: ClassVar[Role] = "placebo"

    def units(self, source: Source) -> list[Unit]:
        spans = movable(source.document)
        return [Unit(span.start, span.end, _nothing) for span in spans]

    def wanted(self, eligible: int) -> int:
        """One section alone cannot move: two or none stand for it, whichever is nearer to the dose."""
        count = super().wanted(eligible)
        return count if count != 1 else 2 if self.dose * eligible >= 1 else 0

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        shift = source.draws.stream("shift").choice((1, -1))
        changes = []
        for at, number in enumerate(chosen):
            place, moved = units[number], units[chosen[(at + shift) % len(chosen)]]
            old, new = source.text[place.start : place.end], source.text[moved.start : moved.end]
            changes.append((number, Change(place.start, place.end, _renumbered(new, old), self.id)))
        return changes

    async def written(
        self, source: Source, units: Sequence[Unit], order: Sequence[int], wanted: int, pen: Pen
    ) -> tuple[list[tuple[int, Change]], str]:
        """The author is asked once, for the order of the chosen sections; code checks that none stays where it was."""
        chosen = sorted(order[:wanted])
        texts = [source.text[units[number].start : units[number].end] for number in chosen]
        passage = "\n".join(f"{at}. {text.splitlines()[0].lstrip('# ')}" for at, text in enumerate(texts, 1))
        context = {"query": source.task.query, "passage": passage, "language": source.document.language, "mode": self.id}
        try:
            answer = await pen.ask({**context, "order": len(chosen)})
        except AnswerError as error:
            return [], f"the author gave no usable order ({error.code})"
        moved = [texts[number - 1] for number in order_of(answer)]
        places = zip(chosen, texts, moved, strict=True)
        return [
            (number, Change(units[number].start, units[number].end, _renumbered(new, old), self.id))
            for number, old, new in places
        ], ""


def movable(document: Document) -> list[Span]:
    """The texts that can change places: sibling sections without their trailing white space, in order."""
    text = document.text
    if _REFERS.search(text) or not document.body:
        return []
    lists = [block.span for block in document.blocks if block.kind is BlockKind.REFERENCE_LIST]
    inside = [
        number
        for number, section in enumerate(document.sections)
        if section.level > 0
        and not _FIXED_PLACE.search(section.title)
        and not any(section.span.overlaps(span) for span in lists)
        and any(part.start <= section.span.start and section.span.end <= part.end for part in document.body)
    ]
    groups: dict[tuple[int | None, int], list[int]] = {}
    for number in inside:
        section = document.sections[number]
        groups.setdefault((section.parent, section.level), []).append(number)
    best = max(groups.values(), key=len, default=[])
    sections = [document.sections[number] for number in best]
    if len(best) < 2 or not _evenly_numbered(text, sections) or _told_in_order(sections):
        return []
    return [_core(text, section) for section in sections]


def _core(text: str, section: Section) -> Span:
    end = section.span.end
    while end > section.span.start:
        piece = text[section.span.start : end].rstrip()
        rule = re.search(r"\n[ \t]*(?:-{3,}|\*{3,}|_{3,})$", piece)
        end = section.span.start + (rule.start() if rule else len(piece))
        if rule is None:
            break
    return Span(section.span.start, end)


def _evenly_numbered(text: str, sections: Sequence[Section]) -> bool:
    """Whether all or none of the headings carry a number."""
    numbered = [_NUMBER.match(section.span.of(text)) is not None for section in sections]
    dotted = [_SUB_NUMBER.match(section.span.of(text)) is not None for section in sections]
    return (all(numbered) or not any(numbered)) and not any(dotted)


_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_STEP = re.compile(r"\b(?:step|phase|stage|week|day|period|era)s?\b|阶段|步骤|第[一二三四五]步|时期|时代|早期", re.IGNORECASE)


def _told_in_order(sections: Sequence[Section]) -> bool:
    """Whether headings are steps, or dated one after the other: to change their places would break the account."""
    dated = sum(1 for section in sections if _YEAR.search(section.title))
    steps = sum(1 for section in sections if _STEP.search(section.title))
    return dated >= 2 or steps >= 2


_HAN_DIGITS = "一二三四五六七八九"


def _digits(number: str) -> str:
    """A Chinese number below 100 in digits, as sub-headings write it; others as they are."""
    if not re.fullmatch("[一二三四五六七八九十]{1,3}", number):
        return number
    tens, ten, ones = number.rpartition("十")
    value = (_HAN_DIGITS.find(tens) + 1 if tens else 1) * 10 if ten else 0
    return str(value + (_HAN_DIGITS.find(ones) + 1 if ones else 0))


def _renumbered(moved: str, place: str) -> str:
    """The moved section with the number of the place it comes to, sub-headings included."""
    old, new = _NUMBER.match(moved), _NUMBER.match(place)
    if old is None or new is None:
        return moved
    number, other = _digits(old["number"]), _digits(new["number"])
    head = old["marks"] + new["number"] + moved[old.end() :]
    return _SUB_NUMBER.sub(lambda m: m["marks"] + (other if m["number"] == number else m["number"]), head)


def _nothing(rng: Random) -> list[Change]:
    return []
