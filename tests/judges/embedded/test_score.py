"""Writing quality by rules: better text beats worse in each aspect, in both languages, for any text at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dreambench.judges.embedded import score
from dreambench.judges.embedded.aspects import aspects
from dreambench.judges.kinds.score import Context
from tests.judges.embedded.texts import CHINESE_QUESTION, PAIRS, QUESTION

ASPECTS = sorted(aspects())


def grade(aspect: str, report: str, question: str = QUESTION) -> int:
    answer = score.answer({"aspect": aspect}, Context(question=question, as_of=None, report=report))
    assert answer["reason"].endswith(".")
    value: int = answer["score"]
    return value


def test_the_ten_aspects_of_the_metric() -> None:
    wanted = {path.name.split(".")[0] for path in (Path(__file__).parents[3] / "rubrics" / "wq").glob("*.default.j2")}
    assert set(ASPECTS) == wanted


@pytest.mark.parametrize(("aspect", "better", "worse"), PAIRS)
def test_better_writing_gets_the_higher_score(aspect: str, better: str, worse: str) -> None:
    question = CHINESE_QUESTION if any(char > "\u4e00" for char in better) else QUESTION
    assert grade(aspect, better, question) >= grade(aspect, worse, question) + 5


def test_every_aspect_is_tested_for_its_direction() -> None:
    assert {aspect for aspect, _, _ in PAIRS} == set(ASPECTS)


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("report", ["", "\n\n", "---", "# Only a heading"])
def test_a_report_without_sentences_gets_nothing_and_says_why(aspect: str, report: str) -> None:
    answer = score.answer({"aspect": aspect}, Context(question=QUESTION, as_of=None, report=report))
    assert answer["score"] == 0
    assert "no sentences" in answer["reason"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.sampled_from(
            [
                "# A",
                "## B c",
                "- x",
                "  - y z.",
                "1. one",
                "Tides rise. They fall.",
                "| a | b |",
                "潮汐由月球引起。",
                "",
                "**",
                "[1]",
                "```",
                "﻿",
                "Ⅷ½٣",
            ]
        ),
        max_size=12,
    ),
    st.text(max_size=60),
)
def test_any_text_gets_a_score_on_the_scale(lines: list[str], tail: str) -> None:
    report = "\n".join([*lines, tail])
    for aspect in ASPECTS:
        assert 0 <= grade(aspect, report) <= 100


def test_the_same_text_gets_the_same_answer_and_the_scale_is_kept() -> None:
    _, better, _ = PAIRS[0]
    context = Context(question=QUESTION, as_of=None, report=better)
    first = score.answer({"aspect": ASPECTS[0]}, context)
    assert score.answer({"aspect": ASPECTS[0]}, context) == first
    small = score.answer({"aspect": ASPECTS[0], "scale": [1, 5]}, context)
    assert small["score"] == 1 + round(first["score"] / 100 * 4)


def test_scores_of_real_reports_spread_and_do_not_saturate(real_data: Path) -> None:
    rows = [json.loads(line) for line in (real_data / "odr" / "gpt-4.1.jsonl").read_text().splitlines()[::4]]
    for aspect in ASPECTS:
        grades = sorted(grade(aspect, row["article"], row["prompt"]) for row in rows)
        assert grades[0] > 0
        assert grades[-1] < 100
        assert grades[-3] - grades[2] >= 8, aspect
