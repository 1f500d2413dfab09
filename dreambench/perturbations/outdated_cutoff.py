"""Outdated cutoff: the report as somebody would have written it at an earlier date.

With a corpus, an amount, count, date or name that a page stated differently at the cutoff is put back to what the page said
then. What is newer than the cutoff and cannot be put back is taken out (`newer=drop`), made vague (`newer=blur`), either by
chance (`newer=mixed`), or left (`newer=keep`): a sentence with a newer date and, with a corpus, a sentence that cites newer
pages alone. Where one way would not read well the other is taken. Eligible units are the sentences with such a fact. The
cutoff is `cutoff`, else `years_back` before the task's date, else before the newest date of the report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache, partial
from random import Random
from typing import Any, ClassVar, Literal

from dreambench.documents import BlockKind
from dreambench.judges.rubric import RubricShelf
from dreambench.language.dates import DateMention
from dreambench.perturbations import history
from dreambench.perturbations.edits import Author, Change, Role
from dreambench.perturbations.facts.dates import dates
from dreambench.perturbations.omission import Omission
from dreambench.perturbations.perturbation import Source, Unit
from dreambench.perturbations.prose import Line, View
from dreambench.perturbations.wording import fill, templates

Newer = Literal["drop", "blur", "mixed", "keep"]
_NAMED = re.compile(r"(?:[A-Z]\w+ |制造|愿景|议程|规划|计划)$")


class OutdatedCutoff(Omission):
    """Puts facts back to a cutoff; leaves out or blurs what came after it."""

    id: ClassVar[str] = "outdated_cutoff"
    kind: ClassVar[Role] = "flaw"
    axes: ClassVar[tuple[str, ...]] = ("dose", "seed", "cutoff", "years_back")
    check: ClassVar[Mapping[str, Any]] = {"keep": "markers", "shortest": 0.3, "longest": 1.3}

    def __init__(
        self,
        *,
        dose: float = 1.0,
        seed: int = 0,
        author: Author = "embedded",
        cutoff: date | None = None,
        years_back: int = 1,
        newer: Newer = "mixed",
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`cutoff` is the last day that the report may know of; None: `years_back` before the task's or report's date."""
        super().__init__(dose=dose, seed=seed, author=author, name=name, shelf=shelf)
        self.cutoff = cutoff
        self.years_back = years_back
        self.newer: Newer = newer

    def settings(self) -> Mapping[str, Any]:
        cutoff = self.cutoff.isoformat() if self.cutoff else None
        return {"cutoff": cutoff, "years_back": self.years_back, "newer": self.newer}

    def cutoff_of(self, source: Source) -> date | None:
        """The day that holds for this report; None when nothing dates it."""
        newest = source.task.as_of or _newest(source.view)
        if self.cutoff is not None or newest is None:
            return self.cutoff
        year = newest.year - self.years_back
        return date(year, newest.month, min(newest.day, 28)) if source.task.as_of else date(year, 12, 31)

    def units(self, source: Source) -> list[Unit]:
        cutoff = self.cutoff_of(source)
        if cutoff is None:
            return []
        found = []
        for line in _stating(source.view):
            earlier = history.restored(source, line, cutoff)
            if earlier:
                found.append(Unit(line.start, line.end, partial(_restore, tuple(earlier)), "restored"))
            elif self.newer != "keep" and (unit := self._unit(source, line, cutoff)):
                found.append(unit)
        return found

    def _unit(self, source: Source, line: Line, cutoff: date) -> Unit | None:
        """What becomes of a sentence with something newer than the cutoff; None when it has nothing, or no way reads well."""
        newer = _newer(line, cutoff, source.task.as_of or _newest(source.view))
        mode = self._mode(source, line, newer) if newer else ""
        if not newer and line.start in _droppable(source.view) and history.is_news(source, line, cutoff):
            mode = "drop"
        return Unit(line.start, line.end, partial(_blur, source.view, line, tuple(newer)), mode) if mode else None

    def _mode(self, source: Source, line: Line, newer: Sequence[DateMention]) -> str:
        """How the sentence gets rid of what is newer; empty when neither way reads well."""
        can_blur = all(_vague(source.view, line, mention) is not None for mention in newer)
        can_drop = line.start in _droppable(source.view)
        ways = [way for way, can in (("blur", can_blur), ("drop", can_drop)) if can]
        wanted = [way for way in ways if self.newer in ("mixed", way)] or ways
        return source.draws.stream("newer", line.start).choice(wanted) if wanted else ""

    def changes(self, source: Source, units: Sequence[Unit], chosen: Sequence[int]) -> list[tuple[int, Change]]:
        dropped = [number for number in chosen if units[number].mode == "drop"]
        taken_out = super().changes(source, units, dropped)
        for number in chosen:
            if units[number].mode != "drop":
                unit = units[number]
                made = unit.make(source.draws.stream("unit", unit.start, unit.end))
                taken_out += [(number, change) for change in made]
        return taken_out

    def instruction(self, source: Source, unit: Unit) -> dict[str, Any]:
        """What the pages said then, and what the answer must not say any more."""
        text, cutoff = source.text, self.cutoff_of(source)
        assert cutoff is not None
        if unit.mode != "restored":
            newest = source.task.as_of or _newest(source.view)
            mentions = [m for m in dates(text[unit.start : unit.end]) if m.first > cutoff and (not newest or m.first <= newest)]
            return {"mode": unit.mode, "material": f"cutoff: {cutoff}", "gone": tuple(mention.text for mention in mentions)}
        made = [(text[c.start : c.end], c.after) for c in unit.make(source.draws.stream("unit", unit.start, unit.end))]
        facts = "; ".join(f"{now} was {then}" for now, then in made)
        return {"mode": unit.mode, "material": f"cutoff: {cutoff}; at the cutoff: {facts}", "gone": _gone(made)}

    def nothing(self, source: Source) -> str:
        cutoff = self.cutoff_of(source)
        return f"nothing in this report is newer than {cutoff}" if cutoff else "nothing in this report or its task has a date"


