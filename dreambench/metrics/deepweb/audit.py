"""The five conditions under which a matrix task is admitted to a benchmark, checked by code on any `MatrixTask`.

URL reachability (through the page guard of the tool set that is given, a corpus included), completeness, numeric consistency
(derivations are calculated again), capability split, and no leak of the reference into the question. A condition that could not
be decided (our own trouble with a page, a derivation that is no expression) is neither passed nor failed: it is counted.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dreambench.errors import ProviderError, TransientError
from dreambench.language.amounts import Quantity
from dreambench.language.comparison import same_quantity
from dreambench.language.quantities import find_quantities
from dreambench.language.text import normalise
from dreambench.language.tokens import content_words, sentences
from dreambench.metrics.deepweb.model import DEFAULT_FAMILIES, AnswerType, Family, MatrixTask, ReferenceCell, family_of
from dreambench.metrics.deepweb.said import take_apart
from dreambench.tools.calculate import CalculationError, calculate
from dreambench.tools.results import Reason, Visit

SPLIT: Mapping[Family, int] = {Family.RETRIEVAL: 1, Family.DERIVATION: 4, Family.CALIBRATION: 1, Family.REASONING: 2}
"""Dimensions of each family in the benchmark's default split."""
CLOSE = 0.01
"""Relative difference of a calculated and a stated value that rounding explains."""
LEAK_DIGITS = 3
"""Significant digits from which on an amount of the reference in the question is a leak and no coincidence."""
LEAK_WORDS = 8
"""Content words from which on a sentence of the reference in the question is a leak."""
_UNREACHABLE = (Reason.DEAD.value, Reason.NOT_IN_CORPUS.value, Reason.PRIVATE_ADDRESS.value)
_OPERATOR = re.compile(r"[\s()（）*/×÷+−–-]*")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "（": "(", "）": ")"})

Visiting = Callable[[str], Awaitable[Visit]]


class Condition(StrEnum):
    """The five conditions."""

    REACHABLE = "url_reachability"
    COMPLETE = "completeness"
    NUMERIC = "numeric_consistency"
    SPLIT = "capability_split"
    NO_LEAK = "no_prompt_leak"


@dataclass(frozen=True, slots=True)
class Check:
    """How a task meets one condition. `faults` say what fails, `undecided` what could not be looked into."""

    condition: Condition
    checked: int
    faults: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()

    @property
    def passed(self) -> bool | None:
        """None when nothing failed and something could not be decided."""
        return False if self.faults else None if self.undecided else True


@dataclass(frozen=True, slots=True)
class Audit:
    """All conditions of one task."""

    task: str
    checks: tuple[Check, ...]

    @property
    def admitted(self) -> bool | None:
        """True when every condition is met, False when one fails, None when one is open."""
        found = {check.passed for check in self.checks}
        return False if False in found else None if None in found else True


async def audit(task: MatrixTask, visit: Visiting | None = None, *, split: Mapping[Family, int] = SPLIT) -> Audit:
    """Checks a task; `visit` opens a page (a tool set's, so the guard holds); without it no address is decided."""
    reachable = await _reachability(task, visit)
    return Audit(
        task.id, (reachable, completeness(task), numeric_consistency(task), capability_split(task, split), no_leak(task))
    )


async def _reachability(task: MatrixTask, visit: Visiting | None) -> Check:
    urls = list(dict.fromkeys(source.url for cell in task.cells for source in cell.sources if source.url))
    if not urls:
        return Check(Condition.REACHABLE, 0, ("the reference names no address",))
    if visit is None:
        return Check(Condition.REACHABLE, 0, (), tuple(f"{url} was not opened" for url in urls))
    found = await asyncio.gather(*(_open(url, visit) for url in urls))
    faults = tuple(f"{url}: {why}" for url, (why, sure) in zip(urls, found, strict=True) if why and sure)
    undecided = tuple(f"{url}: {why}" for url, (why, sure) in zip(urls, found, strict=True) if why and not sure)
    return Check(Condition.REACHABLE, len(urls) - len(undecided), faults, undecided)


async def _open(url: str, visit: Visiting) -> tuple[str, bool]:
    """What is wrong with an address, and whether that is sure; a page behind a wall is there."""
    try:
        seen = await visit(url)
    except TransientError as error:
        if isinstance(error, ProviderError) and error.fatal:
            raise
        return str(error), False
    if seen.reason_code in _UNREACHABLE:
        return seen.reason_code, True
    return (seen.reason_code, False) if seen.reason_code == Reason.NO_TOOLS.value else ("", True)


def completeness(task: MatrixTask) -> Check:
    """Every cell of the matrix has a reference with a value (unless none is available), a source and a rule."""
    cells, faults = task.by_key(), []
    if not task.entities:
        faults.append("the task names no entity")
    for dimension, entity in task.cell_keys():
        name, cell = f"{dimension} x {entity}", cells.get((dimension, entity))
        if cell is None:
            faults.append(f"{name} has no reference")
            continue
        lacks = []
        if cell.type is not AnswerType.NOT_AVAILABLE and not cell.answer.strip():
            lacks.append("a value")
        if not cell.sources and cell.type is not AnswerType.NOT_AVAILABLE:
            lacks.append("a source")
        if not cell.rule.text.strip() and not task.rubric_md.strip():
            lacks.append("a scoring rule")
        if lacks:
            faults.append(f"{name} lacks {' and '.join(lacks)}")
    return Check(Condition.COMPLETE, len(task.cell_keys()), tuple(faults))


