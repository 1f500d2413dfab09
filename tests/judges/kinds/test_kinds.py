"""Each kind's answer model: what it takes, what it sends back, and with which words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from dreambench.errors import RubricError
from dreambench.judges.kinds import Reading, kind_names, load_kind

REPORT = "The dam was finished in 1998. It holds 40 million cubic metres."
ABOUT = {"question": "How big is the dam?", "as_of": None, "report": REPORT}


def read(
    kind: str, answer: dict[str, Any], settings: dict[str, Any] | None = None, *, strict: bool = True, **context: Any
) -> Any:
    found = load_kind(kind)
    given = found.context(**context)
    return found.answer_model(settings or {}, given).model_validate_json(json.dumps(answer), context=Reading(given, strict))


def test_every_kind_has_a_context_and_an_answer_with_instructions() -> None:
    known = ["checklist", "classify_domain", "entailment", "extract_claims", "queries", "score", "yes_no"]
    known += ["race_criteria", "race_lists", "race_scores", "race_weights", "extract_citations", "verify_facts"]
    known += ["agent_step", "deductions", "key_facts"]
    assert set(kind_names()) >= set(known)
    for name in kind_names():
        kind = load_kind(name)
        assert kind.name == name
        assert all(field.description for field in kind.answer.model_fields.values()), name


def test_a_score_stays_on_its_scale() -> None:
    assert read("score", {"reason": "r", "score": 7}, {"scale": [1, 7]}, **ABOUT).score == 7
    with pytest.raises(ValidationError, match="less than or equal to 7"):
        read("score", {"reason": "r", "score": 8}, {"scale": [1, 7]}, **ABOUT)
    kind = load_kind("score")
    assert kind.answer_model({}, kind.context(**ABOUT)) is kind.answer_model({"aspect": "x"}, kind.context(**ABOUT))
    assert list(kind.answer_model({}, kind.context(**ABOUT)).model_fields) == ["reason", "score"]


@pytest.mark.parametrize("scale", [[5, 1], [0], "0-100", [0, 1.5]])
def test_a_scale_must_be_two_ascending_whole_numbers(scale: Any) -> None:
    with pytest.raises(RubricError, match="scale"):
        read("score", {"reason": "r", "score": 1}, {"scale": scale}, **ABOUT)


def test_a_quote_that_is_not_there_is_sent_back_and_then_left_to_the_metric() -> None:
    answer = {"reason": "r", "quote": "finished in 1988", "answer": "yes"}
    with pytest.raises(ValidationError, match="do not stand in the report"):
        read("yes_no", answer, item="Is it finished?", **ABOUT)
    assert read("yes_no", answer, strict=False, item="Is it finished?", **ABOUT).answer == "yes"
    assert read("yes_no", {**answer, "quote": "finished in 1998"}, item="Is it finished?", **ABOUT).answer == "yes"


def test_a_checklist_has_one_required_key_per_item() -> None:
    items = {"size-1": "Is the size given?", "2": "Is the cost given?"}
    given = {"size-1": {"reason": "r", "quote": "holds 40 million cubic metres", "answer": "yes"}}
    with pytest.raises(ValidationError, match="Field required"):
        read("checklist", given, items=items, **ABOUT)
    answer = read("checklist", {**given, "2": {"reason": "r", "quote": "", "answer": "no"}}, items=items, **ABOUT)
    assert {name: item.answer for name, item in answer.by_id().items()} == {"size-1": "yes", "2": "no"}
    assert json.loads(answer.model_dump_json()).keys() == items.keys()


def test_checklists_of_equal_ids_share_a_model_and_may_have_other_answers() -> None:
    kind = load_kind("checklist")
    first, second = (kind.context(**{**ABOUT, "report": text}, items={"a": "?"}) for text in ("one", "two"))
    assert kind.answer_model({}, first) is kind.answer_model({}, second)
    ternary = {"answers": ["satisfied", "partly", "not"]}
    with pytest.raises(ValidationError, match="'satisfied', 'partly' or 'not'"):
        read("checklist", {"a": {"reason": "r", "quote": "", "answer": "yes"}}, ternary, items={"a": "?"}, **ABOUT)
    with pytest.raises(ValidationError, match="pattern"):
        kind.context(**ABOUT, items={"not an id": "?"})


LABELS = {"labels": ["supported", "contradicted", "neutral"]}
PASSAGES = [{"id": "p1", "text": "The dam holds 40 million cubic metres."}, {"id": "p2", "text": "Fish live there."}]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"passage": "p1", "quote": "holds 40 million", "label": "refuted"}, "'supported', 'contradicted' or 'neutral'"),
        ({"passage": "p9", "quote": "holds 40 million", "label": "supported"}, "no passage 'p9'; the passages are p1, p2"),
        ({"passage": "p2", "quote": "holds 40 million", "label": "supported"}, "does not stand in passage 'p2'"),
        ({"passage": "", "quote": "", "label": "contradicted"}, "needs a quote"),
    ],
)
def test_a_verdict_rests_on_words_of_its_passage(answer: dict[str, str], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        read("entailment", {"reason": "r", **answer}, LABELS, claim="c", passages=PASSAGES, as_of=None)


def test_a_silent_verdict_needs_no_quote() -> None:
    silent = {"reason": "r", "passage": "", "quote": "", "label": "neutral"}
    assert read("entailment", silent, LABELS, claim="c", passages=[], as_of=None).label == "neutral"
    with pytest.raises(ValidationError, match="needs a quote"):
        read("entailment", silent, {**LABELS, "unquoted": []}, claim="c", passages=[], as_of=None)


@pytest.mark.parametrize("settings", [{}, {"labels": ["one"]}, {"labels": "ab"}, {**LABELS, "unquoted": ["other"]}])
def test_labels_must_be_given(settings: dict[str, Any]) -> None:
    with pytest.raises(RubricError):
        read("entailment", {}, settings, claim="c", passages=[], as_of=None)


def test_claims_are_quoted_and_no_more_than_wanted() -> None:
    claims = [{"claim": "The dam was finished in 1998.", "quote": "dam was finished in 1998"}]
    assert read("extract_claims", {"claims": claims}, limit=1, **ABOUT).claims[0].claim == "The dam was finished in 1998."
    with pytest.raises(ValidationError, match="keep the 1 weightiest"):
        read("extract_claims", {"claims": claims * 2}, limit=1, **ABOUT)
    with pytest.raises(ValidationError, match="do not stand in the report"):
        read("extract_claims", {"claims": [{"claim": "x", "quote": "It was sold to a bank"}]}, **ABOUT)


@pytest.mark.parametrize(
    ("claim", "query", "repeated"),
    [
        ("The dam holds 40 million cubic metres.", "dam 40 million cubic metres", True),
        ("The dam holds 40 million cubic metres.", "dam capacity cubic metres", False),
        ("In 2019 the dam held 40 million cubic metres.", "dam capacity 2019", False),
        ("The dam was finished in 1998.", "dam finished 1998", True),
        ("The dam was finished in 1998.", "when was the dam finished", False),
    ],
)
def test_queries_do_not_repeat_the_claimed_value(claim: str, query: str, repeated: bool) -> None:
    context = {"claim": claim, "question": "How big is the dam?", "as_of": None, "count": 2}
    if repeated:
        with pytest.raises(ValidationError, match="repeats the claimed value"):
            read("queries", {"queries": [query]}, **context)
    else:
        assert read("queries", {"queries": [query]}, **context).queries == [query]


@pytest.mark.parametrize("score", [0, 11])
def test_authority_is_between_1_and_10(score: int) -> None:
    with pytest.raises(ValidationError):
        read("classify_domain", {"reason": "r", "category": "news", "score": score}, domain="a.example")


def test_a_partial_checklist_is_taken_for_what_it_has_but_asks_for_everything() -> None:
    kind = load_kind("checklist")
    items = {"1": "Is the size given?", "2": "Is the cost given?"}
    given = {"1": {"reason": "r", "quote": "", "answer": "no"}}
    answer = read("checklist", given, {"partial": True}, items=items, **ABOUT)
    assert list(answer.by_id()) == ["1"]
    context = kind.context(items=items, **ABOUT)
    partial, whole = (kind.answer_model({"partial": flag}, context).model_json_schema() for flag in (True, False))
    assert partial["required"] == whole["required"] == ["1", "2"]
    assert partial["properties"] == whole["properties"] and partial["$defs"] == whole["$defs"]
    with pytest.raises(ValidationError, match="answers none of the items"):
        read("checklist", {}, {"partial": True}, items=items, **ABOUT)


STEP = {
    "turn": 1,
    "thought": "t",
    "tool": "page_visit",
    "arguments": '{"url":"https://a.example"}',
    "result": "It holds 30 million.",
}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"quote": "It holds 50 million"}, "deduction 1: its quote does not stand in the report"),
        ({"evidence": ""}, "deduction 1: it needs words of a tool's result"),
        ({"evidence": "It holds 20 million"}, "deduction 1: its evidence does not stand in any result"),
        ({"url": "https://b.example"}, "deduction 1: its evidence does not stand in any result"),
    ],
)
def test_a_deduction_rests_on_words(changed: dict[str, str], problem: str) -> None:
    one = {"reason": "r", "kind": "refuted_step", "quote": "It holds 40 million", "url": "https://a.example"}
    about = {**ABOUT, "item": "How big?", "plan": {}, "steps": [STEP]}
    good = {"chain": "c", "deductions": [{**one, "evidence": "It holds 30 million"}]}
    assert read("deductions", good, **about).deductions[0].url == "https://a.example"
    bad = {"chain": "c", "deductions": [{**one, "evidence": "It holds 30 million", **changed}]}
    with pytest.raises(ValidationError, match=problem):
        read("deductions", bad, **about)
    assert len(read("deductions", bad, strict=False, **about).deductions) == 1


FACT = {"fact": "f", "question": "q", "url": "u", "quote": "w", "published": None, "time_sensitive": False}
ASKED = {"question": "How big?", "as_of": None, "steps": []}


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ([FACT], "1 facts were given; 2 to 3 are wanted"),
        ([FACT] * 4, "4 facts"),
        ([FACT, {**FACT, "url": ""}], "no url and quote"),
    ],
)
def test_facts_are_as_many_as_wanted_and_name_their_page(facts: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        read("key_facts", {"facts": facts}, least=2, most=3, **ASKED)
    assert read("key_facts", {"facts": facts}, strict=False, least=2, most=3, **ASKED).facts


def test_questions_name_tools_that_there_are() -> None:
    one = {"question": "q", "extract": "e", "verify": [{"what": "w", "tools": ["web_search"]}], "criteria": ["c"]}
    with pytest.raises(ValidationError, match="there is no tool 'web_search'; the tools are calculate"):
        read("reasoning_questions", {"questions": [one]}, count=1, tools=["calculate"], **ASKED)
    with pytest.raises(ValidationError, match="1 questions were given; 2 are wanted"):
        read("reasoning_questions", {"questions": [one]}, count=2, tools=["web_search"], **ASKED)
    assert read("reasoning_questions", {"questions": [one]}, count=1, tools=["web_search"], **ASKED).questions


@pytest.mark.parametrize(
    ("tools", "problem"),
    [(["serch"], "there is no tool 'serch'"), (["calculate"], "choose web_search as well"), ([], "at least 1")],
)
def test_tools_are_chosen_from_those_on_offer(tools: list[str], problem: str) -> None:
    offer = {"question": "q", "as_of": None, "tools": {"web_search": "s", "calculate": "c"}, "one_of": ["web_search"]}
    with pytest.raises(ValidationError, match=problem):
        read("select_tools", {"reason": "r", "tools": tools}, **offer)
