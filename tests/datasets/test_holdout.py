"""The held-out set is sound: notes point at what is there, clean reports cite real pages, harmless changes change nothing."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from dreambench.datasets.holdout import HoldoutDataset

ROOT = HoldoutDataset().root
TASKS = sorted(path.stem for path in (ROOT / "tasks").glob("*.yaml"))
FLAWED = ["wrong_facts", "stale", "bad_reasoning", "bad_citations", "omits"]
HARMLESS = ["reworded", "rearranged"]

ENTRY = re.compile(r"^\[\^?(\w+)\]:? .*?(https://\S+)$", re.M)
MARK = re.compile(r"\[\^?(\w+)\](?!\()|\]\((https://[^)\s]+)\)")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def report(agent: str, task: str) -> str:
    return (ROOT / "reports" / agent / f"{task}.md").read_text(encoding="utf-8")


def notes(task: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = yaml.safe_load((ROOT / "notes" / f"{task}.yaml").read_text(encoding="utf-8"))
    return found


def citations(text: str) -> Counter[str]:
    """Every citation by the address it leads to, whichever way it is written; a mark without an entry stays as it is."""
    entries = dict(ENTRY.findall(text))
    return Counter(url or entries.get(mark, f"no entry {mark}") for mark, url in MARK.findall(ENTRY.sub("", text)))


def numbers(text: str) -> Counter[str]:
    """The numbers of the prose: not those of addresses, citation marks and the list of sources."""
    return Counter(NUMBER.findall(re.sub(r"\]\(https://[^)\s]+\)|\[\^?\d+\]", "", ENTRY.sub("", text))))


def head(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    return found


HEADS = {path: head(path) for path in sorted((ROOT / "corpus").glob("*/*.md"))}
URLS = {str(each["url"]) for each in HEADS.values()}


def test_every_agent_answers_every_task() -> None:
    dataset = HoldoutDataset().load()
    assert [task.id for task in dataset.tasks] == TASKS
    assert sorted(dataset.agents) == sorted(["clean", *FLAWED, *HARMLESS])
    assert len(dataset.reports) == len(TASKS) * 8
    assert not dataset.findings
    assert all(task.as_of and task.domain for task in dataset.tasks)
    assert "zh" in {task.language for task in dataset.tasks}


@pytest.mark.parametrize("task", TASKS)
def test_a_note_is_about_a_sentence_that_is_there(task: str) -> None:
    clean, said = report("clean", task), notes(task)
    assert set(said) == {*FLAWED, *HARMLESS}
    assert not any(said[agent] for agent in HARMLESS)
    for agent in FLAWED:
        text = report(agent, task)
        assert len(said[agent]) >= 4, agent
        for note in said[agent]:
            has, lacks = (clean, text) if note["kind"] == "omitted" else (text, clean)
            assert note["sentence"] in has, (agent, note)
            assert note["sentence"] not in lacks, (agent, note)
            assert note["truth"]
            pages = note["page"] if isinstance(note["page"], list) else [note["page"]]
            assert set(pages) <= URLS


@pytest.mark.parametrize("task", TASKS)
def test_the_clean_report_cites_pages_of_the_corpus_that_were_out(task: str) -> None:
    text = report("clean", task)
    as_of = yaml.safe_load((ROOT / "tasks" / f"{task}.yaml").read_text(encoding="utf-8"))["as_of"]
    cited = citations(text)
    out = {str(each["url"]) for each in HEADS.values() if "published" in each and each["published"] <= as_of}
    assert len(cited) >= 4
    assert set(cited) | {url for _, url in ENTRY.findall(text)} <= out


@pytest.mark.parametrize("agent", HARMLESS)
@pytest.mark.parametrize("task", TASKS)
def test_a_harmless_change_keeps_numbers_and_citations(task: str, agent: str) -> None:
    clean, text = report("clean", task), report(agent, task)
    assert text != clean
    assert numbers(text) == numbers(clean)
    assert citations(text) == citations(clean)


@pytest.mark.parametrize("task", TASKS)
def test_bad_citations_keep_the_words_and_change_what_is_cited(task: str) -> None:
    clean, text = report("clean", task), report("bad_citations", task)
    assert citations(text) != citations(clean)
    dead = [note for note in notes(task)["bad_citations"] if note["kind"] == "dead"]
    assert bool(dead) == bool(set(citations(text)) - URLS)


def test_a_page_is_dated_or_says_of_itself_that_it_is_not() -> None:
    """Undated on purpose: what a site says about itself, and pages of sites that date nothing."""
    assert HEADS
    for path, each in HEADS.items():
        assert path.name == str(each["url"]).split(".example/")[1].replace("/", "-") + ".md"
        assert each["title"] and each["publisher"] and each["language"] in ("en", "zh")
        if "published" in each:
            assert isinstance(each["published"], date)
        else:
            siblings = [other for at, other in HEADS.items() if at.parent == path.parent]
            assert path.name == "about.md" or not any("published" in other for other in siblings), path


def test_every_site_says_who_it_is() -> None:
    assert all((path.parent / "about.md").is_file() for path in HEADS)
