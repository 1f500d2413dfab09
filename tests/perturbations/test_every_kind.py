"""What holds for every kind and every report: nothing changes outside the log, the dose is met, the seed decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreambench.documents import parse_document
from dreambench.perturbations import Perturbed, replay, revert
from tests.perturbations.reports import FLAWS, PLACEBOS, SMALL, arm, perturbed, real_reports

EACH = 2
DOSES = (0.0, 0.25, 0.5, 1.0)
KINDS = (*FLAWS, *PLACEBOS)


def units_of(done: Perturbed) -> set[int]:
    return {edit.unit for edit in done.log.edits}


def check(kind: str, text: str, seed: int, **given: object) -> None:
    document = given.get("document") or parse_document(text)
    smaller: set[int] = set()
    for dose in DOSES:
        done = perturbed(arm(kind, dose=dose, seed=seed), text, document=document)
        log = done.log
        assert replay(text, log) == done.report.text
        assert revert(done.report.text, log) == text
        assert abs(log.changed - dose * log.eligible) <= 1
        assert log.changed == len(units_of(done))
        assert log.met == (log.changed / log.eligible if log.eligible else 0.0)
        assert smaller <= units_of(done)
        assert (log.note != "") == (log.eligible == 0)
        smaller = units_of(done)
        if dose == 0.5:
            assert perturbed(arm(kind, dose=dose, seed=seed), text) == done  # from a document parsed anew
        if dose == 0:
            assert done.report.text == text
            assert log.edits == ()


@pytest.mark.parametrize("language", SMALL)
@pytest.mark.parametrize("kind", KINDS)
def test_a_small_report(kind: str, language: str) -> None:
    for seed in range(3):
        check(kind, SMALL[language], seed)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_something_in_a_usual_report(kind: str) -> None:
    for text in SMALL.values():
        done = perturbed(arm(kind), text)
        assert done.log.changed > 0, text
        assert done.report.text != text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "\n", "# Title", "word", "[1]", "| a | b |\n|---|---|\n", "```\ncode 12\n```\n"])
def test_a_report_without_units_is_a_clear_result(kind: str, text: str) -> None:
    done = perturbed(arm(kind), text)
    if done.log.eligible == 0:
        assert done.report.text == text
        assert done.log.met == 0.0
        assert done.log.note
    assert replay(text, done.log) == done.report.text


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_gives_another_text(kind: str) -> None:
    texts = {perturbed(arm(kind, dose=0.5, seed=seed), SMALL["english"]).report.text for seed in range(8)}
    assert len(texts) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_real_reports(kind: str, real_data: Path) -> None:
    """Each kind on other reports; `python -m bench.perturb check` takes every kind to every report."""
    for number, (_, report, document) in enumerate(real_reports(real_data, EACH, KINDS.index(kind))):
        check(kind, report.text, seed=number, document=document)
