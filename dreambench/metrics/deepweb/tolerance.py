"""Grades a cell where code can: numbers in words and scales, units, percentages against points, intervals, abstention.

The table is METRICS 4 (arXiv 2605.21482): a tier from the answer type's bands, then the rule's caps, deductions and
automatic zeros in order, snapped to {1, .5, .25, 0}. What code cannot settle (words instead of amounts, several amounts,
another currency, a condition that only a reader can see) has no tier and goes to a judge; nothing is guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, PositiveFloat

from dreambench.language.amounts import Quantity
from dreambench.language.text import normalise
from dreambench.metrics.deepweb.model import TIERS, AnswerType, Band, Family, Modifier, ReferenceCell
from dreambench.metrics.deepweb.said import Said, take_apart

ROUNDING = 1e-9
_SCALES = (1e3, 1e4, 1e6, 1e8, 1e9, 1e12)
_FALLS = re.compile(
    r"\b(?:declin\w*|decreas\w*|fell|falls?|fallen|drop\w*|loss(?:es)?|negative|down|shr[aiu]nk\w*|contract\w*)\b"
    r"|下降|减少|亏损|下滑|跌|负增长|缩减",
    re.IGNORECASE,
)
_UNDISCLOSED = re.compile(r"undisclosed|estimat|not disclosed|未披露|估", re.IGNORECASE)


class Tolerances(BaseModel):
    """The default bands. `relative` for ratios and amounts, `points` for percentages; per-cell rules override both.

    `magnitude` is the factor within which a value has the right order of magnitude (tier .5), `marginal` the one within
    which it is a marginal attempt (.25). `wide` bounds an interval's width in widths of the reference interval. `bare` is
    the tier of an abstention without a reason. `derivation`: whether a derivation must be shown always, never, or where the
    reference has one and in the derivation family. `snap` says where values between tiers go.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    relative: NonNegativeFloat = 0.1
    points: NonNegativeFloat = 2.0
    magnitude: PositiveFloat = 10**0.5
    marginal: PositiveFloat = 10.0
    wide: PositiveFloat = 4.0
    bare: NonNegativeFloat = 0.5
    derivation: Literal["where_needed", "always", "never"] = "where_needed"
    snap: Literal["nearest", "down"] = "nearest"


@dataclass(frozen=True, slots=True)
class Grade:
    """A tier with the code of its reason and a sentence; no tier when a judge has to say."""

    tier: float | None
    code: str
    why: str

    @property
    def settled(self) -> bool:
        """Whether code could say the tier."""
        return self.tier is not None


def grade(cell: ReferenceCell, answer: str | None, family: Family, tolerances: Tolerances) -> Grade:
    """The grade of an answer's text for a cell; None or blank is an unanswered cell, which is 0."""
    said = take_apart(answer or "")
    if said.blank:
        return Grade(0.0, "no_answer", "the cell is not answered")
    if cell.rule.parts > 1:
        return _open("several_parts", f"the rule grades {cell.rule.parts} parts apart")
    if cell.type is AnswerType.NOT_AVAILABLE:
        base = _not_available(said, tolerances)
    else:
        base = _amount(cell, said, family, tolerances)
    return _modified(base, cell.rule.modifiers, said, cell, tolerances) if base.settled else base


def snapped(value: float, how: Literal["nearest", "down"]) -> float:
    """The tier of a value: the nearest, the lower of two equally near ones; or the next one down."""
    value = min(1.0, max(0.0, value))
    if how == "down":
        return max(tier for tier in TIERS if tier <= value + ROUNDING)
    return min(TIERS, key=lambda tier: (round(abs(tier - value), 9), tier))


def _open(code: str, why: str) -> Grade:
    return Grade(None, code, why)


def _not_available(said: Said, tolerances: Tolerances) -> Grade:
    amounts = said.quantities()
    if any(not _spread(amount) for amount in amounts):
        if said.abstains:  # "not disclosed; the whole company has 4,200 staff" commits to nothing
            return _open("abstains_with_amount", "says that it is not available, and holds an amount")
        return Grade(0.0, "precise_for_unavailable", "commits to a precise value where none is available, whatever its source")
    if amounts:
        method = said.gives_method
        return Grade(0.5 if method else 0.25, "range_with_method" if method else "range_without_method", "gives a range only")
    if not said.abstains:
        return _open("no_amount", "neither abstains nor gives an amount")
    if said.gives_reason:
        return Grade(1.0, "abstains_with_reason", "says that it is not available, and why")
    return Grade(snapped(tolerances.bare, tolerances.snap), "abstains_without_reason", "says that it is not available, not why")


