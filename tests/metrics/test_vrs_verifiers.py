"""Verifiers: what is read from their wording, and what code may say about a report."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.metrics.vrs.check import decide
from dreambench.metrics.vrs.verifier import VerifierKind, parse_verifier, parse_verifiers

INF = float("inf")


@pytest.mark.parametrize(
    ("text", "kind", "subject", "ends"),
    [
        ("Supplier B cost per unit = ₹105–110", "range", "Supplier B cost per unit", (105, 110)),
        ("payback between 12 and 14 days", "range", "payback", (12 * 86400, 14 * 86400)),
        ("true unit cost = 103", "value", "true unit cost", (102.5, 103.5)),
        ("reduced = 90.64", "value", "reduced", (90.635, 90.645)),
        ("overhead adjustment: 7", "value", "overhead adjustment", (6.5, 7.5)),
        ("Peak throughput = 36.3 orders/hour (0.5 tolerance)", "value", "Peak throughput", (35.8, 36.8)),
        ("growth = 40 ± 2", "value", "growth", (38, 42)),
        ("revenue = $1.2 million (±2%)", "value", "revenue", (1_176_000, 1_224_000)),
        ("growth = -3.5%", "value", "growth", (-3.55, -3.45)),
        ("margin ≥ 12%", "inequality", "margin", (12, INF)),
        ("headcount at least 12", "inequality", "headcount", (12, INF)),
        ("share <= 5%", "inequality", "share", (-INF, 5)),
    ],
)
def test_amounts(text: str, kind: str, subject: str, ends: tuple[float, float]) -> None:
    found = parse_verifier(text)
    assert (found.kind, found.subject) == (kind, subject)
    assert found.accepted is not None
    assert (found.accepted.low, found.accepted.high) == pytest.approx(ends)


def test_numbers_of_lines_are_no_part_of_a_check() -> None:
    found = parse_verifiers(["V3: cost = 5", "", "V4 - cost = 6", "  V12. cost = 7 ", "- cost = 8"])
    assert [(each.id, each.text) for each in found] == [
        ("V1", "cost = 5"),
        ("V2", "cost = 6"),
        ("V3", "cost = 7"),
        ("V4", "cost = 8"),
    ]


def test_exclusions_decisions_and_keys() -> None:
    both = parse_verifier("throughput = 36.3 (0.5 tolerance), NOT 28.4")
    assert both.kind is VerifierKind.VALUE and both.excluded[0].holds(28.4) and not both.excluded[0].holds(28.6)
    alone = parse_verifier("unit cost, NOT 110")
    assert (alone.kind, alone.subject, alone.accepted) == (VerifierKind.EXCLUSION, "unit cost", None)
    assert parse_verifier("Final decision = ACCEPT with conditions").decision == "ACCEPT"
    assert parse_verifier("Recommendation: REJECT, NOT ACCEPT").decision == "REJECT"
    assert parse_verifier("JSON keys in order: cost, risk, decision").keys == ("cost", "risk", "decision")
    assert parse_verifier("Keys appear in order (cost → risk)").keys == ("cost", "risk")
    assert parse_verifier("JSON strictly followed").kind is VerifierKind.JSON


@pytest.mark.parametrize(
    "text",
    [
        "sources are cited for every figure",
        "week 3 is excluded",
        "cost ≈ 5",  # about: how far is for a reader
        "share = 12% (0.5% tolerance)",  # points or a share of the share
        "cost = ₹98 or ₹99",
        "ratio = 5 of 12",
        "cost = 5, NOT the list price",
        "keys in order",
        "scale = 1.2–1500",
    ],
)
def test_what_code_cannot_tell_stays_open(text: str) -> None:
    assert parse_verifier(text).kind is VerifierKind.OPEN
    assert decide(parse_verifier(text), "The share is 12%. The cost is 5. The ratio is 5.") is None


def verdict(check: str, report: str) -> bool | None:
    found = decide(parse_verifier(check), report)
    return None if found is None else found.passed


@pytest.mark.parametrize(
    ("check", "report", "expected"),
    [
        ("true unit cost = 103", "The true unit cost is ₹103.", True),
        ("true unit cost = 103", "True unit cost: **₹103**", True),
        ("true unit cost = 103", "| Item | INR |\n|---|---|\n| True unit cost | 103 |", True),
        ("true unit cost = 103", '{"true_unit_cost": 103}', True),
        ("true unit cost = 103", "We find that the true unit cost comes to about 103.2.", True),
        ("true unit cost = 103", "The true unit cost is 110.", False),
        ("true unit cost = 103", "The true unit cost is 110. Others say 103.", None),  # what is accepted stands there
        ("true unit cost = 103", "The true unit cost is 103. The true unit cost is 110.", None),  # two answers
        ("true unit cost = 103", "If the true unit cost were 110, we would lose.", None),
        ("true unit cost = 103", "The true unit cost is not 110.", None),
        ("true unit cost = 103", "The true unit cost is 90 + 20 per piece.", None),
        ("true unit cost = 103", "The true unit cost is more than 100.", None),
        ("true unit cost = 103", "The cost is 110.", None),
        ("unit cost = 103", "The true unit cost is 110.", None),  # another subject
        ("Supplier B cost = 105–110", "Supplier A cost is 120. Supplier B cost is 107.", True),
        ("Supplier B cost = 105–110", "Supplier A cost is 120.", None),
        ("Supplier B cost per unit = ₹105–110", "The cost per unit of Supplier B is ₹110.", True),
        ("Supplier B cost per unit = ₹105–110", "The cost per unit of Supplier B is $107.", None),  # another currency
        ("throughput = 36.3 (0.5 tolerance), NOT 28.4", "The throughput is 36.8.", True),
        ("throughput = 36.3 (0.5 tolerance), NOT 28.4", "The throughput is 28.4.", False),
        ("unit cost, NOT 110", "The unit cost is 110.", False),
        ("unit cost, NOT 110", "The unit cost is 103.", True),
        ("unit cost, NOT 110", "Nothing is said.", None),
        ("payback = 91 days", "The payback is 13 weeks.", True),
        ("margin ≥ 12%", "The margin is 12%.", True),
        ("margin ≥ 12%", "The margin is 5%.", False),
        ("revenue = 1.2", "The revenue is $1.2 million.", None),  # a scale that the check leaves out
        ("revenue = 1.2", "The revenue is $1.3 million.", False),
        ("revenue ≥ 1.2", "The revenue is $0.9 million.", None),
        ("headcount at least 12", "Headcount: 9", False),
        ("revenue = 500", "| Case | Base | High |\n|---|---|---|\n| Revenue | 500 | 450 |", None),  # which column?
        ("margin > 12%", "The margin is 12%.", False),
        ("Final decision = ACCEPT", "Final decision: ACCEPT.", True),
        ("Final decision = ACCEPT", "**Decision:** ACCEPT", True),
        ("Final decision = ACCEPT", "Final decision: REJECT.", False),
        ("Final decision = ACCEPT", "Final decision: REJECT. We could accept later.", None),
        ("Final decision = ACCEPT", "Go ahead.", None),
        ("keys in order: a, b", 'Here: {"a": 1, "b": {"c": 2}}', True),
        ("keys in order: a, b", '{"b": 1, "a": 2}', False),
        ("keys in order: a, b", "a and b", False),
        ("JSON strictly followed", '```json\n{"a": 1}\n```', True),
        ("JSON strictly followed", 'Sure! {"a": 1}', None),
        ("JSON strictly followed", "a = 1", False),
    ],
)
def test_code_passes_and_fails_only_what_is_plain(check: str, report: str, expected: bool | None) -> None:
    assert verdict(check, report) is expected


def test_a_verdict_says_where() -> None:
    report = "Intro.\n\nThe true unit cost is ₹103 in the end."
    found: Any = decide(parse_verifier("true unit cost = 103"), report)
    assert report[found.span[0] : found.span[1]] == "₹103"
    assert found.why == "the report gives ₹103 for it"
