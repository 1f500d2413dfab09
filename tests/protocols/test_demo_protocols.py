"""The protocols that the demo brings along: complete, of their date, and every quoted word on its page."""

from __future__ import annotations

from datetime import date

import pytest
import yaml

from dreambench.datasets.demo import BUNDLED, DemoDataset
from dreambench.language.text import has_cjk
from dreambench.protocols.files import read_protocol
from dreambench.protocols.model import Creator, Protocol
from dreambench.protocols.source import folded

TASKS = {task.id: task for task in DemoDataset().load().tasks}
TOOLS = {"web_search", "page_visit", "calculate"}


@pytest.fixture(scope="module")
def pages() -> dict[str, tuple[str, date | None]]:
    found = {}
    for path in (BUNDLED / "corpus").rglob("*.md"):
        _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
        about = yaml.safe_load(head)
        found[about["url"]] = (body, about.get("published"))
    return found


def read(task: str) -> Protocol:
    return read_protocol(BUNDLED / "protocols" / f"{task}.json")


def test_every_task_has_one_and_there_are_no_others() -> None:
    assert {path.stem for path in (BUNDLED / "protocols").glob("*.json")} == set(TASKS)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_it_is_written_by_a_person_for_the_task_as_of_its_date(task: str) -> None:
    made = read(task)
    assert (made.creator, made.judge, made.as_of) == (Creator.HUMAN, None, TASKS[task].as_of)
    assert folded(made.query) == folded(TASKS[task].query)
    assert (made.kic_trouble(), made.rq_trouble(), made.hash) == (None, None, made.content_hash())
    assert 10 <= len(made.kic) <= 15 and len(made.rq) == 5
    assert len({folded(item.question) for item in made.kic}) == len(made.kic)
    assert len({folded(item.question) for item in made.rq}) == 5


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_fact_stands_literally_on_a_page_that_was_out(task: str, pages: dict[str, tuple[str, date | None]]) -> None:
    as_of = TASKS[task].as_of
    assert as_of is not None
    for item in read(task).kic:
        text, published = pages[item.url]
        assert item.quote in text, item.id
        assert item.published == published
        assert published is None or published <= as_of


@pytest.mark.parametrize("task", sorted(TASKS))
def test_questions_and_plans_are_complete_and_in_the_tasks_language(task: str) -> None:
    made = read(task)
    chinese = TASKS[task].language == "zh"
    opening = "该报告是否指出" if chinese else "Does the report state that "
    assert all(item.question.startswith(opening) and item.question.endswith(("?", "？")) for item in made.kic)
    assert all(has_cjk(text) == chinese for item in made.kic for text in (item.question, item.fact))
    for question in made.rq:
        plan = question.plan
        texts = [question.question, plan.extract, *plan.criteria, *(check.what for check in plan.verify)]
        assert all(has_cjk(text) == chinese for text in texts), question.id
        assert len(plan.verify) >= 2 and len(plan.criteria) >= 3
        assert {name for check in plan.verify for name in check.tools} <= TOOLS


def test_time_sensitive_facts_are_some_and_not_all() -> None:
    marked = [item.time_sensitive for task in TASKS for item in read(task).kic]
    assert 20 <= sum(marked) <= len(marked) - 20