@lru_cache(maxsize=16)
def _droppable(view: View) -> set[int]:
    from dreambench.perturbations.omission import droppable

    return {line.start for line in view.prose if droppable(view, line)}


def _stating(view: View) -> list[Line]:
    prose = {line.index for line in view.prose}
    return [line for line in view.lines if line.index in prose or line.kind is BlockKind.TABLE]


_AHEAD = re.compile(
    r"\b(?:expected|projected|forecast\w*|will|predict\w*|target\w*|anticipated|planned|scheduled|due|upcoming)\b"
    r"|预计|预测|有望|将|目标|展望|规划|或达|可达|到 ?$",
    re.IGNORECASE,
)
_FORECAST = re.compile(
    r"\b(?:by|until|through|to|expected|projected|forecast\w*|will|predict\w*|target\w*|outlook)\b|预计|预测|到|目标|有望|将|未来|规划",
    re.IGNORECASE,
)


@lru_cache(maxsize=16)
def _newest(view: View) -> date | None:
    """The last day of the newest year that the report speaks of other than as a forecast."""
    years = [
        mention.last.year
        for line in view.prose
        for mention in dates(line.text)
        if not _FORECAST.search(line.text[max(0, mention.start - 60) : mention.start + 1])
    ]
    return date(max(years), 12, 31) if years else None


def _newer(line: Line, cutoff: date, newest: date | None) -> list[DateMention]:
    """Dates after the cutoff, up to the report's present, that belong to no name."""
    return [
        mention
        for mention in dates(line.text)
        if mention.first > cutoff
        and (newest is None or mention.first <= newest)
        and line.is_free(mention.start, mention.end)
        and not _NAMED.search(line.text[max(0, mention.start - 16) : mention.start].replace("In ", "in "))
        and line.text[mention.end : mention.end + 1] not in ("》", "-", "/", "_", "×", "*")
    ]


def _gone(made: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The newer facts that the older ones do not hold themselves."""
    return tuple(now for now, _ in made if not any(now in then for _, then in made))


def _restore(earlier: tuple[Change, ...], rng: Random) -> list[Change]:
    return list(earlier)


_LEAD_IN = re.compile(
    r"\b(?P<word>as of|in|by|since|during|until|from|throughout|at the end of) (?:(?:early|late|mid|the year"
    r"|fiscal year)[ -]?)?$",
    re.IGNORECASE,
)
_KEYS = {"as of": "by", "by": "by", "since": "since", "until": "until", "from": "from"}
_ZH_LEAD = re.compile(r"(?:截至|截止|到|至|在|自|从|(?<![基位处属])于|早在)? ?$")
_ZH_TAIL = re.compile("[年月日初末底中旬]*(?:上半年|下半年|第[一二三四]季度)?(?:份|前后|左右|以来)?")
_OWNER = re.compile(r"(?:\b(?:the|his|her|its|their|this|our|a)|['’]s?) $", re.IGNORECASE)


def _vague(view: View, line: Line, mention: DateMention) -> tuple[int, int, str] | None:
    """(start, end, key of the templates) of what a vague date takes the place of; None where none would fit."""
    text, start, end = line.text, mention.start, mention.end
    before, after = text[:start], text[end:]
    if _AHEAD.search(before[-24:]) or _AHEAD.search(after[:16]):
        return None  # a forecast did not happen "recently"
    if before.endswith(("(", "（")) and after.startswith((")", "）")):
        return len(before[:-1].rstrip()), end + 1, ""
    if before.endswith((", ", "，")) and after.startswith((")", "）")):
        return len(before.rstrip(" ,，")), end, ""
    if view.chinese:
        if re.search("月[上中下]$", mention.text) and not after.startswith("旬"):
            end -= 1
        lead, tail = _ZH_LEAD.search(before), _ZH_TAIL.match(text, end)
        assert lead is not None and tail is not None
        fits = not re.search(r"[（(/、“|~～—–\d-]\s*$|[与和及或]$", before[: lead.start()]) and not after.startswith(
            (")", "）", "、", "|", "”")
        )
        key = "zh_now" if lead[0].startswith("截") else "zh"
        if not lead[0] and re.match(" ?(?:最新|最近|当前|以前|之前|之后|以后)", text[tail.end() :]):
            return (start, tail.end(), "") if text.startswith("最", tail.end()) and line.kind is not BlockKind.TABLE else None
        return (lead.start(), tail.end(), key) if fits and line.kind is not BlockKind.TABLE else None
    if lead := _LEAD_IN.search(before):
        return lead.start(), end, _KEYS.get(lead["word"].lower(), "in")
    if _OWNER.search(before) and re.match(r" [A-Za-z]", after):
        return start, end, "adjective_a" if before.endswith((" a ", "A ")) or before == "a " else "adjective"
    return None


def _blur(view: View, line: Line, newer: tuple[DateMention, ...], rng: Random) -> list[Change]:
    """Each newer date as a vague one that fits where it stands, or left out with its brackets."""
    changes: list[Change] = []
    for mention in newer:
        place = _vague(view, line, mention)
        if place is None or (changes and line.start + place[0] < changes[-1].end):
            continue
        start, end, key = place
        new = fill(rng.choice(list(templates("dates", view.chinese, key))), rng) if key else ""
        if new and line.text[start].isupper():
            new = new[:1].upper() + new[1:]
        changes.append(Change(line.start + start, line.start + end, new, "blur"))
    return changes