def numeric_consistency(task: MatrixTask) -> Check:
    """Ranges run upwards, and every derivation that is an expression gives the stated value."""
    faults, undecided, checked = [], [], 0
    for cell in task.cells:
        name = f"{cell.dimension} x {cell.entity}"
        amounts = take_apart(cell.answer).quantities()
        if cell.type is AnswerType.RANGE and len(amounts) == 1 and not amounts[0].is_range and not cell.estimated:
            faults.append(f"{name} is a range with one end: {cell.answer}")
        if not cell.derivation.strip() or len(amounts) != 1:
            continue
        found = _calculated(cell.derivation)
        if found is None:
            undecided.append(f"{name}: the derivation is no expression: {cell.derivation[:80]}")
            continue
        checked += 1
        if not _agrees(found, amounts[0]):
            faults.append(f"{name}: the derivation gives {found:.6g}, the reference says {cell.answer}")
    return Check(Condition.NUMERIC, checked, tuple(faults), tuple(undecided))


def _calculated(derivation: str) -> float | None:
    """The value of "602bn x 20.2 % / 4.27m" (what stands before an equals sign); None when it is no expression."""
    text = re.split(r"[=≈]", re.sub(r"(?<=[\s\d%])[xX](?=[\s\d])", "×", derivation))[0].strip()
    pieces, at = list[str](), 0
    amounts = find_quantities(f"is {text}")
    for amount in amounts:
        start, end = amount.start - 3, amount.end - 3
        between = text[at:start]
        if amount.is_range or amount.value < 0 or not _OPERATOR.fullmatch(between):
            return None
        share = 100 if amount.kind == "percent" else 1
        pieces += [between.translate(_SIGNS), f"({amount.value / share:.15g})"]
        at = end
    tail = text[at:].strip()
    if len(amounts) < 2 or not re.fullmatch(r"[)）\s.]*", tail):
        return None
    try:
        return float(calculate("".join([*pieces, tail.rstrip(".").translate(_SIGNS)])))
    except (CalculationError, OverflowError):
        return None


def _agrees(value: float, stated: Quantity) -> bool:
    shown = 100 * value if stated.kind in ("percent", "percentage_points") else value
    low, high = sorted((stated.low, stated.high))
    slack = max(stated.step / 2, CLOSE * max(abs(low), abs(high)))
    return low - slack <= shown <= high + slack


def capability_split(task: MatrixTask, split: Mapping[Family, int] = SPLIT) -> Check:
    """As many dimensions of each family as the split asks for, and cells that really ask for it."""
    families = {dimension.id: family_of(dimension, order, DEFAULT_FAMILIES) for order, dimension in enumerate(task.dimensions)}
    counts = Counter(families.values())
    faults = [
        f"{counts[family]} dimensions of {family.value}, the split asks for {wanted}"
        for family, wanted in split.items()
        if counts[family] != wanted
    ]
    for dimension, family in families.items():
        cells = [cell for cell in task.cells if cell.dimension == dimension]
        if not cells:
            continue
        if family is Family.DERIVATION and not any(cell.derivation.strip() for cell in cells):
            faults.append(f"{dimension} is of derivation, and no cell shows one")
        if family is Family.CALIBRATION and not any(_uncertain(cell) for cell in cells):
            faults.append(f"{dimension} is of calibration, and every cell has one precise, undisputed value")
    return Check(Condition.SPLIT, len(families), tuple(faults))


def _uncertain(cell: ReferenceCell) -> bool:
    return cell.type is not AnswerType.PRECISE or cell.agreement == "divergent" or cell.estimated


def no_leak(task: MatrixTask) -> Check:
    """No address, telling amount or sentence of reference and rubric stands in the question."""
    faults, question = [], normalise(task.question)
    asked = find_quantities(task.question)
    for cell in task.cells:
        name = f"{cell.dimension} x {cell.entity}"
        faults += [
            f"{name}: the question has its source {source.url}"
            for source in cell.sources
            if source.url and normalise(source.url) in question
        ]
        for amount in take_apart(cell.answer).quantities():
            if _digits(amount) >= LEAK_DIGITS and any(same_quantity(amount, other) == "equal" for other in asked):
                faults.append(f"{name}: the question has its value {amount.text}")
    faults += [
        f"the question has a sentence of the {what}: {said[:80]}"
        for what, said in _long_sentences(task)
        if normalise(said) in question
    ]
    return Check(Condition.NO_LEAK, len(task.cells), tuple(dict.fromkeys(faults)))


def _digits(amount: Quantity) -> int:
    return len(re.sub(r"\D", "", amount.text).strip("0"))


def _long_sentences(task: MatrixTask) -> list[tuple[str, str]]:
    texts: Sequence[tuple[str, str]] = (("reference", task.reference_md), ("rubric", task.rubric_md))
    return [
        (what, sentence.text.strip(" .。"))
        for what, text in texts
        for sentence in sentences(text)
        if len(content_words(sentence.text)) >= LEAK_WORDS
    ]
