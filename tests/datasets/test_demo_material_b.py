"""The material of four demo tasks agrees with its own notes.

Checked are form and bookkeeping: quotes that occur once, URLs that exist, dates that parse, lengths that give nothing away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "dreambench" / "datasets" / "demo"
NOTES = DEMO / "notes"
TASKS = ("japan-consumption-tax", "common-charger", "leap-second", "china-retirement-age")
AGENTS = ("good", "stale", "badly_cited", "fluent_wrong")
ROLES = {"primary", "news", "background", "blog", "outdated", "wrong", "after_as_of", "distractor", "about"}
KINDS = {
    *("wrong_number", "wrong_date", "wrong_entity", "wrong_direction", "unsupported_cause", "circular", "false_equivalence"),
    *("cherry_picked", "outdated", "uncited", "swapped_citation", "irrelevant_citation", "dead_link", "dangling_marker"),
    *("low_authority", "omission"),
}
CITATION_KINDS = {
    "uncited",
    "swapped_citation",
    "irrelevant_citation",
    "dead_link",
    "dangling_marker",
    "low_authority",
}
URL = re.compile(r"https?://[^\s)\]】]+")
HOST = re.compile(r"[a-z0-9-]+\.example")


@cache
def notes(task: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((NOTES / f"{task}.yaml").read_text(encoding="utf-8"))
    return data


@cache
def task_file(task: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load((DEMO / "tasks" / f"{task}.yaml").read_text(encoding="utf-8"))
    return data


@cache
def report(agent: str, task: str) -> str:
    return (DEMO / "reports" / agent / f"{task}.md").read_text(encoding="utf-8")


@cache
def page(path: Path) -> tuple[Mapping[str, Any], str]:
    empty, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert empty == ""
    return yaml.safe_load(front), body.strip()


def page_path(url: str) -> Path:
    return DEMO / "corpus" / (url.removeprefix("https://") + ".md")


def url_of(path: Path) -> str:
    return "https://" + path.relative_to(DEMO / "corpus").with_suffix("").as_posix()


def listed() -> dict[str, dict[str, str]]:
    return {entry["url"]: entry for task in TASKS for entry in notes(task)["pages"]}


def hosts() -> set[str]:
    return {url.split("/")[2] for url in listed()}


def length(text: str, language: str) -> int:
    """Chinese characters or words, addresses not counted."""
    bare = URL.sub("", text)
    return len(re.findall(r"[\u4e00-\u9fff]", bare)) if language == "zh" else len(bare.split())


def test_every_page_of_the_notes_exists_and_every_page_of_their_hosts_is_in_the_notes() -> None:
    on_disk = {url_of(path) for host in hosts() for path in (DEMO / "corpus" / host).rglob("*.md")}
    assert on_disk == set(listed())


def test_hosts_are_reserved_names_of_one_label_with_an_about_page() -> None:
    for host in hosts():
        assert HOST.fullmatch(host), host
        assert f"https://{host}/about" in listed(), host


def test_pages_have_whole_front_matter_and_a_body_of_fitting_length() -> None:
    for url, entry in listed().items():
        front, body = page(page_path(url))
        assert set(front) | {"published"} == {"url", "title", "published", "publisher", "language"}, url
        assert front["url"] == url and front["title"] and front["publisher"] and front["language"] in ("en", "zh"), url
        assert isinstance(front.get("published", date.min), date), url
        assert (entry["role"] == "about") == url.endswith("/about"), url
        assert entry["role"] != "about" or "published" not in front, url
        low, high = (150, 600) if front["language"] == "zh" else (80, 350)
        assert low <= length(body, front["language"]) <= high, url


def test_a_host_has_one_publisher() -> None:
    pairs = {(url.split("/")[2], page(page_path(url))[0]["publisher"]) for url in listed()}
    assert len(pairs) == len(hosts())


@pytest.mark.parametrize("task", TASKS)
def test_task_files_are_whole(task: str) -> None:
    data = task_file(task)
    assert set(data) == {"id", "query", "as_of", "domain", "language"}
    assert data["id"] == task and isinstance(data["as_of"], date) and data["language"] in ("en", "zh")


@pytest.mark.parametrize("task", TASKS)
def test_pages_after_the_date_are_those_the_notes_call_so(task: str) -> None:
    as_of = task_file(task)["as_of"]
    roles = {entry["role"] for entry in notes(task)["pages"]}
    assert {"primary", "outdated", "wrong", "after_as_of", "distractor"} <= roles <= ROLES
    for entry in notes(task)["pages"]:
        published = page(page_path(entry["url"]))[0].get("published")
        assert (entry["role"] == "after_as_of") == (published is not None and published > as_of), entry["url"]
        assert entry["note"], entry["url"]


@pytest.mark.parametrize("task", TASKS)
def test_every_fact_is_quoted_exactly_from_a_page_that_was_there(task: str) -> None:
    as_of = task_file(task)["as_of"]
    assert len(notes(task)["facts"]) >= 8
    for fact in notes(task)["facts"]:
        assert set(fact) == {"fact", "url", "quote", "date"}
        front, body = page(page_path(fact["url"]))
        assert body.count(fact["quote"]) == 1, fact["quote"]
        assert isinstance(fact["date"], date), fact["quote"]
        assert front.get("published", as_of) <= as_of, fact["url"]


@pytest.mark.parametrize("task", TASKS)
def test_every_defect_is_found_once_in_its_report(task: str) -> None:
    for defect in notes(task)["defects"]:
        assert set(defect) == {"agent", "kind", "quote", "truth", "url"} and defect["truth"], defect
        assert defect["agent"] in AGENTS[1:] and defect["kind"] in KINDS, defect
        assert not defect["url"] or page_path(defect["url"]).exists(), defect
        text = report(defect["agent"], task)
        assert (defect["kind"] == "omission") == (defect["quote"] == ""), defect
        assert defect["quote"] == "" or text.count(defect["quote"]) == 1, defect["quote"]


@pytest.mark.parametrize("task", TASKS)
def test_each_flawed_agent_has_the_defects_of_its_kind(task: str) -> None:
    kinds = {agent: {d["kind"] for d in notes(task)["defects"] if d["agent"] == agent} for agent in AGENTS[1:]}
    assert "outdated" in kinds["stale"] <= {"outdated", "omission"}
    assert {"uncited", "irrelevant_citation", "dead_link", "low_authority"} <= kinds["badly_cited"] <= CITATION_KINDS
    assert {"wrong_number", "wrong_date", "circular", "false_equivalence", "cherry_picked"} <= kinds["fluent_wrong"]
    assert "unsupported_cause" in kinds["fluent_wrong"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("agent", AGENTS)
def test_citations_lead_where_the_notes_say(agent: str, task: str) -> None:
    as_of = task_file(task)["as_of"]
    cited = set(URL.findall(report(agent, task)))
    dead = {url for url in cited if not page_path(url).exists()}
    assert len(cited) >= 5 and {url.split("/")[2] for url in cited} <= hosts()
    assert bool(dead) == (agent == "badly_cited"), dead
    assert all(page(page_path(url))[0].get("published", as_of) <= as_of for url in cited - dead)


@pytest.mark.parametrize("task", TASKS)
def test_the_four_reports_have_similar_lengths(task: str) -> None:
    language = task_file(task)["language"]
    lengths = {agent: length(report(agent, task), language) for agent in AGENTS}
    low, high = (900, 1500) if language == "zh" else (450, 750)
    assert all(low <= n <= high and abs(n / mean(lengths.values()) - 1) <= 0.25 for n in lengths.values()), lengths
