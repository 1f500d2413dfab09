"""A task of DR3-Eval on disk: its user files, its pages, its gold insights and its checklist.

<data>/<task>/                 user files; useful_search.json|jsonl; long_context_sampled_<size>.json; indexes (not read)
<insights>/<task>/             gold_insights_from_source.json (user files), gold_insights_from_long_context.json (sandbox)
<checklists>/<task>/           checklist.json
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from dreambench.datasets.folders import SUFFIXES
from dreambench.documents import load_report, normalize_url
from dreambench.errors import DatasetError, DocumentError, Problem
from dreambench.language.tokens import words
from dreambench.tools.page import Page
from dreambench.tools.sandbox import OWN, read_sandbox

PLAIN = (".csv", ".tsv", ".json", ".xml", ".yaml")
OFFICE = (".md", ".markdown", ".txt", ".pdf", ".docx", ".doc", ".pptx", ".xlsx", ".rtf")
"""Types that the released scorer requires to be cited; images, sound, video, tables and HTML are never required there."""
_OURS = re.compile(r"(?:useful_search|noise_search|long_context_sampled_\w+)\.jsonl?$|\.(?:db|pkl)$")
SHARE = 0.6
"""Share of a title's words that one entry of a reference list must have to name it."""
Required = Literal["text", "all"]
Insights = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """A document of the task. `text` is None where a file cannot be read as text (an image, a video)."""

    name: str
    url: str
    text: str | None
    required: bool

    def named_by(self, entries: Sequence[str], report: str, urls: frozenset[str]) -> bool:
        """Whether a report cites it: its address, its whole name anywhere, or most words of it in one reference entry."""
        if self.url and normalize_url(self.url) in urls:
            return True
        wanted = words(self.name)
        if not wanted:
            return False
        if self.name.casefold() in report.casefold() or Path(self.name).stem.casefold() in report.casefold():
            return True
        return any(len(set(wanted) & set(words(entry))) >= SHARE * len(set(wanted)) for entry in entries)


@dataclass(frozen=True)
class TaskFiles:
    """What is on disk about one task; empty where a gold file is missing."""

    sources: tuple[Source, ...]
    user_insights: tuple[str, ...]
    sandbox_insights: tuple[str, ...]
    requirements: tuple[str, ...]

    def find(self, name: str) -> Source | None:
        """The document that a report means by `name` (an address, a title, a file name)."""
        url = normalize_url(name)
        for source in self.sources:
            if source.url and normalize_url(source.url) == url:
                return source
        plain = name.strip().casefold()
        exact = [s for s in self.sources if plain in (s.name.casefold(), Path(s.name).stem.casefold())]
        said = set(words(name))
        likely = [s for s in self.sources if said and len(said & set(words(s.name))) >= SHARE * len(set(words(s.name)) | said)]
        return next(iter([*exact, *likely]), None)


@dataclass(frozen=True)
class Folders:
    """Where the parts lie."""

    data: Path
    insights: Path
    checklists: Path
    size: str
    required: Required

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the bytes of everything that is read of any task, made once: sandboxes are large."""
        digest = hashlib.sha256(f"{self.size} {self.required}".encode())
        for root in dict.fromkeys((self.data, self.insights, self.checklists)):
            for path in sorted(path for path in root.rglob("*") if path.is_file() and self._read(path)):
                digest.update(path.relative_to(root).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def _read(self, path: Path) -> bool:
        sampled = path.name.startswith("long_context_sampled_") and path.name != f"long_context_sampled_{self.size}.json"
        return not sampled and path.suffix not in (".db", ".pkl") and not path.name.startswith("noise_search")

    def tasks(self) -> list[str]:
        """The names of the task folders, sorted."""
        return sorted(entry.name for entry in self.data.iterdir() if entry.is_dir())

    def read(self, task: str) -> TaskFiles:
        """One task. Raises DatasetError for a file that cannot be read."""
        return _read_task(self, task)


@lru_cache(maxsize=32)
def _read_task(folders: Folders, task: str) -> TaskFiles:
    home = folders.data / task
    return TaskFiles(
        (*_user_files(home, folders.required), *_pages(home, task, folders.size)),
        tuple(_texts(folders.insights / task / "gold_insights_from_source.json", "gold_insights", "insight")),
        tuple(_texts(folders.insights / task / "gold_insights_from_long_context.json", "gold_insights", "insight")),
        tuple(_texts(folders.checklists / task / "checklist.json", "checklist", "requirement")),
    )


def _user_files(home: Path, required: Required) -> Iterator[Source]:
    for path in sorted(home.iterdir()) if home.is_dir() else []:
        gold = path.name.startswith("gold_insights") or path.name == "checklist.json"
        if path.is_file() and not path.name.startswith(".") and not _OURS.search(path.name) and not gold:
            suffix = path.suffix.lower()
            yield Source(path.name, "", _file_text(path), required == "all" or suffix in OFFICE)


def _file_text(path: Path) -> str | None:
    suffix = path.suffix.lower()
    if suffix in PLAIN:
        return path.read_text(encoding="utf-8", errors="replace")
    if suffix not in SUFFIXES:
        return None
    try:
        return load_report(path).text
    except DocumentError:
        return None


def _pages(home: Path, task: str, size: str) -> list[Source]:
    """Supportive pages, which must be cited, then the other pages of the sandbox.

    A list of supportive pages may hold titles alone; their texts are then those of the sandbox.
    """
    listed = [home / f"useful_search.{suffix}" for suffix in ("jsonl", "json")]
    needed = [page for path in listed if path.is_file() for page in read_sandbox(path, task)]
    sampled = home / f"long_context_sampled_{size}.json"
    others = read_sandbox(sampled, task) if sampled.is_file() else []
    found: list[Source] = []
    for page in needed:
        same = next((other for other in others if _is_same(page, other)), page)
        url = same.url if page.url.startswith(OWN) else page.url
        found.append(Source(page.title, url, page.text or same.text, True))
    found += [Source(p.title, p.url, p.text, False) for p in others if not any(_is_same(page, p) for page in needed)]
    return list(dict.fromkeys(found))


def _is_same(one: Page, other: Page) -> bool:
    """The same address, or the same title where one of them has no address of its own."""
    own = one.url.startswith(OWN) or other.url.startswith(OWN)
    same_title = one.title.strip().casefold() == other.title.strip().casefold()
    return normalize_url(one.url) == normalize_url(other.url) or (own and same_title)


def _texts(path: Path, key: str, field: str) -> Iterator[str]:
    if not path.is_file():
        return
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DatasetError(Problem(str(path), f"is not JSON: {error}")) from error
    listed = content.get(key) if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise DatasetError(Problem(str(path), f"has no list {key!r}"))
    for number, entry in enumerate(listed):
        text = entry.get(field) if isinstance(entry, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise DatasetError(Problem(str(path), f"{key}[{number}] has no text {field!r}"))
        yield text.strip()
