"""A page as a judge sees it, and how a folder or file of pages is read."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from dreambench.errors import DatasetError, Problem

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same loader in C where the library was built with it: a corpus is a thousand small files."""
FIELDS = ("url", "title", "published", "publisher", "language", "text")
NO_FRONT_MATTER = "has no front matter: fields between two lines of --- before its text"
HEAD = ("url: and title:", "where known published: (YYYY-MM-DD), publisher:, language:")
SHOWN = 5
"""Files of a folder whose trouble is spelled out; the others are counted."""


@dataclass(frozen=True, slots=True)
class Page:
    """One version of one page. `published` is None when the page carries no date."""

    url: str
    title: str
    text: str
    published: date | None = None
    publisher: str = ""
    language: str = ""

    @property
    def snapshot(self) -> str:
        """SHA-256 (hex) of url, title, date and text: names exactly what was read."""
        parts = [self.url, self.title, self.published.isoformat() if self.published else "", self.text]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read_pages(path: Path) -> list[Page]:
    """Pages from a JSON lines file, or from a folder of markdown files with YAML front matter.

    Both carry `url` and `title`, optionally `published` (ISO date), `publisher`, `language`; JSON lines carry `text`, a
    markdown file's text is what follows its front matter. Raises DatasetError with every page that cannot be read.
    """
    if not path.exists():
        raise DatasetError(Problem("tools.path", f"{path} does not exist", ["a JSON lines file", "a folder of markdown"]))
    pages, problems = [], []
    for where, record in _records(path):
        if record.get("error") is NO_FRONT_MATTER:
            problems.append(Problem(f"{where}:1", NO_FRONT_MATTER, HEAD, _with_head(where)))
            continue
        try:
            pages.append(_page(record))
        except KeyError as error:
            problems.append(Problem(where, f"is no page: it has no field {error}", FIELDS))
        except (TypeError, ValueError) as error:
            problems.append(Problem(where, f"is no page: {error}", FIELDS))
    if (hidden := len(problems) - SHOWN) > 0:
        problems = [*problems[:SHOWN], Problem(str(path), f"holds {hidden} more files or lines that are no pages")]
    if problems or not pages:
        raise DatasetError(*(problems or [Problem(str(path), "holds no page", ["*.md with front matter", "JSON lines"])]))
    return pages


def _records(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.md")):
            yield str(file), _front_matter(file)
        return
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield f"{path}:{number}", _json(line)


def _with_head(file: str) -> str:
    """The command that gives a file its front matter."""
    quoted = shlex.quote(file)
    head = r"printf -- '---\nurl: https://ADDRESS\ntitle: TITLE\n---\n'"
    return f"{head} | cat - {quoted} > with_head && mv with_head {quoted}"


def _json(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        return {"error": error}
    return record if isinstance(record, dict) else {"error": "not an object"}


def _front_matter(file: Path) -> Mapping[str, Any]:
    parts = file.read_text(encoding="utf-8").split("---\n", 2)
    try:
        record = _LOADER(parts[1]).get_single_data() if len(parts) == 3 and not parts[0].strip() else None
    except yaml.YAMLError as error:
        return {"error": error}
    return {**record, "text": parts[2].strip()} if isinstance(record, dict) else {"error": NO_FRONT_MATTER}


def _page(record: Mapping[str, Any]) -> Page:
    if "error" in record:
        raise ValueError(record["error"])
    unknown = set(record) - set(FIELDS)
    if unknown:
        raise ValueError(f"unknown field {', '.join(sorted(unknown))}")
    published = record.get("published")
    return Page(
        url=str(record["url"]),
        title=str(record["title"]),
        text=str(record["text"]),
        published=published if isinstance(published, date) or published is None else date.fromisoformat(str(published)),
        publisher=str(record.get("publisher", "")),
        language=str(record.get("language", "")),
    )
