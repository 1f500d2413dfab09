"""LangChain's open_deep_research: its DeepResearch Bench export ({id, prompt, article}), or graph states with `final_report`.

A state is read as the graph returns it, or below `values` (LangGraph threads) or `outputs` (LangSmith runs); its query is the
first message of the user. Its `notes` and `raw_notes` are not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dreambench.datasets.dumps import Answer, DumpLoader, first_question
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row


@dataclass(frozen=True, kw_only=True)
class OpenDeepResearchDataset(DumpLoader):
    """Reports of open_deep_research."""

    title: ClassVar[str] = "open_deep_research"
    expected: ClassVar[tuple[str, ...]] = ("id, prompt, article", "or final_report")

    def holds(self, row: Row) -> bool:
        return row.present("article") or _state(row).present("final_report")

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        if row.present("article"):
            task_id, text = row.identifier("id", problems), row.text("article", problems)
            return None if task_id is None or text is None else Answer(text, row.label("prompt"), task_id)
        state = _state(row)
        if state.present("final_report") and state.values["final_report"] is None:
            text, failed = "", "its state ended without a final_report"
        elif (found := state.text("final_report", problems)) is not None:
            text, failed = found, ""
        else:
            return None
        query = first_question(state.values.get("messages")) or first_question(_inputs(row).get("messages"))
        return Answer(text, query or row.label("prompt"), row.label("task_id"), failed=failed)


def _state(row: Row) -> Row:
    """The graph's state: the record, or what it holds below `values` or `outputs`."""
    for name in ("values", "outputs"):
        inner = row.values.get(name)
        if isinstance(inner, Mapping) and "final_report" in inner:
            return Row(row.path, row.line, inner)
    return row


def _inputs(row: Row) -> Mapping[str, Any]:
    found = row.values.get("inputs")
    return found if isinstance(found, Mapping) else {}