def _spread(amount: Quantity) -> bool:
    """Whether an amount leaves room: two ends, or an open side."""
    return amount.is_range or amount.bound in ("more_than", "at_least", "less_than", "at_most")


def _amount(cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances) -> Grade:
    """The amount that the answer commits to, against the reference's value or interval."""
    amounts = take_apart(cell.answer).quantities()
    if len(amounts) != 1:
        return _words(cell, said, family, tolerances)
    (wanted,) = amounts
    given = _committed(said, wanted)
    if isinstance(given, Grade):
        return given
    if cell.type is AnswerType.RANGE:
        return _range(given, wanted, cell, said, tolerances)
    return _precise(given, wanted, cell, said, family, tolerances)


def _precise(
    given: Quantity, wanted: Quantity, cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances
) -> Grade:
    if any(_matches(given, value) for value in _accepted(cell)):
        return _shown(cell, said, family, tolerances, "an accepted value of the rule")
    if given.is_range:
        return _range_for_precise(given, wanted, cell, said, family, tolerances)
    return _value(given, wanted, cell, said, family, tolerances)


def _value(given: Quantity, wanted: Quantity, cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances) -> Grade:
    off = abs(given.base_value - wanted.base_value)
    if off <= _slack(cell.rule.full, wanted, tolerances):
        return _shown(cell, said, family, tolerances, "within tolerance")
    if given.bound not in ("exact", "about"):
        return _open("open_bound", "gives a bound, not a value")
    if _bare_others(said):
        return _open("several_amounts", "misses the reference, and holds numbers without a unit that may be meant")
    if given.base_value * wanted.base_value < 0 and _FALLS.search(f"{said.value} {cell.answer}"):
        return _open("direction_in_words", "says a fall in words where the other side has a sign")
    if cell.rule.half is not None and off <= _slack(cell.rule.half, wanted, tolerances):
        return Grade(0.5, "within_half_band", "within the rule's band for half")
    if wanted.base_value == 0 or given.base_value == 0:
        return Grade(0.0, "wrong_magnitude", "one of the values is zero and the other is not")
    ratio = given.base_value / wanted.base_value
    if _scale_left_out(given, 1 / ratio, tolerances):
        return _open("unit_unstated", "fits but for a scale that may stand elsewhere")
    if ratio <= 0:
        return Grade(0.0, "wrong_direction", "has the wrong sign")
    factor = max(ratio, 1 / ratio)
    if factor <= tolerances.magnitude and cell.rule.half is None:
        return Grade(0.5, "outside_tolerance", f"right order of magnitude, {100 * (ratio - 1):+.1f} % off")
    if factor < tolerances.marginal * (1 - ROUNDING):
        return Grade(0.25, "far_off", f"{100 * (ratio - 1):+.1f} % off")
    return Grade(0.0, "wrong_magnitude", f"off by a factor of {factor:.3g}")


def _scale_left_out(given: Quantity, factor: float, tolerances: Tolerances) -> bool:
    """Whether a number without a scale word is the reference but for one: "4.2", in a column of millions."""
    bare = abs(given.value) < 1000 and given.step < 1000
    return bare and any(abs(factor / scale - 1) <= tolerances.relative for scale in _SCALES)


def _range_for_precise(
    given: Quantity, wanted: Quantity, cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances
) -> Grade:
    slack = _slack(cell.rule.full, wanted, tolerances)
    low, high = given.low * given.factor, given.high * given.factor
    if wanted.base_value - slack <= low and high <= wanted.base_value + slack:
        return _shown(cell, said, family, tolerances, "a range within tolerance")
    if low - ROUNDING <= wanted.base_value <= high + ROUNDING:
        return Grade(0.5, "range_for_precise", "a range that holds the value but is wider than the tolerance")
    middle = replace(given, low=given.value, high=given.value)
    outside = _value(middle, wanted, cell, said, family, tolerances)
    return Grade(min(outside.tier or 0.0, 0.25), "range_for_precise", "a range that misses the value")


