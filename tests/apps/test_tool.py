"""`python -m dreambench tool ...` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.command import dreambench
from tests.tools.site import Site, article

PAGES = [
    {"url": "https://a.example/one", "title": "One", "published": "2024-03-01", "text": "Barley failed in 2023."},
    {"url": "https://a.example/two", "title": "Two", "published": "2025-03-01", "text": "Barley grew in 2024."},
]
JUDGE = "judge=gpt_5_1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pages.jsonl").write_text("\n".join(json.dumps(page) for page in PAGES), encoding="utf-8")
    return tmp_path


def test_a_search_shows_what_a_judge_would_see(folder: Path) -> None:
    ran = dreambench(
        "tool", "web_search", "barley", "tools=corpus", "tools.path=pages.jsonl", "as_of=2024-12-31", JUDGE, cwd=folder
    )
    assert ran.code == 0, ran.err
    assert ran.out == "[1] One\nhttps://a.example/one\npublished 2024-03-01\nBarley failed in 2023.\n"


def test_a_visit_as_json(folder: Path) -> None:
    ran = dreambench(
        "tool", "page_visit", "https://a.example/two", "--json", "tools=corpus", "tools.path=pages.jsonl", JUDGE, cwd=folder
    )
    assert ran.code == 0, ran.err
    shown = json.loads(ran.out)
    assert (shown["reason_code"], shown["page"]["text"]) == ("ok", "Barley grew in 2024.")


def test_mistakes_are_explained(folder: Path) -> None:
    ran = dreambench("tool", "web_search", "barley", "--kk", "3", "tools=corpus", "tools.path=pages.jsonl", JUDGE, cwd=folder)
    assert ran.code == 1 and "kk: no such argument; did you mean k?" in ran.err
    ran = dreambench("tool", "web_search", "barley", "tools=corpsu", cwd=folder)
    assert ran.code == 1 and "did you mean corpus?" in ran.err
    ran = dreambench("tool", "tools=corpus", "tools.path=nowhere", JUDGE, cwd=folder)
    assert ran.code == 1 and "tools.path: nowhere does not exist" in ran.err


def test_a_visit_on_the_network(folder: Path) -> None:
    with Site() as site:
        site.put("/a", article(title="Barley"))
        line = ["tool", "page_visit", site.url("/a?x=1"), "tools=pages", JUDGE, "as_of=2024-06-01"]
        ran = dreambench(*line, "page.contact=me@example.org", f"tools.allow_private=[{site.host}]", cwd=folder)
        assert ran.code == 0, ran.err
        assert ran.out.startswith(f"Barley\n{site.url('/a?x=1')}\npublished 2024-03-01\nread today: it may say more")
        assert "Barley failed in the north" in ran.out
        refused = dreambench(*line, "page.contact=me@example.org", "paths.cache=other", cwd=folder)
        assert refused.code == 0 and "cannot be read: unsupported (port" in refused.out
        asked = len(site.requests)
        replayed = dreambench(
            *line, "page.contact=me@example.org", f"tools.allow_private=[{site.host}]", "cache.mode=replay", cwd=folder
        )
        assert replayed.out == ran.out and len(site.requests) == asked


def test_nobody_reads_anonymously(folder: Path) -> None:
    ran = dreambench("tool", "page_visit", "https://a.example", "tools=pages", JUDGE, cwd=folder)
    assert ran.code == 1 and "page.contact: is not set" in ran.err
