"""Markers in square and full-width brackets, markdown links among them.

Brackets are paired by one stack pass; what is between them is then told apart by small regexes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.documents.marker import NUMBERS, Marker, expand
from dreambench.documents.urls import URL, link_target, trim_url, web_url

MAX_LINK_TEXT = 1000
MAX_MARKER = 300
_BRACKET = re.compile(r"[\[\]【】]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_DAGGER = re.compile(r"(\d{1,4}(?::\d{1,3})?)†[^†]*$")
_FOOTNOTE = re.compile(r"\^([^\s\[\]^][^\[\]^]{0,40})$")
_NAMED = re.compile(
    r"(?:cite|cites|citations?|sources?|refs?\.?|references?|来源|参考|参考文献|引用|文献|资料)\s*[:：]?\s*(?=\^?\d)",
    re.IGNORECASE,
)
_PAGED = re.compile(
    r"(\d{1,4})[,，:]\s*(?:pp?\.|§|sec(?:tion)?\.?|fig(?:ure)?\.?|table|tab\.|ch(?:apter)?\.?|第)\s*[\w.–-]+页?$", re.IGNORECASE
)
# Numbers of a search tool's own results, which the reader of the report never sees.
_OPAQUE_LABEL = re.compile(r"(?:web|turn\d{1,3}[a-z]{1,12}|search_?result|attached_file|memory)[:_ ]?\d{1,4}$")
_WORD_LABEL = re.compile(r"[A-Za-z][\w.:-]{0,30}$")
_INTERVAL_BEFORE = re.compile(
    r"(?:[∈=≤<≥>~≈]|\b(?:interval|range|between|within|from|scaled? to|clipped to|normali[sz]ed to)|区间|范围|取值)\s*$",
    re.IGNORECASE,
)


def pair_brackets(text: str) -> list[tuple[int, int]]:
    """(open, close) of `[ ]` and `【 】` pairs up to `MAX_LINK_TEXT` long, none across a blank line, in order of opening.

    Brackets behind a backslash are text.
    """
    pairs: list[tuple[int, int]] = []
    stack: list[tuple[int, str]] = []
    for match in _BRACKET.finditer(text):
        char, at = match.group(), match.start()
        if at and text[at - 1] == "\\":
            continue
        if char in "[【":
            stack.append((at, "]" if char == "[" else "】"))
        elif stack and stack[-1][1] == char:
            start = stack.pop()[0]
            if at - start <= MAX_LINK_TEXT and not _BLANK_LINE.search(text, start, at):
                pairs.append((start, at))
    pairs.sort()
    return pairs


def bracket_markers(text: str) -> Iterator[Marker]:
    """Markers in brackets in order, none inside another; pictures come as style `image`."""
    until = 0
    for start, close in pair_brackets(text):
        if start < until:
            continue
        marker = _link(text, start, close)
        if marker is None and close - start <= MAX_MARKER:
            marker = _label_marker(text, start, close)
        if marker is None:
            continue
        until = marker.end
        yield marker


def _link(text: str, start: int, close: int) -> Marker | None:
    """`[text](target)`, with what encloses it: `([text](target))` and `[[text](target)]` are one marker."""
    if close + 1 >= len(text) or text[close + 1] != "(":
        return None
    found = link_target(text, close + 1)
    if found is not None:
        target, end = found
    elif unclosed := URL.match(text, close + 2):
        target = trim_url(unclosed.group())
        end = close + 2 + len(target)
    else:
        return None
    if start > 0 and text[start - 1] == "!":
        return Marker(start - 1, end, "image", ())
    label = text[start + 1 : close].strip().strip("[]【】\\").lstrip("^").strip()
    url = web_url(target)
    numeric = label.isdigit() and len(label) <= 4
    if url is None:
        return Marker(start, end, "numeric", (label,)) if numeric and target.startswith("#") else None
    begin, stop, wrapped = _enclosed(text, start, end)
    return Marker(begin, stop, "link", (label,), url, trails=wrapped or numeric)


def _enclosed(text: str, start: int, end: int) -> tuple[int, int, bool]:
    around = text[start - 1 : start] + text[end : end + 1]
    if around in ("()", "（）", "[]", "【】"):
        return start - 1, end + 1, True
    return start, end, around[:1] in ("(", "（")


def _number_marker(text: str, start: int, end: int, style: str) -> Marker | None:
    """The marker of numbers in brackets, with the signs that some systems put beside them; None for an interval."""
    inner = text[start + 1 : end - 1]
    if "†" in inner:
        return Marker(start, end, "dagger", expand(inner))
    if "^" in inner:
        return Marker(start, end, "footnote", expand(inner))
    if not inner.strip().isdigit() and _INTERVAL_BEFORE.search(text, max(0, start - 20), start):
        return None
    return Marker(start, end, style, expand(inner), certain=False)


def _label_marker(text: str, start: int, close: int) -> Marker | None:
    inner = text[start + 1 : close]
    full_width = text[start] == "【"
    style = "fullwidth" if full_width else "numeric"
    end = close + 1
    if text[end : end + 1] == ":" and (start == 0 or text[start - 1] == "\n"):
        return None
    if len(inner) <= 4 and inner.isascii() and inner.isdigit():
        return Marker(start, end, style, (inner,), certain=False)
    if NUMBERS.match(inner):
        return _number_marker(text, start, end, style)
    if match := _DAGGER.match(inner):
        return Marker(start, end, "dagger", (match.group(1),))
    if match := _FOOTNOTE.match(inner):
        return Marker(start, end, "footnote", tuple(part.strip(" ^") for part in match.group(1).split(",")))
    if (match := _NAMED.match(inner)) and NUMBERS.match(inner, match.end()):
        return Marker(start, end, "named", expand(inner[match.end() :]))
    if _OPAQUE_LABEL.match(inner):
        return Marker(start, end, "opaque", (inner,))
    if match := _PAGED.match(inner):
        return Marker(start, end, style, (match.group(1),), certain=False)
    if _WORD_LABEL.match(inner):
        return Marker(start, end, "word", (inner,), certain=False)
    return None