def _range(given: Quantity, wanted: Quantity, cell: ReferenceCell, said: Said, tolerances: Tolerances) -> Grade:
    low, high = sorted((wanted.low * wanted.factor, wanted.high * wanted.factor))
    if cell.rule.full is not None or low == high:
        margin = _slack(cell.rule.full, wanted, tolerances)
        low, high = low - margin, high + margin
    ours = (given.low * given.factor, given.high * given.factor)
    if ours[0] <= high + ROUNDING and ours[1] >= low - ROUNDING:
        if ours[1] - ours[0] > tolerances.wide * max(high - low, ROUNDING):
            return Grade(0.5, "too_wide", "overlaps the reference interval only because it is so wide")
        return Grade(1.0, "overlaps", "overlaps the reference interval")
    if _bare_others(said):
        return _open("several_amounts", "misses the interval, and holds numbers without a unit that may be meant")
    if given.base_value * wanted.base_value < 0 and _FALLS.search(f"{said.value} {cell.answer}"):
        return _open("direction_in_words", "says a fall in words where the other side has a sign")
    gap = ours[0] - high if ours[0] > high else low - ours[1]
    if gap <= max(high - low, _slack(cell.rule.half, wanted, tolerances)):
        return Grade(0.5, "wider_band", "misses the reference interval by less than its width")
    end, near = (high, ours[0]) if ours[0] > high else (low, ours[1])
    if end * near > 0 and max(near / end, end / near) <= tolerances.magnitude:
        return Grade(0.25, "right_magnitude", "right direction and magnitude only")
    return Grade(0.0, "outside_range", "outside of the reference interval")


def _shown(cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances, why: str) -> Grade:
    """Full marks need the derivation where there is something to derive, and a source elsewhere."""
    needs = cell.derivation.strip() != "" or family is Family.DERIVATION
    if tolerances.derivation == "never" or said.derived:
        return Grade(1.0, "within_tolerance", why)
    if tolerances.derivation == "always" or needs:
        return Grade(0.5, "no_derivation", f"{why}, but the derivation is not shown")
    return Grade(1.0, "within_tolerance", why) if said.cited else Grade(0.5, "no_citation", f"{why}, but without a source")


def _words(cell: ReferenceCell, said: Said, family: Family, tolerances: Tolerances) -> Grade:
    """A reference in words: equal words are settled, everything else needs a reader."""
    if said.abstains:
        return _abstained()
    if cell.answer and normalise(said.value).strip(" .。") == normalise(cell.answer).strip(" .。"):
        return _shown(cell, said, family, tolerances, "the reference's words")
    return _open("words", "the reference is no single amount")


def _abstained() -> Grade:
    return Grade(0.0, "abstained", "says that it is not available where the reference has it")


def _committed(said: Said, wanted: Quantity) -> Quantity | Grade:
    """The amount that the answer commits to, in the reference's unit; or the grade that there is none."""
    amounts = said.quantities()
    if not amounts:
        return _abstained() if said.abstains else _open("no_amount", "holds no amount")
    alike = [amount for amount in amounts if _unit_of(amount) == _unit_of(wanted)]
    if not alike:
        return _in_other_unit(amounts, wanted)
    distinct = {(amount.low * amount.factor, amount.high * amount.factor) for amount in alike}
    if len(distinct) > 1:
        return _open("several_amounts", "holds several amounts in the reference's unit")
    return alike[0]


def _bare_others(said: Said) -> bool:
    """Whether there are numbers without unit beside amounts that have one: "602 billion CNY at 20.2 %, so 28.5k"."""
    kinds = [amount.kind for amount in said.quantities()]
    return "plain" in kinds and any(kind != "plain" for kind in kinds)


