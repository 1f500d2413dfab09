"""The tolerance engine: the worked cell, the table of tiers, units, scales, intervals, rules, and what stays open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.metrics.deepweb.model import TIERS, AnswerType, Band, Family, Modifier, ReferenceCell, Rule
from dreambench.metrics.deepweb.tolerance import Tolerances, grade, snapped

PRECISE, RANGE, NONE = AnswerType.PRECISE, AnswerType.RANGE, AnswerType.NOT_AVAILABLE
SOURCE = ", https://a.example"


def cell(kind: AnswerType, answer: str = "", **keys: object) -> ReferenceCell:
    return ReferenceCell.model_validate({"dimension": "Q1", "entity": "E", "type": kind, "answer": answer, **keys})


def tier(reference: ReferenceCell, answer: str | None, family: Family = Family.RETRIEVAL, **keys: object) -> float | None:
    return grade(reference, answer, family, Tolerances.model_validate(keys)).tier


def code(reference: ReferenceCell, answer: str | None, family: Family = Family.RETRIEVAL) -> str:
    return grade(reference, answer, family, Tolerances()).code


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Not available: the firm does not report this segment.", 1.0),
        ("未披露，公司不单独公布该分部的毛利率", 1.0),
        ("N/A", 0.5),
        ("Not publicly disclosed. https://www.example.com/annual-report-of-the-firm", 0.5),
        ("Not available: the firm does not report it.", 1.0),
        ("[40 %, 55 %], estimated from the margins of its peers", 0.5),
        ("40%至55%，根据同行估算", 0.5),
        ("[40 %, 55 %]", 0.25),
        ("52.3 % (blog.example/margins)", 0.0),
        ("Not officially disclosed, but about 52.3 % by a blog", None),
        ("Not disclosed: the firm has 4,200 staff and no segments", None),
        ("Answer: not available; Reason: only the 52.3 % of the whole firm are published", 1.0),
        ("", 0.0),
        (None, 0.0),
    ],
)
def test_the_worked_cell_where_nothing_is_available(answer: str | None, expected: float | None) -> None:
    assert tier(cell(NONE), answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected", "why"),
    [
        ("602 billion x 20.2 % / 4.27 million = 28.5k CNY", 1.0, "within_tolerance"),
        ("28,400 CNY", 0.5, "no_derivation"),
        ("约2.85万元", 0.5, "no_derivation"),
        ("777 billion x 20.2 % / 4.27 million = 36.8k CNY", 0.5, "outside_tolerance"),
        ("150,000 CNY", 0.25, "far_off"),
        ("28.5 million CNY", 0.0, "wrong_magnitude"),
        ("-28,500 CNY", 0.0, "wrong_direction"),
        ("12 %", 0.0, "unit_mismatch"),
        ("Not disclosed.", 0.0, "abstained"),
        ("between 28,000 and 29,000 CNY, calculated", 1.0, "within_tolerance"),
        ("20,000 to 40,000 CNY", 0.5, "range_for_precise"),
        ("602 billion CNY at 20.2 % over 4.27 million, so 28.5k", None, "several_amounts"),
        ("28,500 CNY in each of 3 years, calculated", 1.0, "within_tolerance"),
        ("28,500 USD", None, "other_currency"),
        ("28.5", None, "unit_unstated"),
        ("more than 10,000 CNY", None, "open_bound"),
        ("it earns well", None, "no_amount"),
        ("28,500 CNY in one report, 31,900 CNY in another", None, "several_amounts"),
    ],
)
def test_a_precise_amount(answer: str, expected: float | None, why: str) -> None:
    reference = cell(PRECISE, "28,500 CNY", derivation="602bn x 20.2 % / 4.27m")
    assert (tier(reference, answer), code(reference, answer)) == (expected, why)


def test_where_nothing_is_derived_a_source_is_enough() -> None:
    reference = cell(PRECISE, "4.2 million")
    assert tier(reference, "4.3 million" + SOURCE) == 1.0
    assert code(reference, "4.3 million") == "no_citation"
    assert code(reference, "4.3 million" + SOURCE, Family.DERIVATION) == "no_derivation"
    assert tier(reference, "430万，来源：年报") == 1.0
    assert [code(reference, answer) for answer in ("4.2 (millions)", "4.2", "42", "4.2 billion")] == [
        "unit_unstated", "unit_unstated", "wrong_magnitude", "wrong_magnitude",
    ]  # fmt: skip
    assert tier(reference, "4.3 million", derivation="never") == 1.0
    shown = [
        "**4.2 million** (8.4 million / 2)",
        "Answer: 4.2 million; Derivation: 1.4 x 3 million",
        "2.1 million + 2.1 million = 4.2 million",
    ]
    assert [tier(reference, answer, Family.DERIVATION) for answer in shown] == [1.0, 1.0, 1.0]
    hidden = ["**4.2 million** in **2023**", "4.1 - 4.3 million" + SOURCE, "4.2 million" + SOURCE + "/2023/12"]
    assert [tier(reference, answer, Family.DERIVATION) for answer in hidden] == [0.5, 0.5, 0.5]
    assert tier(reference, "4.3 million" + SOURCE, derivation="always") == 0.5


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("20.2 %", "22.2 %", 1.0),
        ("20.2 %", "22.3 %", 0.5),
        ("2 %", "4 per cent", 1.0),
        ("50 %", "half", 1.0),
        ("50 %", "五成", 1.0),
        ("20.2 %", "20.2 percentage points", 0.0),
        ("3.5 percentage points", "350 basis points", 1.0),
        ("2 billion USD", "2,000 million US dollars", 1.0),
        ("12.5亿元", "1.25 billion yuan", 1.0),
        ("12.5亿元", "十二亿五千万元", 1.0),
        ("two hundred million dollars", "$200M", 1.0),
        ("5 km", "5,000 m", 1.0),
        ("28.5 EUR", "28.5", 1.0),
    ],
)
def test_units_scales_and_points(reference: str, answer: str, expected: float) -> None:
    assert tier(cell(PRECISE, reference), answer + SOURCE) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("45 %", 1.0),
        ("50-60 %", 1.0),
        ("[55 %, 60 %]", 1.0),
        ("60 %", 0.5),
        ("75 %", 0.25),
        ("1 %", 0.0),
        ("-45 %", 0.0),
        ("1 % to 99 %", 0.5),
        ("not available, nobody knows it", 0.0),
    ],
)
def test_an_interval(answer: str, expected: float) -> None:
    assert tier(cell(RANGE, "40 % to 55 %"), answer) == expected


@pytest.mark.parametrize(
    ("reference", "answer", "why"),
    [
        ("61 %", "0.61", "share_or_multiple"),
        ("3.5x", "350 %", "share_or_multiple"),
        ("-6 %", "a decline of 6 %", "direction_in_words"),
        ("下降6%", "-6%", "direction_in_words"),
        ("-8 % to -4 %", "revenue falls by 4-8 %", "direction_in_words"),
        ("-6 %", "growth of 6 %", "wrong_direction"),
    ],
)
def test_other_forms_of_the_same_are_left_to_a_reader(reference: str, answer: str, why: str) -> None:
    kind = RANGE if " to " in reference else PRECISE
    assert code(cell(kind, reference), answer + SOURCE) == why


def test_what_is_said_beside_the_value_is_not_the_value() -> None:
    reference = cell(PRECISE, "20.2 %")
    assert tier(reference, "Answer: 20.2 %\nConfidence: 85 %\nSource: https://a.example") == 1.0
    assert tier(reference, "20.2 % (18.4 % a year before)" + SOURCE) == 1.0
    assert tier(reference, "from 18.4 % to 20.2 %" + SOURCE) is None


def test_a_cells_own_bands_win() -> None:
    points = cell(PRECISE, "12 %", rule=Rule(full=Band(points=0.5), half=Band(points=1.0)))
    answers = ["12.5 %", "12.8 %", "13.1 %"]
    assert [tier(points, answer + SOURCE) for answer in answers] == [1.0, 0.5, 0.25]
    money = cell(PRECISE, "$4.0 billion", rule=Rule(full=Band(absolute="$200M")))
    assert [tier(money, answer + SOURCE) for answer in ("$4.2 billion", "$4.21 billion")] == [1.0, 0.5]
    accepted = cell(PRECISE, "$30k", rule=Rule(accepted=("$24k-25k",)))
    assert tier(accepted, "$24,500" + SOURCE) == 1.0


@pytest.mark.parametrize(
    ("modifier", "answer", "expected"),
    [
        (Modifier(action="cap", when="no_citation", amount=0.5), "4.2 million, calculated", 0.5),
        (Modifier(action="cap", when="no_citation", amount=0.5), "4.2 million, calculated" + SOURCE, 1.0),
        (Modifier(action="cap", when="no_method", amount=0.25), "4.2 million" + SOURCE, 0.25),
        (Modifier(action="deduct", when="no_derivation", amount=0.25), "4.2 million" + SOURCE, 0.5),
        (Modifier(action="zero", when="no_citation"), "4.2 million, calculated", 0.0),
        (Modifier(action="deduct", when="other", amount=0.25, text="ranking swap"), "4.2 million" + SOURCE, None),
        (Modifier(action="deduct", when="other", amount=0.25, text="ranking swap"), "4.2 billion" + SOURCE, 0.0),
    ],
)
def test_caps_deductions_and_zeros(modifier: Modifier, answer: str, expected: float | None) -> None:
    reference = cell(PRECISE, "4.2 million", rule=Rule(modifiers=(modifier,)))
    assert tier(reference, answer) == expected


def test_what_a_rubric_says_in_general_does_not_hit_the_wrong_kind_of_cell() -> None:
    general = (
        Modifier(action="zero", when="precise_value", text="any precise value: automatic 0"),
        Modifier(action="zero", when="abstained", text="saying unknown: automatic 0"),
        Modifier(action="cap", when="no_method", amount=0.25, text="undisclosed number without method: cap 0.25"),
    )
    rule = Rule(modifiers=general)
    assert tier(cell(PRECISE, "4.2 million", rule=rule), "4.2 million" + SOURCE) == 1.0
    assert tier(cell(NONE, rule=rule), "Not available: the firm does not report it.") == 1.0
    assert tier(cell(RANGE, "40 % to 55 %", rule=rule), "45 %" + SOURCE) == 0.0
    assert tier(cell(RANGE, "40 % to 55 %", rule=Rule(modifiers=general[2:])), "45 %" + SOURCE) == 0.25


def test_modifiers_apply_in_order() -> None:
    first, then = (
        Modifier(action="deduct", when="no_citation", amount=0.25),
        Modifier(action="cap", when="no_citation", amount=0.5),
    )
    both = [cell(PRECISE, "4.2 million", rule=Rule(modifiers=order)) for order in ((first, then), (then, first))]
    assert [tier(one, "4.2 million, calculated") for one in both] == [0.5, 0.25]


def test_what_has_several_parts_or_is_in_words_is_left_open() -> None:
    assert code(cell(PRECISE, "4.2 million", rule=Rule(parts=3)), "4.2 million") == "several_parts"
    words = cell(PRECISE, "Yes, since the audit.")
    assert (tier(words, "No"), code(words, "No")) == (None, "words")
    assert tier(words, "yes, since the audit" + "") == 0.5
    assert code(words, "unknown") == "abstained"


def test_values_between_tiers() -> None:
    assert [snapped(value, "nearest") for value in (1, 0.9, 0.75, 2 / 3, 0.375, 1 / 3, 0.1, -0.25)] == [
        1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.0, 0.0,
    ]  # fmt: skip
    assert [snapped(value, "down") for value in (0.75, 1 / 3, 0.2)] == [0.5, 0.25, 0.0]


@given(st.floats(1e-3, 1e9), st.floats(0.5, 2))
def test_being_farther_off_never_pays(value: float, factor: float) -> None:
    reference = cell(PRECISE, f"{value:.6f} EUR")
    near, far = (tier(reference, f"{value * by:.6f} EUR" + SOURCE) for by in (1 + (factor - 1) / 2, factor))
    assert near is not None and far is not None
    assert far <= near
    assert {near, far} <= set(TIERS)


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    for reference in (cell(PRECISE, "4.2 million"), cell(RANGE, "40 % to 55 %"), cell(NONE)):
        assert grade(reference, text, Family.DERIVATION, Tolerances()).tier in {None, *TIERS}
