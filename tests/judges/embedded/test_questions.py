"""Yes/no questions and checklists by rules, in English and Chinese."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.judges.embedded import checklist, yes_no
from dreambench.judges.kinds import Reading
from dreambench.judges.kinds.checklist import KIND as CHECKLIST
from dreambench.judges.kinds.yes_no import KIND as YES_NO
from dreambench.language.entailment import Label, Relation

REPORT = (
    "# Rance\n\nThe **Rance plant** opened in 1966 with a capacity of 240 megawatts [1]. It does not harm salmon.\n\n"
    "江厦潮汐电站于1980年投入运行，装机容量为4.1兆瓦。\n\n## Sources\n\n[1] https://a.example/rance-closed-in-2031\n"
)
ITEMS = [
    ("Does the report state that the Rance plant opened in 1966?", "yes"),
    ("Does the report state that the Rance plant opened in 1976?", "no"),
    ("Does the report mention the capacity of the Rance plant?", "yes"),
    ("Does the report state that the capacity is 240 MW?", "yes"),
    ("Does the report discuss the price of concrete and steel?", "no"),
    ("Does the report mention that the Rance plant closed in 2031?", "no"),
    ("报告是否指出江厦潮汐电站于1980年投入运行？", "yes"),
    ("报告是否指出江厦潮汐电站于1990年投入运行？", "no"),
]
ABOUT = {"question": "How do tidal plants do?", "as_of": None, "report": REPORT}


@pytest.mark.parametrize(("item", "wanted"), ITEMS)
def test_yes_or_no_with_the_sentence_that_decides(item: str, wanted: str) -> None:
    context = YES_NO.context(**ABOUT, item=item)
    found = YES_NO.answer.model_validate(yes_no.answer({}, context), context=Reading(context))
    assert found.answer == wanted, found.reason
    assert found.answer == "no" or (found.quote in REPORT and found.quote)


@pytest.mark.parametrize("label", get_args(Label))
def test_a_reason_is_a_sentence(label: Label) -> None:
    said, sure, why = re.split(r" \(|\): ", yes_no.reason_of(Relation(label, 0.5, (), "why")))
    assert re.fullmatch(r"The closest sentence (supports|contradicts|supports a part of|says nothing of) it", said)
    assert (sure, why) == ("sure to 0.50", "why.")


def test_a_checklist_answers_each_item_as_if_asked_alone() -> None:
    items = {f"item-{number}": item for number, (item, _) in enumerate(ITEMS)}
    context = CHECKLIST.context(**ABOUT, items=items)
    given = checklist.answer({}, context)
    found = CHECKLIST.answer_model({}, context).model_validate(given, context=Reading(context)).by_id()
    assert [found[name].answer for name in items] == [wanted for _, wanted in ITEMS]


def test_only_yes_and_no_can_be_answered() -> None:
    assert checklist.refusal({}) is None
    assert "yes or no" in str(checklist.refusal({"answers": ["satisfied", "partly", "not"]}))


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=120))
def test_any_item_and_report_get_a_valid_answer(item: str, report: str) -> None:
    context = YES_NO.context(**{**ABOUT, "report": report}, item=item)
    YES_NO.answer.model_validate(yes_no.answer({}, context), context=Reading(context))
