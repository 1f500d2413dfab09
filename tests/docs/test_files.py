"""Files that the documentation names exist, links lead somewhere, and so does the site's navigation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown.extensions.toc import slugify

from tests.docs.pages import DOCS, ROOT, page, section, table

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)]*))?\)")
OWN = [*DOCS.rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))]
NEW = "NAME"
"""Stands for a name in the path of a file that a request adds."""


def test_ten_requests_name_files_that_exist() -> None:
    requests = table(section(page("architecture.md"), "Ten requests and the files they touch"))
    assert len(requests) == 10
    named = [path for cells in requests for cell in cells for path in re.findall(r"`([\w./]+\.(?:py|yaml|j2|md))`", cell)]
    assert len(named) >= 35
    for path in named:
        wanted = Path(path).parent if NEW in path else Path(path)
        assert (ROOT / wanted).exists(), path


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    for link, anchor in LINK.findall(text):
        if not link.startswith(("https://", "http://")):
            target = path.parent / link if link else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), f"{link}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the site and a forge make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {slugify(re.sub(r"[`*]", "", heading), "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def test_the_navigation_of_the_site_names_pages_that_exist_each_once() -> None:
    class Loader(yaml.SafeLoader):
        """Reads mkdocs.yml without the Python objects that its extensions name."""

    Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: suffix)
    site = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=Loader)
    listed = leaves(site["nav"])
    assert len(listed) == len(set(listed))
    assert all((DOCS / name).is_file() for name in listed if not name.startswith("reference/"))
    in_folders = {str(path.relative_to(DOCS)) for part in ("metrics", "tutorials") for path in (DOCS / part).glob("*.md")}
    assert in_folders <= set(listed)


def leaves(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    parts = node.values() if isinstance(node, dict) else node
    return [leaf for part in parts for leaf in leaves(part)]
