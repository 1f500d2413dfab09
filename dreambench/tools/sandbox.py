"""The frozen sandboxes of DR3-Eval: the pages of its task folders as a corpus that can be searched and read offline.

`<path>/<task>/long_context_sampled_<size>.json` is a list of pages with `title` and `page_body`; a page without an address
gets one of its own, `sandbox://<task>/<title>`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from dreambench.engine.gateway import Gateway
from dreambench.errors import DatasetError, Problem
from dreambench.tools.corpus import Corpus
from dreambench.tools.page import Page
from dreambench.tools.results import Undated
from dreambench.tools.toolset import CorpusTools, SearchingTools

ADDRESSES = ("url", "link", "page_url")
OWN = "sandbox://"
"""How the address begins that a page without one is given."""


class SandboxTools(CorpusTools):
    """Search and read the pages of every task under `path`, or of one `task`, at one context `size`."""

    name: ClassVar[str] = "sandbox"

    def __init__(
        self, *, gateway: Gateway, path: Path, size: str = "512k", task: str | None = None, undated: Undated = "keep"
    ) -> None:
        """Raises DatasetError when there is no such file, or one that cannot be read."""
        SearchingTools.__init__(self, gateway=gateway, undated=undated)
        self.corpus = Corpus(list(_pages(path, size, task)))

    def identity(self) -> Mapping[str, Any]:
        return {**super().identity(), "tools": self.name}


def read_sandbox(path: Path, task: str) -> list[Page]:
    """The pages of one sandbox file: a JSON list, or one object a line. Raises DatasetError with what is wrong."""
    text = path.read_text(encoding="utf-8")
    try:
        listed: Any = (
            [json.loads(line) for line in text.splitlines() if line.strip()] if path.suffix == ".jsonl" else json.loads(text)
        )
    except json.JSONDecodeError as error:
        raise DatasetError(Problem(str(path), f"is not JSON: {error}")) from error
    if not isinstance(listed, list):
        raise DatasetError(Problem(str(path), "is no list of pages", ['[{"title", "page_body"}]']))
    pages = []
    for number, record in enumerate(listed):
        title = record.get("title") if isinstance(record, dict) else None
        if not isinstance(title, str):
            raise DatasetError(Problem(str(path), f"page {number} has no text 'title'", ["title", "page_body"]))
        body = record.get("page_body") or record.get("content") or record.get("snippet") or ""
        url = next((str(record[name]) for name in ADDRESSES if record.get(name)), f"{OWN}{task}/{quote(title)}")
        pages.append(Page(url, title, str(body)))
    return pages


def _pages(path: Path, size: str, task: str | None) -> Iterator[Page]:
    name = f"long_context_sampled_{size}.json"
    found = sorted(path.expanduser().glob(f"{task or '*'}/{name}"))
    if not found:
        raise DatasetError(Problem("tools.path", f"{path} holds no <task>/{name}", ["32k", "64k", "128k", "256k", "512k"]))
    seen = set()
    for file in found:
        for page in read_sandbox(file, file.parent.name):
            if page.snapshot not in seen:
                seen.add(page.snapshot)
                yield page
