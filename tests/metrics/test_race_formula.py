"""RACE's arithmetic: the worked figures of METRICS 2, every oddity of the original scorer, and real criteria."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.metrics.race.compatible import compatible_points
from dreambench.metrics.race.criteria import read_criteria
from dreambench.metrics.race.formula import (
    DIMENSIONS,
    Criteria,
    Criterion,
    averaged_weights,
    shares,
    strict_points,
)

WEIGHTS = {"comprehensiveness": 0.3, "insight": 0.3, "instruction_following": 0.2, "readability": 0.2}
CRITERIA = Criteria(WEIGHTS, {d: (Criterion(f"{d}: main point", 0.7), Criterion(f"{d}: detail", 0.3)) for d in DIMENSIONS})


def lists(first: float = 4, second: float = 6) -> dict[str, Any]:
    return {
        d: [{"criterion": c.text, "analysis": "a", "article_1_score": first, "article_2_score": second} for c in found]
        for d, found in CRITERIA.lists.items()
    }


def overall(given: dict[str, Any]) -> float | None:
    return shares(compatible_points(CRITERIA, given)).overall


def without_second(index: int) -> dict[str, Any]:
    given = lists()
    del given["insight"][index]["article_2_score"]
    return given


def with_first(index: int, **changed: Any) -> dict[str, Any]:
    given = lists()
    given["insight"][index] |= changed
    return given


def one_short() -> dict[str, Any]:
    given = lists()
    del given["insight"][1]
    return given


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lists(), 0.4000),
        (without_second(1), 0.4878),
        (without_second(0), 0.4577),
        (with_first(0, article_1_score=100), 0.8011),
        (with_first(0, article_1_score="8/10"), 0.4000),
        (one_short(), 0.4000),
        ({**lists(), "insight": []}, 0.4000),
        ({**lists(), "insight": "no list"}, 0.4000),
        ({d: found for d, found in lists().items() if d != "insight"}, 0.4000),
        (with_first(0, criterion="Nobody asked for this", article_1_score=10), 0.4607),
    ],
    ids=["plain", "last_second", "first_second", "100", "8/10", "missing", "empty", "no_list", "no_dimension", "unknown"],
)
def test_odd_answers_count_as_in_the_original_scorer(given: dict[str, Any], expected: float) -> None:
    assert overall(given) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    "text", ["INSIGHT: MAIN POINT", "main point", "on insight: main point, that is", " insight: main point "]
)
def test_a_criterion_is_matched_without_case_and_as_a_part(text: str) -> None:
    changed = with_first(0, criterion=text, article_1_score=10)
    exact = with_first(0, article_1_score=10)
    assert overall(changed) == overall(exact)
    assert {point.criterion for point in compatible_points(CRITERIA, changed)} == {
        c.text for found in CRITERIA.lists.values() for c in found
    }


def test_without_case_comes_before_a_part() -> None:
    criteria = Criteria({"insight": 1.0}, {"insight": (Criterion("depth of causes", 0.9), Criterion("Depth", 0.1))})
    (point, missing) = compatible_points(
        criteria, {"insight": [{"criterion": "depth", "article_1_score": 1, "article_2_score": 2}]}
    )
    assert (point.criterion, missing.criterion, missing.first) == ("Depth", "depth of causes", None)


@pytest.mark.parametrize(
    "entry", ["text", None, {"article_1_score": 9}, {"criterion": "x"}, {"criterion": 3, "article_1_score": 9}]
)
def test_entries_that_cannot_be_used_are_passed_over(entry: Any) -> None:
    given = lists()
    given["insight"].insert(0, entry)
    assert overall(given) == pytest.approx(0.4)


def test_target_score_is_another_name_of_the_first_score() -> None:
    given = lists()
    for entry in given["insight"]:
        entry["target_score"] = entry.pop("article_1_score")
    assert overall(given) == pytest.approx(0.4)


def test_what_is_odd_is_said_at_the_point() -> None:
    odd = {point.odd for point in compatible_points(CRITERIA, without_second(1))}
    assert odd == {"", "second_dropped"}
    assert [p.odd for p in compatible_points(CRITERIA, with_first(0, article_1_score=100)) if p.odd] == ["out_of_range"]
    unknown = with_first(0, criterion="Nobody asked for this")
    assert [p.odd for p in compatible_points(CRITERIA, unknown) if p.odd] == ["unmatched_criterion", "missing"]


def test_overall_is_not_the_mean_of_the_dimensions() -> None:
    scores = {name: (10.0 if d == "insight" else 1.0, 1.0, "") for name, (d, _) in CRITERIA.by_id().items()}
    found = shares(strict_points(CRITERIA, scores))
    assert found.dimensions["insight"] == pytest.approx(10 / 11)
    assert found.overall == pytest.approx((0.3 * 10 + 0.7) / (0.3 * 10 + 0.7 + 1))
    weighted = sum(WEIGHTS[d] * (share or 0) for d, share in found.dimensions.items())
    assert found.overall != pytest.approx(weighted, abs=0.05)


def test_nothing_against_nothing_has_no_share() -> None:
    found = shares(strict_points(CRITERIA, dict.fromkeys(CRITERIA.by_id(), (0.0, 0.0, ""))))
    assert found.overall is None
    assert set(found.dimensions.values()) == {None}


SCORES = st.floats(0, 10, allow_nan=False)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=8, max_size=8))
def test_swapping_the_reports_mirrors_the_score_and_both_readings_agree(pairs: list[tuple[float, float]]) -> None:
    names = list(CRITERIA.by_id())
    there = shares(strict_points(CRITERIA, {n: (a, b, "") for n, (a, b) in zip(names, pairs, strict=True)}))
    back = shares(strict_points(CRITERIA, {n: (b, a, "") for n, (a, b) in zip(names, pairs, strict=True)}))
    if there.overall is not None and back.overall is not None:
        assert there.overall == pytest.approx(1 - back.overall)
    free: dict[str, Any] = {d: [] for d in DIMENSIONS}
    for (d, criterion), (a, b) in zip(CRITERIA.by_id().values(), pairs, strict=True):
        free[d].append({"criterion": criterion.text, "article_1_score": a, "article_2_score": b})
    lenient = shares(compatible_points(CRITERIA, free))
    assert lenient.overall == (None if there.overall is None else pytest.approx(there.overall))


def test_sampled_weights_are_averaged_to_two_decimals_that_sum_to_one() -> None:
    one = {"comprehensiveness": 0.333, "insight": 0.333, "instruction_following": 0.214, "readability": 0.12}
    other = {**one, "insight": 0.4, "readability": 0.053}
    found = averaged_weights([one, other, one])
    assert sum(found.values()) == pytest.approx(1)
    assert found["insight"] == 0.36
    assert all(round(weight, 2) == weight for weight in found.values())


def test_real_criteria_read_and_score_equal_reports_at_a_half(real_data: Path) -> None:
    criteria = read_criteria(str(real_data / "drb" / "criteria.jsonl"), "metric.race.criteria")
    assert len(criteria.by_id) == 100
    count = 0
    for one in criteria.by_id.values():
        assert sum(one.weights.values()) == pytest.approx(1)
        assert all(sum(c.weight for c in found) == pytest.approx(1) for found in one.lists.values())
        count += len(one.by_id())
        equal = shares(strict_points(one, dict.fromkeys(one.by_id(), (7.0, 7.0, ""))))
        assert equal.overall == pytest.approx(0.5)
        points = strict_points(one, dict.fromkeys(one.by_id(), (4.0, 6.0, "")))
        assert sum(point.first_share for point in points) == pytest.approx(1)
        free = {
            d: [{"criterion": c.text, "article_1_score": 4, "article_2_score": 6} for c in found]
            for d, found in one.lists.items()
        }
        assert shares(compatible_points(one, free)).overall == pytest.approx(shares(points).overall) == pytest.approx(0.4)
    assert count == pytest.approx(2520, abs=10)
