"""Citation markers: everything in running text that may point to a source, before it is resolved.

Scanners work on a masked copy of the text (same length; code, reference lists and wrappers blanked), so offsets are
those of the document. Square and full-width brackets are paired by one stack pass; all other forms are found by
regexes whose repeats are bounded and exclude their own opening character, so no input makes them quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dreambench.documents.model import Span
from dreambench.documents.urls import URL, UrlMap, link_target, trim_url, web_url


class Marker(NamedTuple):
    """A candidate: `labels` are looked up in the reference lists, `url` is given where the marker has its own.

    `certain` ones are citations whatever the lists say. `trails`: when it follows a full stop it belongs before it.
    `narrative`: `Author (2023)`, not `(Author, 2023)`.
    """

    start: int
    end: int
    style: str
    labels: tuple[str, ...]
    url: str | None = None
    certain: bool = True
    trails: bool = True
    narrative: bool = False


MAX_LINK_TEXT = 1000
MAX_MARKER = 300
MAX_RANGE = 100
_BRACKET = re.compile(r"[\[\]【】]")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_NUMBERS = re.compile(r"\s*\^?\d{1,4}(?:†[^,，;；]*)?(?:\s*(?:[,，、;；]|[-–—−~～至])\s*\^?\d{1,4}(?:†[^,，;；]*)?)*\s*$")
_PART = re.compile(r"\^?(\d{1,4})(?:†[^,，;；]*)?\s*(?:[-–—−~～至]\s*\^?(\d{1,4})(?!\d*†))?")
_DAGGER = re.compile(r"(\d{1,4}(?::\d{1,3})?)†[^†]*$")
_FOOTNOTE = re.compile(r"\^([^\s\[\]^][^\[\]^]{0,40})$")
_NAMED = re.compile(
    r"(?:cite|cites|citations?|sources?|refs?\.?|references?|来源|参考|参考文献|引用|文献|资料)\s*[:：]?\s*(?=\^?\d)",
    re.IGNORECASE,
)
_PAGED = re.compile(
    r"(\d{1,4})[,，:]\s*(?:pp?\.|§|sec(?:tion)?\.?|fig(?:ure)?\.?|table|tab\.|ch(?:apter)?\.?|第)\s*[\w.–-]+页?$", re.IGNORECASE
)
_WORD_LABEL = re.compile(r"[A-Za-z][\w.:-]{0,30}$")
_INTERVAL_BEFORE = re.compile(
    r"(?:[∈=≤<≥>~≈]|\b(?:interval|range|between|within|from|scaled? to|clipped to|normali[sz]ed to)|区间|范围|取值)\s*$",
    re.IGNORECASE,
)

_SPECIAL = re.compile(r"[<(（\\⁰¹²³⁴-⁹\ue200]")
_AUTOLINK = re.compile(r"<((?:https?://|www\.)[^\s<>]{1,4000})>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a\s([^<>]{0,2000})>", re.IGNORECASE)
_CITE_TAG = re.compile(r"<((?:qwen:|antml:)?cite)\b([^<>]{0,500})>", re.IGNORECASE)
_SUP_TAG = re.compile(r"<sup>([^<>\n]{1,80})</sup>", re.IGNORECASE)
_RAISED = re.compile(r"[⁰¹²³⁴-⁹]+(?:[⁻˒’,，·ʼ][⁰¹²³⁴-⁹]+)*")
_ESCAPED = re.compile(r"\\\[([^\[\]\\\n]{1,80})\\\]")
_OPAQUE = re.compile(r"\ue200([^\ue200\ue201\n]{1,300})\ue201")
_OAI_CITE = re.compile(r":contentReference\[(oaicite:\d{1,5})\](?:\{index=\d{1,5}\})?")
_PAREN = re.compile(r"[(（]([^()（）\[\]\n]{3,300})[)）]")
_HREF = re.compile(r"href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_IDS = re.compile(r"(?:id|ids|index|ref|refs|source|sources|n)\s*=\s*[\"']?([^\"'<>]+)", re.IGNORECASE)
_RAISED_CHARS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒’ʼ")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒’，·ʼ", "0123456789-,,,,,")
_AUTHOR_YEAR = re.compile(
    r"\s*(?:(?:see|see also|e\.g\.|cf\.|i\.e\.|参见|见)[,，]?\s+)?"
    r"(?P<authors>[A-Z\u00c0-\u024f\u4e00-\u9fff][^\d;；]{1,120}?)[,，]?\s*(?P<year>(?:(?:19|20)\d\d)[a-z]?|n\.d\.)"
    r"(?P<rest>\s*(?:[,，:]\s*(?:pp?\.?\s*|第)?[\d–-]+页?)?)\s*$"
)
_YEAR_INSIDE = re.compile(r"(?:19|20)\d\d|n\.d\.")
_YEAR_ONLY = re.compile(r"\s*((?:19|20)\d\d[a-z]?|n\.d\.)\s*$")
_NAME_BEFORE = re.compile(
    r"(?P<authors>[A-Z\u00c0-\u024f][\w'’-]+(?:(?:\s+(?:and|&)\s+[A-Z][\w'’-]+)|(?:\s+et\s+al\.?)|(?:\s*等人?))?)\s*$"
)
_UNITS = re.compile(r"(?:^|[^A-Za-z])(?:[A-Za-zµμ]{1,2}|mol|rad|deg)$|[\d)\]}⁻⁺+=−^*/·×₀-₉]$")
_CHARGE = re.compile(r"[⁻⁺ⁿ˙]|\.[⁰¹²³⁴-⁹]")
_SPLIT = re.compile(r"[;；]")


def find_markers(masked: str, urls: UrlMap) -> list[Marker]:
    """All candidates in order of start, none inside another (the outer one wins) and none inside a picture's markup."""
    found = [*_bracket_markers(masked), *_misc_markers(masked)]
    found.extend(Marker(start, end, "bare_url", (), url) for start, end, url in urls.found if not masked[start].isspace())
    found.sort(key=lambda m: (m.start, -m.end))
    kept: list[Marker] = []
    until = 0
    for marker in found:
        if marker.start >= until or (kept and marker.start == kept[-1].start and marker.end == kept[-1].end):
            kept.append(marker)
            until = max(until, marker.end)
    return [marker for marker in kept if marker.style != "image"]


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


