"""What each flaw plants, on reports small enough to read."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from dreambench.documents import CitationStatus, normalize_url, parse_document
from dreambench.perturbations.factual_injection import ALL_SORTS
from dreambench.perturbations.malformed_reasoning import FLAWS as REASONING
from dreambench.records import Task
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page
from tests.perturbations.reports import ENGLISH, SMALL, arm, perturbed, real_reports


def resolved(text: str) -> list[str]:
    return [normalize_url(citation.url or "") for citation in parse_document(text).resolved]


@pytest.mark.parametrize("language", SMALL)
@pytest.mark.parametrize("sort", ALL_SORTS)
def test_wrong_facts_keep_citations_and_lists(sort: str, language: str) -> None:
    text = SMALL[language]
    done = perturbed(arm("factual_injection", sorts=[sort]), text)
    assert done.log.edits
    assert {edit.kind for edit in done.log.edits} == {sort}
    assert all(edit.after != edit.before for edit in done.log.edits)
    assert resolved(done.report.text) == resolved(text)
    assert parse_document(done.report.text).references[0].url == parse_document(text).references[0].url


def test_one_fact_of_a_sentence_is_changed() -> None:
    done = perturbed(arm("factual_injection"), ENGLISH)
    assert len(done.log.edits) == done.log.changed == len({edit.unit for edit in done.log.edits})


@pytest.mark.parametrize(
    ("sentence", "sort", "forms"),
    [
        ("The field covers 1,200,000 square metres in Denmark today.", "numbers", r"covers \d{1,3}(?:,\d{3})+ square metres"),
        ("Old networks lose 30.5% of all their heat every winter.", "numbers", r"lose \d+\.\d% of"),
        ("Costs rose from $10-15 million over the last few years.", "numbers", r"\$\d+-\d+ million"),
        ("The law was passed by the parliament in March 2014 already.", "dates", r"in (?:[A-Z][a-z]+ 2014|March \d{4})"),
        ("Most of the heat is stored in pits in Denmark every winter.", "entities", r"in pits in (?!Denmark)[A-Z]"),
        ("Demand for heat increased in every town of the region then.", "polarity", "Demand for heat decreased"),
        ("All towns of the region have a network of pipes by now, too.", "quantifiers", "^(?:Some|A few) towns"),
        ("新建管网的热损失只有8.5%，低于老旧管网的平均水平。", "numbers", r"只有\d+\.\d%"),
        ("集热场于2019年在北方多个城镇陆续建成并投入使用。", "dates", r"于(?!2019)\d{4}年"),
        ("储热设施的建设规模在近年来持续增加并覆盖更多城镇。", "polarity", "持续减少"),
        ("大多数城镇已经建成季节性储热池并接入供暖管网系统。", "quantifiers", "少数城镇"),
    ],
)
def test_a_fact_keeps_its_notation(sentence: str, sort: str, forms: str) -> None:
    for seed in range(6):
        done = perturbed(arm("factual_injection", sorts=[sort], seed=seed), sentence).report.text
        assert done != sentence
        assert re.search(forms, done), done


@pytest.mark.parametrize(
    "sentence",
    [
        "The GPT-4 model and the Falcon 9 rocket are the best known of them.",
        "See https://example.org/2019/30-percent for the full text of it all.",
        "The formula $E = 20 m$ was given in `code 30` of the annex there.",
    ],
)
def test_numbers_of_names_addresses_and_formulas_stay(sentence: str) -> None:
    assert perturbed(arm("factual_injection", sorts=["numbers", "dates"]), sentence).report.text == sentence


@pytest.mark.parametrize("language", SMALL)
@pytest.mark.parametrize("flaws", [[flaw] for flaw in REASONING] + [list(REASONING)], ids="+".join)
def test_bad_reasoning_alone_and_mixed_keeps_sources_and_length(flaws: list[str], language: str) -> None:
    text = SMALL[language]
    planted = set()
    for seed in range(6):
        done = perturbed(arm("malformed_reasoning", flaws=flaws, seed=seed), text)
        planted |= {edit.kind for edit in done.log.edits}
        assert resolved(done.report.text) == resolved(text)
        assert 0.9 <= len(done.report.text) / len(text) <= 1.1
    assert planted <= set(flaws)
    assert len(flaws) > 1 or planted or language == "chinese"


def test_bad_reasoning_stays_within_the_length_of_real_reports(real_data: Path) -> None:
    for number, (_, report, document) in enumerate(real_reports(real_data, 4)):
        done = perturbed(arm("malformed_reasoning", seed=number), report.text, document=document)
        assert 0.9 <= len(done.report.text) / len(report.text) <= 1.1
        assert done.log.changed >= 3


def test_inserted_sentences_have_no_wording_of_their_own(real_data: Path) -> None:
    """No run of five words comes back in more than a fifth of the inserted sentences."""
    for kind in ("contradiction", "prompt_injection", "malformed_reasoning", "neutral_padding"):
        added: list[str] = []
        for number, (_, report, document) in enumerate(real_reports(real_data, 4)):
            if document.language == "en":
                done = perturbed(arm(kind, seed=number), report.text, document=document)
                added += [edit.after for edit in done.log.edits if len(edit.after) > len(edit.before) + 40]
        runs: dict[str, int] = {}
        for text in added:
            words = re.findall(r"\w+", text.lower())
            for run in {" ".join(words[at : at + 5]) for at in range(len(words) - 4)}:
                runs[run] = runs.get(run, 0) + 1
        assert len(added) > 10
        assert max(runs.values()) <= max(3, len(added) / 5), kind


def test_swapped_citations_resolve_to_another_source() -> None:
    done = perturbed(arm("citation_swap"), ENGLISH)
    before, after = parse_document(ENGLISH), parse_document(done.report.text)
    assert done.log.met == 1.0
    assert all(citation.status is CitationStatus.RESOLVED for citation in after.citations)
    assert len(after.markers) == len(before.markers)
    assert [entry.url for entry in after.references] == [entry.url for entry in before.references]


@pytest.mark.parametrize("language", SMALL)
def test_stripped_citations_leave_tidy_sentences(language: str) -> None:
    done = perturbed(arm("citation_strip"), SMALL[language]).report.text
    document = parse_document(done)
    assert document.citations == ()
    assert len(document.references) == 3
    assert not re.search(r" [.,，。]|\(\)|\[\]", done)


def test_a_stripped_citation_that_carries_the_sentence_leaves_a_word() -> None:
    text = "According to [1], heat is lost. See [2].\n\n## Sources\n\n[1] A: https://a.org/x\n[2] B: https://b.org/y\n"
    done = perturbed(arm("citation_strip"), text).report.text
    assert re.search(r"According to [a-z ]+, heat is lost\.", done)


def test_dead_links_keep_the_site_and_every_mention() -> None:
    text = ENGLISH + "\nSee also https://example.com/articles/48213 again.\n"
    done = perturbed(arm("dead_links"), text).report.text
    old = [entry.url or "" for entry in parse_document(text).references]
    new = [entry.url or "" for entry in parse_document(done).references]
    for before, after in zip(old, new, strict=True):
        assert before != after
        assert before.split("/")[2] == after.split("/")[2]
        assert before not in done.split()
    assert done.count(new[1]) == 2


def test_fabricated_sources_keep_labels_and_markers() -> None:
    before, done = parse_document(ENGLISH), perturbed(arm("fabricated_sources"), ENGLISH)
    after = parse_document(done.report.text)
    assert [entry.label for entry in after.references] == [entry.label for entry in before.references]
    assert not {entry.url for entry in after.references} & {entry.url for entry in before.references}
    assert not {entry.title for entry in after.references} & {entry.title for entry in before.references}
    assert [citation.label for citation in after.resolved] == [citation.label for citation in before.resolved]


def test_omission_takes_sentences_out_whole() -> None:
    done = perturbed(arm("omission"), ENGLISH)
    kept = {re.sub(r"\s+", " ", line) for line in ENGLISH.splitlines()}
    assert done.log.edits
    assert all(edit.after == "" for edit in done.log.edits)
    assert "- \n" not in done.report.text
    assert "\n\n\n\n" not in done.report.text
    assert {heading for heading in done.report.text.splitlines() if heading.startswith("#")} <= kept


def test_a_contradiction_turns_a_claim_and_leaves_it_where_it_is() -> None:
    done = perturbed(arm("contradiction"), ENGLISH)
    for edit in done.log.edits:
        start, end = map(int, edit.note.removeprefix("contradicts ").split(":"))
        assert ENGLISH[start:end] in done.report.text
        assert edit.before == ""
        assert "[" not in edit.after


@pytest.mark.parametrize("style", ["visible", "hidden"])
def test_an_order_stands_once_in_a_section(style: str) -> None:
    done = perturbed(arm("prompt_injection", style=style), ENGLISH)
    assert done.log.changed == done.log.eligible > 1
    assert all(("<!--" in edit.after) == (style == "hidden") for edit in done.log.edits)
    assert "{" not in done.report.text


STORAGE = "https://example.com/articles/48213"
PAGES = [
    Page(STORAGE, "Storage", "The largest field near Silkeborg supplies 12% of the town's heat.", date(2018, 1, 1)),
    Page(STORAGE, "Storage", "The largest field near Silkeborg supplies 20% of the town's heat.", date(2020, 1, 1)),
]


def test_an_outdated_report_says_what_its_pages_said_then() -> None:
    made = arm("outdated_cutoff", cutoff=date(2019, 6, 30))
    done = perturbed(made, ENGLISH, corpus=Corpus(PAGES), task=Task("t", "q", "test", as_of=date(2021, 12, 31)))
    (restored,) = [edit for edit in done.log.edits if edit.kind == "restored"]
    assert (restored.before, restored.after) == ("20%", "12%")
    assert "2018-01-01" in restored.note


def test_what_is_newer_than_the_cutoff_is_blurred_or_dropped() -> None:
    task = Task("t", "q", "test", as_of=date(2021, 12, 31))
    for newer in ("blur", "drop"):
        done = perturbed(arm("outdated_cutoff", cutoff=date(2019, 12, 31), newer=newer), ENGLISH, task=task)
        assert "2020" not in parse_document(done.report.text).body_text
        assert {edit.kind for edit in done.log.edits} <= {newer, "blur", "drop"}
        assert "2019" in done.report.text


def test_without_any_date_there_is_nothing_to_put_back() -> None:
    done = perturbed(arm("outdated_cutoff"), "# T\n\nHeat is stored in pits and used in winter by towns.\n")
    assert done.log.eligible == 0
    assert "has a date" in done.log.note


def test_listed_claims_are_swapped_with_a_source_of_their_own(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    claim = "Old networks lose 30% of their heat, and new networks lose only 8%"
    record = {"true": claim, "false": "New networks lose more heat than old ones.", "source": "https://specious.example/x"}
    pairs.write_text(json.dumps(record) + "\n", encoding="utf-8")
    done = perturbed(arm("swap_claims", path=str(pairs)), ENGLISH)
    assert done.log.eligible == done.log.changed == 1
    assert "New networks lose more heat than old ones [4]." in done.report.text
    after = parse_document(done.report.text)
    assert "https://specious.example/x" in {citation.url for citation in after.resolved}
    assert claim not in done.report.text


def test_a_new_entry_is_written_like_the_others(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        json.dumps({"true": "热量可以在地下储存。", "false": "热量不能在地下储存。", "source": "https://s.example/x"}),
        encoding="utf-8",
    )
    text = "# 供热\n\n热量可以在地下储存[1]。它可以保存很久。\n\n## 参考文献\n\n1. [供热年鉴](https://a.example/1)\n"
    done = perturbed(arm("swap_claims", path=str(pairs)), text).report.text
    assert "热量不能在地下储存[2]。" in done
    assert "\n2. [s.example](https://s.example/x)" in done


def test_linked_words_that_cite_keep_what_parts_them_and_lose_what_cites() -> None:
    text = (
        "# T\n\nHeat is stored ([Li (2003)](https://a.org/x), [https://b.org/y/z](https://b.org/y/z)).\n\n"
        "- **Evidence:** [1]\n- Losses are low (see [1][2]).\n\n## Sources\n\n"
        "[1] Li (2003): https://a.org/x\n[2] Ray (2004): https://b.org/y/z\n"
    )
    done = perturbed(arm("citation_strip"), text).report.text
    assert parse_document(done).citations == ()
    assert "Heat is stored (Li, b.org)." in done
    assert re.search(r"- \*\*Evidence:\*\* [a-z ]+\n- Losses are low\.\n", done)


def test_no_real_report_cites_anything_once_it_is_stripped(real_data: Path) -> None:
    for part in range(4):
        for _, report, document in real_reports(real_data, 3, part):
            done = parse_document(perturbed(arm("citation_strip"), report.text, document=document).report.text)
            assert [citation for citation in done.citations if citation.url] == []


def test_a_report_without_a_list_cites_the_false_claim_by_a_link(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(
        '{"true": "Heat is stored in pits.", "false": "Heat is stored in wells.", "source": "https://s.example/x"}'
    )
    done = perturbed(arm("swap_claims", path=str(pairs)), "# T\n\nHeat is stored in pits. It lasts long.\n")
    assert "Heat is stored in wells ([s.example](https://s.example/x)). It lasts long." in done.report.text