def _in_other_unit(amounts: list[Quantity], wanted: Quantity) -> Quantity | Grade:
    plain = [amount for amount in amounts if amount.kind == "plain"]
    kinds = {amount.kind for amount in amounts}
    shares = {"percent", "multiple", "plain"}
    if wanted.kind in shares and kinds <= shares and ("multiple" in kinds | {wanted.kind} or abs(amounts[0].value) <= 1):
        return _open("share_or_multiple", "a share, a percentage and a multiple may say the same")
    if len(amounts) == len(plain) == 1 and wanted.kind != "plain":
        scaled = wanted.step >= 1000 or abs(wanted.value) >= 1000
        if not scaled or plain[0].step >= 1000:
            return replace(plain[0], kind=wanted.kind, unit=wanted.unit, dimension=wanted.dimension, factor=wanted.factor)
        return _open("unit_unstated", "gives a number without unit or scale")
    if {amount.kind for amount in amounts} == {"money"} and wanted.kind == "money":
        return _open("other_currency", "is in another currency")
    if wanted.kind in ("percent", "percentage_points") and kinds <= {"percent", "percentage_points"}:
        return Grade(0.0, "unit_mismatch", "percent and percentage points are not the same")
    if wanted.kind == "plain" and len(amounts) == 1:  # "1,234 employees" and a reference without its noun
        return _open("unit_unstated", "the reference has no unit, the answer has one")
    return (
        Grade(0.0, "unit_mismatch", f"is in another unit than {wanted.unit or 'the reference'}")
        if len(amounts) == 1
        else _open("several_amounts", "holds several amounts, none in the reference's unit")
    )


def _unit_of(amount: Quantity) -> tuple[str, str]:
    return (amount.kind, amount.dimension)


def _slack(band: Band | None, wanted: Quantity, tolerances: Tolerances) -> float:
    """How far a value may lie from the reference, in base units."""
    size = max(abs(wanted.low), abs(wanted.high)) * wanted.factor
    in_points = wanted.kind in ("percent", "percentage_points")
    if band is not None:
        if band.absolute and (amounts := take_apart(band.absolute).quantities()):
            return abs(amounts[0].value) * (amounts[0].factor if amounts[0].kind != "plain" else wanted.factor) + ROUNDING
        if band.points is not None:
            return band.points + ROUNDING
        if band.relative is not None:
            return band.relative * size + ROUNDING * size
    return (tolerances.points if in_points else tolerances.relative * size) + ROUNDING * max(size, 1.0)


def _accepted(cell: ReferenceCell) -> list[Quantity]:
    return [amount for text in cell.rule.accepted for amount in take_apart(text).quantities()[:1]]


def _matches(given: Quantity, accepted: Quantity) -> bool:
    """Whether a value lies in an interval or at a value that the rule names as right."""
    return (
        _unit_of(given) == _unit_of(accepted)
        and accepted.low * accepted.factor - ROUNDING <= given.low * given.factor
        and given.high * given.factor <= accepted.high * accepted.factor + ROUNDING
    )


def _modified(base: Grade, modifiers: tuple[Modifier, ...], said: Said, cell: ReferenceCell, tolerances: Tolerances) -> Grade:
    value = base.tier or 0.0
    applied = []
    for modifier in modifiers:
        if value == 0:
            break
        if modifier.when == "other":
            return _open("rule_in_words", f"the rule has a condition for a reader: {modifier.text}")
        if not _holds(modifier, said, cell):
            continue
        before = value
        value = {"cap": min(value, modifier.amount), "deduct": value - modifier.amount, "zero": 0.0}[modifier.action]
        if value != before:
            applied.append(f"{modifier.action} ({modifier.when})")
    tier = snapped(value, tolerances.snap)
    why = base.why + (f"; {', '.join(applied)}" if applied else "")
    return Grade(tier, base.code if not applied else re.sub(r"\W+", "_", applied[-1]).strip("_"), why)


def _holds(modifier: Modifier, said: Said, cell: ReferenceCell) -> bool:
    """Whether a modifier's condition is met; what a rubric says of undisclosed values says nothing of disclosed ones."""
    amounts = said.quantities()
    if modifier.when == "precise_value" and cell.type is AnswerType.PRECISE:
        return False
    if modifier.when == "abstained" and cell.type is AnswerType.NOT_AVAILABLE:
        return False
    if modifier.when == "no_method" and cell.type is AnswerType.PRECISE and _UNDISCLOSED.search(modifier.text):
        return False
    return {
        "no_citation": not said.cited,
        "no_method": not said.gives_method and bool(amounts),
        "no_derivation": not said.derived,
        "no_reason": said.abstains and not said.gives_reason,
        "precise_value": any(not _spread(amount) for amount in amounts),
        "abstained": said.abstains and not amounts,
    }[modifier.when]