def _bracket_markers(text: str) -> Iterator[Marker]:
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


def _label_marker(text: str, start: int, close: int) -> Marker | None:
    inner = text[start + 1 : close]
    full_width = text[start] == "【"
    style = "fullwidth" if full_width else "numeric"
    end = close + 1
    if text[end : end + 1] == ":" and (start == 0 or text[start - 1] == "\n"):
        return None
    if len(inner) <= 4 and inner.isascii() and inner.isdigit():
        return Marker(start, end, style, (inner,), certain=False)
    if _NUMBERS.match(inner):
        if "†" in inner:
            return Marker(start, end, "dagger", expand(inner))
        if "^" in inner:
            return Marker(start, end, "footnote", expand(inner))
        if not inner.strip().isdigit() and _INTERVAL_BEFORE.search(text, max(0, start - 20), start):
            return None
        return Marker(start, end, style, expand(inner), certain=False)
    if match := _DAGGER.match(inner):
        return Marker(start, end, "dagger", (match.group(1),))
    if match := _FOOTNOTE.match(inner):
        return Marker(start, end, "footnote", tuple(part.strip(" ^") for part in match.group(1).split(",")))
    if (match := _NAMED.match(inner)) and _NUMBERS.match(inner, match.end()):
        return Marker(start, end, "named", expand(inner[match.end() :]))
    if match := _PAGED.match(inner):
        return Marker(start, end, style, (match.group(1),), certain=False)
    if _WORD_LABEL.match(inner):
        return Marker(start, end, "word", (inner,), certain=False)
    return None


def expand(inner: str) -> tuple[str, ...]:
    """`1, 3-5` -> 1, 3, 4, 5. A range that falls or is longer than 100 keeps its two ends only."""
    labels: list[str] = []
    for match in _PART.finditer(inner):
        first, last = match.groups()
        if last is None:
            labels.append(first)
        elif 0 < int(last) - int(first) <= MAX_RANGE:
            labels.extend(str(n) for n in range(int(first), int(last) + 1))
        else:
            labels.extend((first, last))
    return tuple(dict.fromkeys(labels))


def _misc_markers(text: str) -> Iterator[Marker]:
    """Markers without brackets. Plain substring searches find the places, and one regex then looks at each."""
    for match in _SPECIAL.finditer(text):
        at, char = match.start(), match.group()
        if char in "(（":
            if paren := _PAREN.match(text, at):
                yield from _author_year(text, at, paren.end(), paren.group(1))
        elif char == "<":
            yield from _tag_markers(text, at)
        elif char == "\\":
            if (escaped := _ESCAPED.match(text, at)) and _NUMBERS.match(escaped.group(1)):
                yield Marker(at, escaped.end(), "escaped", expand(escaped.group(1)), certain=False)
        elif char == "\ue200":
            if opaque := _OPAQUE.match(text, at):
                yield Marker(at, opaque.end(), "opaque", (opaque.group(1),))
        elif (raised := _RAISED.match(text, at)) and not (at and text[at - 1] in _RAISED_CHARS):
            yield from _raised(text, at, raised.end(), raised.group().translate(_SUPERSCRIPTS))
    if ":contentReference" in text:
        for match in _OAI_CITE.finditer(text):
            yield Marker(match.start(), match.end(), "opaque", (match.group(1),))


