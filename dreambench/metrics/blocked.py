"""Sources that a task forbids, and the traces of agents: what `metric=leakage` reads. Pure apart from reading files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreambench.datasets.files import check_exists
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.documents import normalize_url, registrable_domain
from dreambench.language.tokens import words
from dreambench.metrics.gold import Gold, read_gold
from dreambench.records import Report

LEAST_WORDS = 4
"""A title of fewer words is too common to be looked for in a text."""
ENDINGS = (".jsonl", ".json")
_URL = re.compile(r"(?:https?://|www\.)[^\s\"'<>\\]{1,2048}")
_RESULTS = ("result", "output", "observation", "response", "content")


@dataclass(frozen=True, slots=True)
class Blocked:
    """One forbidden source: a document by its addresses and title, or whole domains."""

    title: str = ""
    urls: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells the sources of a task apart: title, addresses and domains."""
        return " ".join([self.title, *self.urls, *self.domains]).strip()

    def is_at(self, url: str) -> bool:
        """Whether an address is one of the source."""
        if any(normalize_url(url) == normalize_url(own) for own in self.urls):
            return True
        return bool(self.domains) and registrable_domain(url) in self.domains

    def titled_in(self, text: str) -> bool:
        """Whether the whole title stands in a text, apart from case and punctuation."""
        title = _folded(self.title)
        long_enough = len(title.split()) >= LEAST_WORDS or len(words(self.title)) >= LEAST_WORDS
        return long_enough and f" {title} " in f" {_folded(text)} "


@dataclass(frozen=True)
class Traces:
    """A folder `<agent>/<task>.json[l]` of traces in any shape. `sha256` is over all their names and bytes."""

    folder: Path
    sha256: str

    def opened(self, report: Report) -> list[str] | None:
        """Addresses that the agent asked for: those in a trace outside of what tools gave back. None without a trace."""
        for ending in ENDINGS:
            path = self.folder / report.agent / f"{report.task_id}{ending}"
            if path.is_file():
                found = [
                    url.rstrip(".,;)]}") for value in _values(path) for text in _asked(value) for url in _URL.findall(text)
                ]
                return list(dict.fromkeys(found))
        return None


def read_blocked(path: Path, key: str) -> Gold[Blocked]:
    """Forbidden sources by task, from records {id, blocked} or {id, content: {blocked}}.

    `blocked` is one object with title, urls and domains, or a list of them; a text is an address or a title. Raises
    DatasetError with every problem.
    """
    return read_gold(path, key, _sources, id_field="id", query_field="prompt")


def read_traces(folder: Path, key: str) -> Traces:
    """The traces of a folder. Raises DatasetError when there are none, or one is no JSON."""
    problems = Problems()
    check_exists(folder, key, problems)
    problems.check()
    files = sorted(path for path in folder.glob("*/*") if path.suffix in ENDINGS)
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        try:
            _values(path)
        except ValueError as error:
            problems.add(path, None, f"is not JSON: {error}")
    if not files:
        problems.add(key, None, f"{folder} holds no trace", ["<agent>/<task>.json", "<agent>/<task>.jsonl"])
    problems.check()
    return Traces(folder, digest.hexdigest())


def _sources(row: Row, problems: Problems) -> Iterator[Blocked]:
    content = row.values.get("content")
    given = row.values.get("blocked", content.get("blocked") if isinstance(content, Mapping) else None)
    for entry in given if isinstance(given, list) else [given]:
        if isinstance(entry, str) and entry.strip() and entry.strip() != "none":
            yield Blocked(urls=(entry.strip(),)) if _URL.match(entry.strip()) else Blocked(title=entry.strip())
        elif isinstance(entry, Mapping):
            source = Blocked(str(entry.get("title") or ""), _texts(entry, "urls"), _texts(entry, "domains"))
            if source.key:
                yield source
            else:
                problems.add(row.path, row.line, "a blocked source has neither title nor urls nor domains", sorted(entry))
        elif entry is not None and not isinstance(entry, str):
            problems.add(row.path, row.line, f"field 'blocked' holds {entry!r}", ['{"title": ..., "urls": [...]}'])


def _texts(entry: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = entry.get(name) or ()
    return (given,) if isinstance(given, str) else tuple(str(each) for each in given)


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _values(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8")
    return [json.loads(text)] if path.suffix == ".json" else [json.loads(line) for line in text.splitlines() if line.strip()]


def _asked(value: Any) -> Iterator[str]:
    """All texts of a trace but those under a key that says that a tool gave them back."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if not str(name).lower().startswith(_RESULTS):
                yield from _asked(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _asked(inner)
