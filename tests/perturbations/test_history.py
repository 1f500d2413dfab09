"""What pages said earlier: amounts, counts, dates and names that a report takes back, and what it cannot have known."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from dreambench.perturbations import Perturbed
from dreambench.perturbations.history import stated
from dreambench.records import Task
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page
from tests.perturbations.reports import arm, perturbed

URL = "https://bridges.example/record"
CUTOFF = date(2019, 6, 30)
TASK = Task("t", "How long are bridges?", "test", as_of=date(2021, 12, 31))


def report(sentence: str, url: str = URL) -> str:
    return f"# Bridges\n\n{sentence} The rest of the text is about other things.\n\n## Sources\n\n[1] Record: {url}\n"


def outdated(text: str, *pages: Page, **keys: Any) -> Perturbed:
    return perturbed(arm("outdated_cutoff", cutoff=CUTOFF, **keys), text, corpus=Corpus(list(pages)), task=TASK)


def versions(then: str, now: str) -> list[Page]:
    return [Page(URL, "Record", then, date(2018, 1, 1)), Page(URL, "Record", now, date(2020, 1, 1))]


@pytest.mark.parametrize(
    ("then", "now", "claim", "old"),
    [
        (
            "The bridge authority of Norland counts 12 suspension bridges.",
            "The bridge authority of Norland counts 19 suspension bridges.",
            "The bridge authority of Norland counts 19 suspension bridges [1].",
            "12",
        ),
        (
            "The new bridge across the Norland strait opens to traffic in May 2019.",
            "The new bridge across the Norland strait opens to traffic in March 2021.",
            "The new bridge across the Norland strait opens to traffic in March 2021 [1].",
            "May 2019",
        ),
        (
            "The director of the Norland bridge authority is Anna Berg.",
            "The director of the Norland bridge authority is Karl Lund.",
            "The director of the Norland bridge authority is Karl Lund [1].",
            "Anna Berg",
        ),
        (
            "截至目前，诺兰大桥管理局共管理12座悬索桥和斜拉桥。",
            "截至目前，诺兰大桥管理局共管理19座悬索桥和斜拉桥。",
            "诺兰大桥管理局共管理19座悬索桥和斜拉桥[1]。",
            "12",
        ),
    ],
    ids=["count", "date", "office", "chinese"],
)
def test_what_a_page_stated_otherwise_is_put_back(then: str, now: str, claim: str, old: str) -> None:
    done = outdated(report(claim), *versions(then, now), newer="keep")
    (edit,) = done.log.edits
    assert edit.kind == "restored"
    assert edit.after == old
    assert "2018-01-01" in edit.note
    assert old in done.report.text


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (
            "The authority of Norland counts 12 bridges.",
            "The authority of Norland counts 19 bridges and 40 tunnels in 3 towns.",
        ),
        ("Ferries of Norland carry 12 cars at a time.", "The bridge authority of Norland counts 19 suspension bridges."),
        ("The authority is led by Anna Berg, who likes 19 boats.", "The director of Norland's bridges counts 19 of them."),
    ],
)
def test_what_has_no_certain_counterpart_stays(then: str, now: str) -> None:
    text = report("The director of the authority of Norland counts 19 suspension bridges and 40 tunnels in 3 towns [1].")
    done = outdated(text, *versions(then, now), newer="keep")
    assert all("12" == edit.after for edit in done.log.edits)
    assert not any(edit.after in ("Anna Berg", "3", "40") for edit in done.log.edits)


def test_an_earlier_issue_of_a_dated_page_is_its_earlier_version() -> None:
    said = "The register of Norland lists {} suspension bridges."
    pages = [
        Page(f"https://bridges.example/register-{year}", "Register", said.format(count), date(year, 3, 1))
        for year, count in ((2017, 11), (2018, 12), (2021, 19))
    ]
    text = report(said.format(19)[:-1] + " [1].", "https://bridges.example/register-2021")
    (edit,) = outdated(text, *pages, newer="keep").log.edits
    assert (edit.before, edit.after) == ("19", "12")


def test_a_sentence_that_cites_newer_pages_alone_goes() -> None:
    fresh = Page(URL, "Record", "A cable of the Norland bridge was replaced.", date(2020, 5, 1))
    text = report("A cable of the Norland bridge was replaced after long disputes [1].")
    done = outdated(text, fresh, newer="drop")
    assert [edit.kind for edit in done.log.edits] == ["drop"]
    assert "A cable" not in done.report.text
    assert outdated(text, fresh, newer="keep").log.eligible == 0
    old = Page(URL, "Record", "A cable of the Norland bridge was replaced.", date(2018, 5, 1))
    assert outdated(text, old, newer="drop").log.eligible == 0


def test_a_forecast_is_not_made_a_thing_of_the_past() -> None:
    text = "# Bridges\n\nIn 2021 the toll was raised. Traffic is expected to double in 2021 at the bridge, officials said.\n"
    done = perturbed(arm("outdated_cutoff", cutoff=CUTOFF, newer="blur"), text, task=TASK)
    assert "expected to double recently" not in done.report.text
    assert all("expected" not in text[edit.before_end : edit.before_end + 5] for edit in done.log.edits)


def test_a_date_is_no_amount_and_a_count_is_told_apart_by_what_is_counted() -> None:
    facts = stated("On 12 June 2023 Saturn had 146 moons, of which 24 rings are not counted.")
    assert [fact.role[0] for fact in facts if fact.role[0] != "name"] == ["date", "amount", "amount"]
    assert len({fact.role for fact in facts if fact.role[0] == "amount"}) == 2
