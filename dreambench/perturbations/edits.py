"""What a perturbation did: edits with the span before and after, and the log that holds them.

`replay` turns the input into the output by the edits alone and `revert` turns it back, so a log that replays proves that
nothing else was changed. `chain` makes one list of edits out of two that were done one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from dreambench.records import Report

Author = Literal["embedded", "llm"]
Role = Literal["flaw", "placebo"]


@dataclass(frozen=True, slots=True)
class Change:
    """A wish to put `after` in the place of `start:end` of the input; `kind` names what was done."""

    start: int
    end: int
    after: str
    kind: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One changed place: `before` stood at `before_start:before_end` of the input, `after` stands at its span of the output.

    `unit` numbers the eligible unit that was changed, in text order; a unit may need several edits.
    """

    kind: str
    unit: int
    before_start: int
    before_end: int
    before: str
    after_start: int
    after_end: int
    after: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class EditLog:
    """What was planted. `dose` was asked for, `met` is the share of the `eligible` units that `changed`.

    `met` is 0.0 with no eligible unit, and `note` says so. `steps` are the logs of a composition, in order.
    """

    kind: str
    role: Role
    dose: float
    met: float
    seed: int
    author: Author
    eligible: int
    changed: int
    edits: tuple[Edit, ...] = ()
    note: str = ""
    steps: tuple[EditLog, ...] = ()


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The changed report with its log; without an edit, `report` is the very report that was given."""

    report: Report
    log: EditLog


def make_edits(text: str, changes: Iterable[tuple[int, Change]]) -> tuple[str, tuple[Edit, ...]]:
    """The changed text and its edits, from (unit, change) pairs in any order. Raises ValueError where two overlap.

    Changes that put back what was there are left out.
    """
    wanted = sorted(changes, key=lambda item: (item[1].start, item[1].end, item[0]))
    pieces: list[str] = []
    edits: list[Edit] = []
    position, length = 0, 0
    for unit, change in wanted:
        before = text[change.start : change.end]
        if change.start < position:
            raise ValueError(f"the change of unit {unit} at {change.start} overlaps the one before it")
        if before == change.after:
            continue
        pieces += [text[position : change.start], change.after]
        length += change.start - position
        after_end = length + len(change.after)
        edits.append(Edit(change.kind, unit, change.start, change.end, before, length, after_end, change.after, change.note))
        position, length = change.end, after_end
    pieces.append(text[position:])
    return "".join(pieces), tuple(edits)


def replay(text: str, log: EditLog) -> str:
    """The output, from the input and the log alone. Raises ValueError where the log does not fit `text`."""
    return _rewrite(text, [(e.before_start, e.before_end, e.before, e.after) for e in log.edits])


def revert(text: str, log: EditLog) -> str:
    """The input, from the output and the log alone. Raises ValueError where the log does not fit `text`."""
    return _rewrite(text, [(e.after_start, e.after_end, e.after, e.before) for e in log.edits])


def _rewrite(text: str, places: Sequence[tuple[int, int, str, str]]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, old, new in places:
        if start < position or text[start:end] != old:
            raise ValueError(f"{old!r} is not what stands at {start}:{end}")
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position:]])


def chain(text: str, final: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits from `text` to `final`, when `first` made a text of it that `second` changed again.

    Edits of both that touch become one, with both kinds and notes. Units stay those of the edit they come from.
    """
    middle = [(e.after_start, e.after_end, 0, e) for e in first] + [(e.before_start, e.before_end, 1, e) for e in second]
    chained: list[Edit] = []
    before_shift, after_shift = 0, 0
    for group in _touching(sorted(middle, key=lambda item: item[:3])):
        start, end = group[0][0], max(item[1] for item in group)
        mine = [item[3] for item in group if item[2] == 0]
        theirs = [item[3] for item in group if item[2] == 1]
        before_start, after_start = start + before_shift, start + after_shift
        before_shift += sum(len(e.before) - len(e.after) for e in mine)
        after_shift += sum(len(e.after) - len(e.before) for e in theirs)
        before_end, after_end = end + before_shift, end + after_shift
        before, after = text[before_start:before_end], final[after_start:after_end]
        if before == after:
            continue
        both = [*mine, *theirs]
        kind = "+".join(dict.fromkeys(e.kind for e in both))
        note = "; ".join(dict.fromkeys(e.note for e in both if e.note))
        head = replace(both[0], kind=kind, note=note)
        chained.append(
            replace(
                head,
                before_start=before_start, before_end=before_end, before=before,
                after_start=after_start, after_end=after_end, after=after,
            )
        )  # fmt: skip
    return tuple(chained)


def _touching(items: Sequence[tuple[int, int, int, Edit]]) -> list[list[tuple[int, int, int, Edit]]]:
    groups: list[list[tuple[int, int, int, Edit]]] = []
    reach = -1
    for item in items:
        if groups and item[0] <= reach:
            groups[-1].append(item)
        else:
            groups.append([item])
        reach = max(reach, item[1])
    return groups
