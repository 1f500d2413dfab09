"""What is changed, and that the log undoes it."""

import asyncio

from dreambench.documents import parse_document
from dreambench.perturbations import Perturbed, revert
from dreambench.records import Report, Task

from my_parts.new_part import NewPart

TEXT = "# Age\n\nIt opened in 1894.\n\n## Use\n\nIt carries trains.\n"


def changed(dose: float) -> Perturbed:
    task = Task("bridge", "How old is the bridge?", "own")
    report = Report(task.id, "agent", TEXT)
    done: Perturbed = asyncio.run(NewPart(dose=dose).apply(task, report, parse_document(TEXT)))
    return done


def test_headings_are_in_capitals_and_nothing_else_is() -> None:
    done = changed(1.0)
    assert done.report.text == TEXT.replace("Age", "AGE").replace("Use", "USE")
    assert revert(done.report.text, done.log) == TEXT


def test_half_the_dose_changes_half_the_headings() -> None:
    assert changed(0.5).log.changed == 1
    assert changed(0.0).report.text == TEXT
