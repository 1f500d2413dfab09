"""OpenAI deep research: stored answers of the Responses API; the report is the text of their messages.

Sources stand beside the text, as `url_citation` annotations with the characters they belong to. They are made links in the
text, where metrics look for them; links that are in the text already stay as they are.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

from dreambench.datasets.dumps import Answer, DumpLoader
from dreambench.datasets.problems import Problems
from dreambench.datasets.responses import opened
from dreambench.datasets.rows import Row

_MARKER = re.compile(r"\s*(?:【[^【】]*】|\[[^\[\]]*\])\s*")
"""A span that is nothing but a marker, which the link replaces."""
_CLOSING = re.compile(r"[\s.!?。！？]+$")
"""What a link stands before: after the full stop it would belong to the next sentence."""


@dataclass(frozen=True, kw_only=True)
class OpenaiDeepResearchDataset(DumpLoader):
    """Reports of OpenAI's deep research models; the agent is the model that answered."""

    title: ClassVar[str] = "openai_deep_research"
    expected: ClassVar[tuple[str, ...]] = ("output", "or response.output beside id and query")

    def holds(self, row: Row) -> bool:
        body = opened(row).body
        return body.present("output") or bool(opened(row).error)

    def answer(self, row: Row, problems: Problems) -> Answer | None:
        stored = opened(row)
        body = stored.body
        output = body.values.get("output")
        if not isinstance(output, list) and not stored.error:
            problems.add(row.path, row.line, "field 'output' is no list of output items", self.expected)
            return None
        parts = list(_parts(output))
        notes = [note for part in parts for note in linked(part)[1]]
        report = "\n\n".join(linked(part)[0] for part in parts if part.get("type") == "output_text")
        refusals = [str(part.get("refusal")) for part in parts if part.get("type") == "refusal"]
        failed = stored.error or (f"it refused: {refusals[0]}" if refusals and not report.strip() else "")
        if body.label("status") == "incomplete":
            notes.append(("incomplete_report", f"was cut off: {body.label('incomplete_details.reason') or 'no reason given'}"))
        return Answer(report, stored.query, stored.task_id, body.label("model"), failed, tuple(notes))


def _parts(output: Any) -> Iterator[Mapping[str, Any]]:
    """The content parts of the messages; other items (reasoning, searches) are the way there, not the report."""
    for item in output if isinstance(output, list) else []:
        if isinstance(item, Mapping) and item.get("type") == "message":
            content = item.get("content")
            yield from (part for part in (content if isinstance(content, list) else []) if isinstance(part, Mapping))


def linked(part: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """The part's text with its annotations as links, and findings for those that tell no place in it."""
    text = part.get("text")
    if not isinstance(text, str):
        return "", []
    places: dict[tuple[int, int], list[str]] = {}
    notes = []
    annotations = part.get("annotations")
    for note in annotations if isinstance(annotations, list) else []:
        if not isinstance(note, Mapping) or note.get("type") != "url_citation":
            continue
        url, start, end = str(note.get("url") or "").strip(), note.get("start_index"), note.get("end_index")
        if not url or not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
            said = f"cites {url or 'no address'} at characters {start}-{end} of {len(text)}, which is no place in it; left out"
            notes.append(("unplaced_citation", said))
        elif url not in text[start : end + len(url) + 2]:
            places.setdefault((start, end), []).append(_link(url, str(note.get("title") or "")))
    return _placed(text, places), notes


def _placed(text: str, places: Mapping[tuple[int, int], list[str]]) -> str:
    """`text` with the links of each span in place of it, where it is a marker, or else at its end, inside the sentence."""
    markers = [span for span in places if _MARKER.fullmatch(text[slice(*span)])]
    edits: dict[tuple[int, int], list[str]] = {}
    for start, end in sorted(places, key=lambda span: (span[1], span[0])):
        if (start, end) in markers:
            edits.setdefault((start, end), []).extend(places[start, end])
        else:  # never inside a marker that goes away
            last = start + len(_CLOSING.sub("", text[start:end]))
            last = next((span[1] for span in markers if span[0] < last < span[1]), last)
            edits.setdefault((last, last), []).extend(places[start, end])
    for start, end in sorted(edits, reverse=True):
        links = " ".join(f"({link})" for link in edits[start, end])
        gap = "" if text[:start].endswith((" ", "\n")) or not start else " "
        text = f"{text[:start]}{gap}{links}{text[end:]}"
    return text


def _link(url: str, title: str) -> str:
    """A markdown link; the title cannot end it early, and brackets that are open in the address are written as %28, %29."""
    label = " ".join(re.sub(r"[\[\]\\<>]", " ", title).split()) or urlsplit(url).netloc or url
    address = re.sub(r"\s", "%20", url)
    if address.count("(") != address.count(")"):
        address = address.replace("(", "%28").replace(")", "%29")
    return f"[{label}]({address})"
