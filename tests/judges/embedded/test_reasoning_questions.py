"""Question forms: as many as are wanted, made of what the pages offer and of the query, in its language."""

from __future__ import annotations

from typing import Any

import pytest

from dreambench.judges.embedded import reasoning_questions
from dreambench.judges.kinds import Reading
from dreambench.judges.kinds.reasoning_questions import Answer, Context

TOOLS = ["web_search", "page_visit", "calculate"]
QUERY = "How did the Lerwin harbour develop since 1961? Please explain why it silted up, and compare it with the port of Ness."
CHINESE = "兰溪大桥是怎样建成的，为什么推迟了通车？请比较它与东江大桥。"


def visit(url: str, text: str, published: str = "2022-03-01") -> dict[str, Any]:
    result = f"A title\n{url}\npublished {published}\n\n{text}"
    return {"turn": 1, "thought": "", "tool": "page_visit", "arguments": f'{{"url": "{url}"}}', "result": result}


STEPS = [
    visit(
        "https://a.example/1",
        "The Lerwin harbour has 34 berths for ships. Its old basin silted up because farmers cleared the valley.",
    ),
    visit("https://b.example/1", "The Lerwin harbour has 51 berths for ships. The port of Ness might be closed in 2030."),
]


def asked(count: int, question: str = QUERY, steps: Any = (), tools: Any = TOOLS) -> Answer:
    context = Context(question=question, as_of="2024-12-31", steps=list(steps), count=count, tools=list(tools))
    found = reasoning_questions.answer({}, context)
    assert found == reasoning_questions.answer({}, context)
    return Answer.model_validate(found, context=Reading(context))


@pytest.mark.parametrize("count", [1, 5, 20])
@pytest.mark.parametrize("question", [QUERY, CHINESE, "Bridges"])
@pytest.mark.parametrize("steps", [[], STEPS])
def test_as_many_as_are_wanted_and_no_two_alike(count: int, question: str, steps: Any) -> None:
    if question == "Bridges" and count == 20:
        count = 5  # one word has no parts to ask about
    found = asked(count, question, steps).questions
    assert len({one.question for one in found}) == len(found) == count
    assert all("{" not in one.model_dump_json().replace('{"', "").replace("}", "") for one in found)


def test_pages_offer_disputes_causes_and_estimates() -> None:
    told = [one.question for one in asked(5, steps=STEPS).questions]
    assert told[0].startswith("Sources give different figures") and "34 berths" in told[0]
    assert any("“Its old basin silted up because farmers cleared the valley”" in one for one in told)
    assert any("“The port of Ness might be closed in 2030”" in one for one in told)


def test_a_chinese_query_is_asked_about_in_chinese() -> None:
    for one in asked(5, CHINESE, STEPS).questions:
        assert one.question.isascii() is False and "report" not in one.question


def test_plans_name_the_tools_that_there_are() -> None:
    for one in asked(5, tools=["page_visit"]).questions:
        assert {name for check in one.verify for name in check.tools} == {"page_visit"}
    figures = [one for one in asked(5).questions if "figures and dates" in one.question]
    assert figures and {name for check in figures[0].verify for name in check.tools} == {"page_visit", "calculate"}
