"""Perplexity: stored chat completions; the report is the message, its `[n]` point into `citations`.

The list of sources stands beside the message: `citations` (addresses), with titles in `search_results`, which is the list where
there is no other. It is added to the report as a reference list, unless the report has all its addresses already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dreambench.datasets.dumps import Answer, DumpLoader, message_text
from dreambench.datasets.problems import Problems
from dreambench.datasets.responses import opened
from dreambench.datasets.rows import Row


@dataclass(frozen=True, kw_only=True)
class PerplexityDataset(DumpLoader):
    """Reports of Perplexity's models; the agent is the model that answered."""

    title: ClassVar[str] = "perplexity"
    expected: ClassVar[tuple[str, ...]] = ("choices", "or response.choices beside id and query")

    def holds(self, row: Row) -> bool:
        stored = opened(row)
        return stored.body.present("choices") or bool(stored.error)

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        stored = opened(row)
        body = stored.body
        choice, message = _message(body.values.get("choices"))
        if message is None and not stored.error:
            problems.add(row.path, row.line, "field 'choices' holds no message", self.expected)
            return None
        report = with_references(message_text((message or {}).get("content")), body.values)
        cut = (("incomplete_report", "was cut off: length"),) if choice.get("finish_reason") == "length" else ()
        return Answer(report, stored.query, stored.task_id, body.label("model"), stored.error, cut)


def _message(choices: Any) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, Mapping):
        return {}, None
    message = first.get("message")
    return first, message if isinstance(message, Mapping) else None


def with_references(report: str, body: Mapping[str, Any]) -> str:
    """The report with its numbered sources below it; an empty report stays empty."""
    results = body.get("search_results")
    found = [each for each in (results if isinstance(results, list) else []) if isinstance(each, Mapping)]
    titles = {str(each.get("url")): " ".join(str(each.get("title") or "").split()) for each in found}
    listed = body.get("citations")
    urls = [str(each) for each in (listed if isinstance(listed, list) and listed else (one.get("url") for one in found))]
    if not report.strip() or all(url in report for url in urls):
        return report
    lines = [
        f"[{number}] {titles[url]}: {url}" if titles.get(url) else f"[{number}] {url}" for number, url in enumerate(urls, 1)
    ]
    return f"{report.rstrip()}\n\n## References\n\n" + "\n".join(lines) + "\n"
