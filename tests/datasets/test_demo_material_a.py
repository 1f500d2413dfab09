"""The first four tasks of the bundled demo: their pages, reports and notes agree with each other."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "dreambench" / "datasets" / "demo"
NOTES = DEMO / "notes"
TASKS = ("saturn-moons", "marine-sulphur-cap", "malaria-vaccines", "euro-area-enlargement")
AGENTS = ("good", "stale", "badly_cited", "fluent_wrong")
ROLES = {"primary", "news", "background", "blog", "outdated", "wrong", "after_as_of", "distractor", "about"}
KINDS = set(
    "wrong_number wrong_date wrong_entity wrong_direction unsupported_cause circular false_equivalence cherry_picked outdated "
    "uncited swapped_citation irrelevant_citation dead_link dangling_marker low_authority omission".split()
)
URL = re.compile(r"https?://[^\s)\]>]+")


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def notes(task: str) -> dict[str, Any]:
    return load(NOTES / f"{task}.yaml")


@cache
def report(agent: str, task: str) -> str:
    return (DEMO / "reports" / agent / f"{task}.md").read_text(encoding="utf-8")


@cache
def corpus() -> dict[str, tuple[dict[str, Any], str, Path]]:
    """Front matter, text and file of every page on our hosts, by address."""
    pages = {}
    for host in sorted(our_hosts()):
        for path in sorted((DEMO / "corpus" / host).glob("*.md")):
            _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
            page = yaml.safe_load(front)
            assert page["url"] not in pages, f"{path}: a second page with the address {page['url']}"
            pages[page["url"]] = (page, body, path)
    return pages


def listed() -> list[dict[str, str]]:
    return [page for task in TASKS for page in notes(task)["pages"]]


def our_hosts() -> set[str]:
    return {urlsplit(page["url"]).netloc for page in listed()}


def cited(text: str) -> set[str]:
    return {url.rstrip(".,;") for url in URL.findall(text)}


def test_every_page_is_listed_once_and_every_listed_page_exists():
    urls = [page["url"] for page in listed()]
    assert sorted(urls) == sorted(set(urls))
    assert set(urls) == set(corpus())
    assert {page["role"] for page in listed()} <= ROLES


def test_hosts_are_reserved_and_say_who_publishes_them():
    for host in our_hosts():
        assert re.fullmatch(r"[a-z0-9-]+\.example", host)
        about, text, _ = corpus()[f"https://{host}/about"]
        assert "published" not in about
        assert about["publisher"] in text


def test_pages_have_a_front_matter_that_fits_their_file():
    publishers: dict[str, str] = {}
    for url, (page, body, path) in corpus().items():
        assert set(page) - {"published"} == {"url", "title", "publisher", "language"}, path
        assert isinstance(page.get("published", date.min), date), path
        address = urlsplit(url)
        assert path.parent.name == address.netloc
        assert path.stem == address.path.strip("/").replace("/", "-")
        assert publishers.setdefault(address.netloc, page["publisher"]) == page["publisher"]
        assert 80 <= len(body.split()) <= 350, f"{path}: {len(body.split())} words"


@pytest.mark.parametrize("task", TASKS)
def test_the_task_is_dated_and_pages_after_it_are_marked(task: str):
    content = load(DEMO / "tasks" / f"{task}.yaml")
    assert set(content) == {"id", "query", "as_of", "domain", "language"}
    assert content["id"] == task
    assert isinstance(content["as_of"], date)
    late = {
        page["url"] for page in notes(task)["pages"] if corpus()[page["url"]][0].get("published", date.min) > content["as_of"]
    }
    assert late == {page["url"] for page in notes(task)["pages"] if page["role"] == "after_as_of"}
    assert late
    assert not late & cited("".join(report(agent, task) for agent in AGENTS))


@pytest.mark.parametrize("task", TASKS)
def test_reports_are_alike_in_length(task: str):
    words = {agent: len(report(agent, task).split()) for agent in AGENTS}
    middle = mean(words.values())
    assert all(abs(count - middle) <= 0.25 * middle for count in words.values()), words
    assert all(450 <= count <= 750 for count in words.values()), words


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("agent", ["good", "stale", "fluent_wrong"])
def test_cited_pages_are_in_the_corpus(agent: str, task: str):
    urls = cited(report(agent, task))
    assert len(urls) >= 4
    assert urls <= set(corpus())


@pytest.mark.parametrize("task", TASKS)
def test_facts_are_quoted_from_primary_or_dated_pages(task: str):
    facts = notes(task)["facts"]
    assert 8 <= len(facts) <= 20
    roles = {page["url"]: page["role"] for page in notes(task)["pages"]}
    for fact in facts:
        assert set(fact) == {"fact", "url", "quote", "date"}
        assert date.fromisoformat(str(fact["date"])) <= load(DEMO / "tasks" / f"{task}.yaml")["as_of"]
        assert roles[fact["url"]] not in {"wrong", "after_as_of", "distractor", "about"}
        assert corpus()[fact["url"]][1].count(fact["quote"]) == 1, fact["quote"]


@pytest.mark.parametrize("task", TASKS)
def test_defects_are_found_where_the_notes_say(task: str):
    for defect in notes(task)["defects"]:
        assert set(defect) - {"url"} == {"agent", "kind", "quote", "truth"}
        assert defect["kind"] in KINDS
        assert defect["truth"]
        assert defect.get("url") is None or defect["url"] in corpus()
        if defect["kind"] == "omission":
            assert defect["quote"] == ""
        else:
            assert report(defect["agent"], task).count(defect["quote"]) == 1, defect["quote"]


@pytest.mark.parametrize("task", TASKS)
def test_each_bad_agent_has_defects_of_its_own_sort_and_the_good_one_none(task: str):
    kinds: dict[str, set[str]] = {agent: set() for agent in AGENTS}
    for defect in notes(task)["defects"]:
        kinds[defect["agent"]].add(defect["kind"])
    assert kinds["good"] == set()
    assert kinds["stale"] == {"outdated"}
    assert kinds["badly_cited"] >= {"uncited", "dead_link", "low_authority", "irrelevant_citation"}
    assert kinds["fluent_wrong"] >= {"wrong_number", "wrong_date", "unsupported_cause", "circular", "false_equivalence"}
    assert "cherry_picked" in kinds["fluent_wrong"]


@pytest.mark.parametrize("task", TASKS)
def test_dead_links_of_the_notes_are_the_only_addresses_without_a_page(task: str):
    missing = cited(report("badly_cited", task)) - set(corpus())
    dead = [defect for defect in notes(task)["defects"] if defect["kind"] == "dead_link"]
    assert len(missing) == len(dead)
    assert {urlsplit(url).netloc for url in missing} <= our_hosts()