def _tag_markers(text: str, at: int) -> Iterator[Marker]:
    if auto := _AUTOLINK.match(text, at):
        if (url := web_url(auto.group(1))) is not None:
            yield Marker(at, auto.end(), "autolink", (), url)
    elif anchor := _ANCHOR.match(text, at):
        yield from _anchor(text, at, anchor.end(), anchor.group(1))
    elif cite := _CITE_TAG.match(text, at):
        yield from _cite_tag(text, at, cite.end(), cite.group(1), cite.group(2))
    elif sup := _SUP_TAG.match(text, at):
        yield from _raised(text, at, sup.end(), sup.group(1))


def _raised(text: str, start: int, end: int, inner: str) -> Iterator[Marker]:
    """Superscript numbers, unless what stands around them is a number, a unit, a charge or a symbol (m², 10³, PO₄³⁻)."""
    if not _NUMBERS.match(inner) or start == 0 or text[start - 1].isspace() or _CHARGE.match(text, end):
        return
    if not _UNITS.search(text, max(0, start - 4), start):
        yield Marker(start, end, "superscript", expand(inner), certain=False)


def _anchor(text: str, start: int, end: int, attributes: str) -> Iterator[Marker]:
    found = _HREF.search(attributes)
    if found is None:
        return
    close = text.find("</a>", end, end + MAX_LINK_TEXT)
    stop = end if close < 0 else close + len("</a>")
    label = "" if close < 0 else text[end:close].strip().strip("[]【】")
    url = web_url(found.group(1))
    numeric = label.isdigit() and len(label) <= 4
    if url is not None:
        yield Marker(start, stop, "html_link", (label,), url, trails=numeric)
    elif numeric and found.group(1).startswith("#"):
        yield Marker(start, stop, "numeric", (label,))


def _cite_tag(text: str, start: int, end: int, name: str, attributes: str) -> Iterator[Marker]:
    """The opening tag. Where it wraps the claim it stays in the claim's sentence; `qwen:cite` wraps evidence that
    follows the claim, and an empty element has nothing of its own, so those belong to the sentence before."""
    found = _IDS.search(attributes)
    labels = tuple(part.strip() for part in re.split(r"[,，;；\s]+", found.group(1)) if part.strip(" /")) if found else ()
    if labels:
        empty = attributes.rstrip().endswith("/") or text.startswith("</", end)
        yield Marker(start, end, "cite_tag", labels, trails=empty or name.lower().startswith("qwen"))


def _author_year(text: str, start: int, end: int, inner: str) -> Iterator[Marker]:
    """`(Author, 2023; Other et al., 2020a)` gives one marker per author; `Author (2023)` takes the name before it."""
    if _YEAR_INSIDE.search(inner) is None:
        return
    year = _YEAR_ONLY.match(inner)
    if year is not None:
        name = _NAME_BEFORE.search(text, max(0, start - 60), start)
        if name is not None:
            key = f"{name['authors'].strip()}|{year.group(1)}"
            yield Marker(name.start(), end, "author_year", (key,), certain=False, trails=False, narrative=True)
        return
    for part in _SPLIT.split(inner):
        found = _AUTHOR_YEAR.match(part)
        if found is not None:
            yield Marker(start, end, "author_year", (f"{found['authors'].strip()}|{found['year']}",), certain=False)


def inline_code_spans(text: str, code_free: Sequence[Span]) -> list[Span]:
    """Spans of `code` inside each given block: a run of backticks up to the next run of the same length."""
    spans: list[Span] = []
    if "`" not in text:
        return spans
    for block in code_free:
        if text.find("`", block.start, block.end) < 0:
            continue
        waiting: dict[int, list[tuple[int, int]]] = {}
        runs = [m.span() for m in re.finditer("`+", block.of(text))]
        for run in reversed(runs):
            waiting.setdefault(run[1] - run[0], []).append(run)
        until = -1
        for begin, end in runs:
            same = waiting[end - begin]
            same.pop()
            if begin >= until and same:
                until = same[-1][1]
                spans.append(Span(block.start + begin, block.start + until))
    return spans
