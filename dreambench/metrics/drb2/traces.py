"""Leakage: did the agent look at the source that its task forbids, and does its report cite it?

A trace is a JSON or JSON lines file `<traces>/<model>/idx-<n>.json[l]` of any shape. A call is any object that holds the
arguments of a tool (`input`, `arguments`, `args`, `tool_input`, `parameters`, or `url` beside the tool's name). The source
counts as viewed when its address stands among the arguments of a call; in a list of search results it was only offered.
"""

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
from dreambench.documents import Document, normalize_url
from dreambench.judges.kinds.rubric_items import Source
from dreambench.records import Evidence, Judgment, Report, Status, item_id

LEAKAGE = "leakage"
CLEAN, VIEWED, CITED = "clean", "viewed_not_cited", "cited"
NO_TRACE, NOTHING_FORBIDDEN = "no_trace", "no_forbidden_source"
_ARGUMENTS = ("input", "arguments", "args", "tool_input", "parameters")
_NAMES = frozenset({"tool", "tool_name", "name", "action", "function"})
_URL = re.compile(r"(?:https?://|www\.)[^\s\"'<>\\]+")
_ENDINGS = (".jsonl", ".json")


@dataclass(frozen=True)
class Traces:
    """A folder of traces; `sha256` is of all their names and bytes."""

    folder: Path
    sha256: str

    def viewed(self, report: Report) -> list[str] | None:
        """Addresses among the arguments of the report's tool calls, None when there is no trace of it."""
        base = self.folder / report.agent / f"idx-{report.task_id}"
        path = next((each for end in _ENDINGS if (each := base.with_suffix(end)).is_file()), None)
        if path is None:
            return None
        found = [url for value in _values(path) for text in _arguments(value) for url in _URL.findall(text)]
        return list(dict.fromkeys(url.rstrip(".,;)]}") for url in found))


def read_traces(name: str, key: str) -> Traces:
    """The traces of a folder. Raises DatasetError when it does not exist or a file in it is no JSON."""
    problems = Problems()
    folder = Path(name).expanduser()
    check_exists(folder, key, problems)
    problems.check()
    digest = hashlib.sha256()
    files = sorted(path for path in folder.glob("*/idx-*") if path.suffix in _ENDINGS)
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
        try:
            for _ in _values(path):
                pass
        except ValueError as error:
            problems.add(path, None, f"is not JSON: {error}")
    if not files:
        problems.add(key, None, f"{folder} holds no trace", ["<model>/idx-<n>.json", "<model>/idx-<n>.jsonl"])
    problems.check()
    return Traces(folder, digest.hexdigest())


def leakage_row(report: Report, document: Document, blocked: Source | None, traces: Traces) -> Judgment:
    """Which of the three states the report is in; not applicable without a forbidden source or without a trace.

    A citation is seen without a trace too: an address of the source in the report, or its full title.
    """
    item = item_id(report.task_id, LEAKAGE)
    if blocked is None:
        return Judgment(item, LEAKAGE, "", None, Status.NOT_APPLICABLE, reason_code=NOTHING_FORBIDDEN)
    forbidden = {normalize_url(url): url for url in blocked.urls}
    cited = next((forbidden[url] for url in map(normalize_url, _addresses(document)) if url in forbidden), None)
    if cited or _holds_title(document.text, blocked.title):
        return Judgment(item, LEAKAGE, CITED, 1.0, evidence=(Evidence(url=cited or "", quote=blocked.title),))
    viewed = traces.viewed(report)
    if viewed is None:
        return Judgment(item, LEAKAGE, "", None, Status.NOT_APPLICABLE, reason_code=NO_TRACE)
    opened = next((url for url in viewed if normalize_url(url) in forbidden), None)
    if opened:
        return Judgment(item, LEAKAGE, VIEWED, 1.0, evidence=(Evidence(url=opened),))
    return Judgment(item, LEAKAGE, CLEAN, 0.0)


def _addresses(document: Document) -> Iterator[str]:
    yield from (citation.url for citation in document.citations if citation.url)
    yield from (url for reference in document.references for url in reference.urls)
    yield from (url.rstrip(".,;)]}") for url in _URL.findall(document.text))


def _holds_title(text: str, title: str) -> bool:
    """Whether the whole title stands in the text; one of fewer than four words says too little."""
    folded = [" ".join(re.findall(r"\w+", each.casefold())) for each in (text, title)]
    return len(folded[1].split()) >= 4 and folded[1] in folded[0]


def _values(path: Path) -> Iterator[Any]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        yield json.loads(text)
    else:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _arguments(value: Any) -> Iterator[str]:
    """The texts of all tool arguments in a trace, however deep; arguments that are JSON text stay text."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _ARGUMENTS or (name == "url" and _NAMES & set(value)):
                yield inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
            elif not name.startswith(("result", "output", "observation")):
                yield from _arguments(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _arguments(inner)
