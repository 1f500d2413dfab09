"""The rules of `relate` one by one, and their accuracy on labelled pairs.

`develop.jsonl` was worked on. A first set of 77 unseen pairs scored 71 when the rules were first finished; it then joined
`develop.jsonl`. `held_out.jsonl` was written before the rules were changed again and was run once, when they were final;
the counts below are of that run. All pairs are by one author, so that the figures flatter the rules: other people's words
differ more.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dreambench.language.entailment import Relation, relate

DATA = Path(__file__).parent / "data"
PASSAGE = (
    "The town of Marlow opened its first protected bike lane in 2009. By 2021 the network had grown to 212 km. Helmets are not "
    "mandatory for adults. According to the transport office, the number of cyclists killed fell from 31 in 2010 to 9 in 2021. "
    "The office plans to build a bridge for bikes, which may open in 2026. Most riders use the lanes daily. The lanes were "
    "designed by Ines Falk."
)


@pytest.mark.parametrize(
    ("claim", "label", "reason"),
    [
        ("The network was 212 km long in 2021.", "supports", "212 km agrees"),
        ("The network was 0.212 thousand km long in 2021.", "supports", "agrees"),
        ("Nine cyclists were killed in 2021.", "supports", "Nine agrees"),
        ("12 cyclists were killed in 2021.", "contradicts", "12 against 9"),
        ("25 cyclists were killed in 2015.", "unrelated", "25 not found"),
        ("25 cyclists were killed in 2021 in Oldport.", "unrelated", "not found"),
        ("The network had 212 km in 2021 and cost $40 million.", "partially", "agrees"),
        ("The first protected bike lane opened in 2012.", "contradicts", "2012 against 2009"),
        ("Helmets are mandatory for adults.", "contradicts", "denies"),
        ("Helmets are not mandatory for adults.", "supports", "both deny"),
        ("The number of cyclists killed rose from 2010 to 2021.", "contradicts", "up"),
        ("All riders use the lanes daily.", "partially", "more of them"),
        ("A bridge for bikes will open in 2026.", "partially", "only says"),
        ("The lanes were designed by Otto Brandt.", "contradicts", "otto brandt"),
        ("Buses in the town are red.", "unrelated", ""),
    ],
)
def test_one_rule_at_a_time(claim: str, label: str, reason: str) -> None:
    relation = relate(claim, PASSAGE)
    assert relation.label == label, relation
    assert reason in relation.why
    assert 0.0 <= relation.confidence <= 1.0
    assert bool(relation.quote) == (label != "unrelated")
    assert all(PASSAGE[q.start : q.end] == q.text for q in relation.quote)


def test_the_quote_is_the_sentence_that_decides() -> None:
    assert [q.text for q in relate("Helmets are mandatory for adults.", PASSAGE).quote] == [
        "Helmets are not mandatory for adults."
    ]


@pytest.mark.parametrize(("claim", "passage"), [("", PASSAGE), ("the of", PASSAGE), ("A town opened a lane.", ""), ("", "")])
def test_nothing_to_compare_is_unrelated(claim: str, passage: str) -> None:
    relation = relate(claim, passage)
    assert (relation.label, relation.quote) == ("unrelated", ())


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def confusion(pairs: list[dict[str, str]]) -> dict[tuple[str, str], int]:
    """Counts of (label by hand, label by rule)."""
    return dict(Counter((row["label"], relate(row["claim"], row["passage"]).label) for row in pairs))


def test_the_two_sets_share_no_passage() -> None:
    assert not {row["passage"] for row in rows("develop")} & {row["passage"] for row in rows("held_out")}


def test_confusion_on_the_pairs_worked_on() -> None:
    """262 of 263 (99.6 %)."""
    assert confusion(rows("develop")) == {
        ("supports", "supports"): 91,
        ("partially", "partially"): 11,
        ("contradicts", "contradicts"): 107,
        ("contradicts", "supports"): 1,
        ("unrelated", "unrelated"): 53,
    }


def test_confusion_on_the_held_out_pairs() -> None:
    """73 of 78 (93.5 %): no false contradiction, five contradictions missed, one of them taken for support."""
    assert confusion(rows("held_out")) == {
        ("supports", "supports"): 29,
        ("partially", "partially"): 2,
        ("contradicts", "contradicts"): 28,
        ("contradicts", "partially"): 1,
        ("contradicts", "supports"): 1,
        ("contradicts", "unrelated"): 3,
        ("unrelated", "unrelated"): 14,
    }


def test_claims_are_unrelated_to_passages_about_other_things() -> None:
    pairs = rows("held_out")
    passages = sorted({row["passage"] for row in pairs})
    labels = Counter(relate(row["claim"], other).label for row in pairs for other in passages if other != row["passage"])
    assert labels["unrelated"] / labels.total() > 0.995


WORDS = st.lists(
    st.sampled_from(
        [
            "The city ",
            "has ",
            "not ",
            "5 ",
            "million ",
            "people ",
            "in 2020",
            ". ",
            "rose ",
            "公司",
            "没有",
            "增长",
            "百分之五",
            "。",
            "Voss ",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=80), WORDS), st.one_of(st.text(max_size=200), WORDS))
def test_any_pair_of_texts_gives_a_relation_with_exact_quotes(claim: str, passage: str) -> None:
    relation = relate(claim, passage)
    assert isinstance(relation, Relation)
    assert relation.why
    assert relation == relate(claim, passage)
    for quote in relation.quote:
        assert passage[quote.start : quote.end] == quote.text


@pytest.mark.parametrize("piece", ["1 ", "[", "not ", "A ", "三", "中国 ", "5 km, ", "rose "])
def test_adversarial_claims_and_passages_end_soon(piece: str) -> None:
    started = time.process_time()
    relate("The 5 cities are not in China in 2020", piece * (60_000 // len(piece)))
    relate(piece * (4_000 // len(piece)), "The 5 cities are in China.")
    assert time.process_time() - started < 10
