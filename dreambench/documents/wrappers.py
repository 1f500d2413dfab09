"""Text around the answer: thinking, search and tool traffic, and answer tags.

Tags are matched with a stack in one pass. `</think>` without an opening tag ends a thought that began with the text
(chat templates swallow the opening one); an opening tag without an end counts only at the start of a line and then
reaches to the next tag of this kind or the end of the text. Where answer tags hold text, the last pair is the answer
and what stands outside it is `outside_answer`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dreambench.documents.model import Span, Wrapper, WrapperKind

_KINDS = {
    **dict.fromkeys(("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad"), WrapperKind.THINK),
    **dict.fromkeys(("answer", "final_answer", "finalanswer", "final_report"), WrapperKind.ANSWER),
    **dict.fromkeys(
        (
            "search", "search_query", "search_result", "search_results", "search_quality_reflection", "information",
            "tool", "tool_call", "tool_calls", "tool_response", "tool_result", "tool_results", "function_call",
            "function_calls", "function_results", "function_response", "observation", "observations", "query",
            "begin_search_query", "begin_search_result", "python", "code_interpreter", "browser", "browse", "visit",
        ),
        WrapperKind.TOOL,
    ),
}  # fmt: skip
_TAG = re.compile(
    r"<(?P<slash>/?)(?:antml:)?(?P<name>" + "|".join(sorted(_KINDS, key=len, reverse=True)) + r")(?:\s[^<>\n]{0,300})?>",
    re.IGNORECASE,
)
# Search-o1 writes its traffic in this form.
_MARKED = re.compile(r"<\|begin_(search_query|search_result)\|>(?:(?!<\|begin_).){0,200000}?<\|end_\1\|>", re.DOTALL)


def find_tagged(text: str) -> list[Wrapper]:
    """Tagged wrappers, outermost only, in order; text outside an answer is added as `outside_answer`."""
    if "<" not in text:
        return []
    found = _match_tags(text)
    found.extend(Wrapper(WrapperKind.TOOL, span := Span(*m.span()), span) for m in _MARKED.finditer(text))
    found = _outermost(found)
    answers = [w for w in found if w.kind is WrapperKind.ANSWER and w.content.of(text).strip()]
    if answers:
        found = [w for w in found if w.kind is not WrapperKind.ANSWER] + [answers[-1]]
        found.extend(_outside(text, sorted(found, key=lambda w: w.span), answers[-1]))
    return sorted(found, key=lambda w: w.span)


def _match_tags(text: str) -> list[Wrapper]:
    found: list[Wrapper] = []
    open_: dict[WrapperKind, tuple[int, int]] = {}
    for match in _TAG.finditer(text):
        kind = _KINDS[match["name"].lower()]
        start, end = match.span()
        if not match["slash"]:
            if kind not in open_:
                open_[kind] = (start, end)
        elif kind in open_:
            first, inside = open_.pop(kind)
            found.append(Wrapper(kind, Span(first, end), Span(inside, start)))
        elif kind is WrapperKind.THINK and not found:
            found.append(Wrapper(kind, Span(0, end), Span(0, start)))
    for kind, (start, inside) in open_.items():
        if kind is not WrapperKind.TOOL and text[max(0, text.rfind("\n", 0, start) + 1) : start].strip() == "":
            found.append(Wrapper(kind, Span(start, len(text)), Span(inside, len(text))))
    return found


def _outermost(found: list[Wrapper]) -> list[Wrapper]:
    """Drop what lies inside thinking or tool traffic; tags inside an answer stay."""
    kept: list[Wrapper] = []
    hidden_until = -1
    for wrapper in sorted(found, key=lambda w: (w.span.start, -w.span.end)):
        if wrapper.span.end <= hidden_until:
            continue
        kept.append(wrapper)
        if wrapper.kind is not WrapperKind.ANSWER:
            hidden_until = max(hidden_until, wrapper.span.end)
    return kept


def _outside(text: str, found: Sequence[Wrapper], answer: Wrapper) -> list[Wrapper]:
    """The stretches that are neither in the answer nor in another wrapper."""
    gaps: list[Wrapper] = []
    position = 0
    for wrapper in [*found, Wrapper(WrapperKind.ANSWER, Span(len(text), len(text)), Span(len(text), len(text)))]:
        if wrapper is not answer and wrapper.span.start in answer.span:
            continue
        if text[position : wrapper.span.start].strip():
            span = Span(position, wrapper.span.start)
            gaps.append(Wrapper(WrapperKind.OUTSIDE_ANSWER, span, span))
        position = max(position, wrapper.span.end)
    return gaps
