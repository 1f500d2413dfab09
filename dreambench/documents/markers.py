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
from dreambench.documents.urls import URL, balanced_end, trim_url, web_url


class Marker(NamedTuple):
    """A candidate: `labels` are looked up in the reference lists, `url` is given where the marker has its own.

    `certain` ones are citations whatever the lists say. `trails`: when it follows a full stop it belongs before it.
    """

    start: int
    end: int
    style: str
    labels: tuple[str, ...]
    url: str | None = None
    certain: bool = True
    trails: bool = True


MAX_LINK_TEXT = 1000
MAX_MARKER = 300
MAX_RANGE = 100
_BRACKET = re.compile(r"\\[\[\]]|[\[\]【】]|\n[ \t\r]*\n")
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

_MISC = re.compile(
    r"<(?P<auto>(?:https?://|www\.)[^\s<>]{1,4000})>"
    r"|<a\s(?P<anchor>[^<>]{0,2000})>"
    r"|<(?P<cite>(?:qwen:|antml:)?cite)\b(?P<attrs>[^<>]{0,500})>"
    r"|<sup>(?P<sup>[^<>\n]{1,80})</sup>"
    r"|(?P<raised>[⁰¹²³⁴-⁹]+(?:[⁻˒’,，·ʼ][⁰¹²³⁴-⁹]+)*)"
    r"|\\\[(?P<escaped>[^\[\]\\\n]{1,80})\\\]"
    r"|(?P<url>" + URL.pattern + r")"
    r"|\ue200(?P<opaque>[^\ue200\ue201\n]{1,300})\ue201"
    r"|:contentReference\[(?P<oai>oaicite:\d{1,5})\](?:\{index=\d{1,5}\})?"
    r"|[(（](?P<paren>[^()（）\[\]\n]{3,300})[)）]",
    re.IGNORECASE,
)
_HREF = re.compile(r"href\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_IDS = re.compile(r"(?:id|ids|index|ref|refs|source|sources|n)\s*=\s*[\"']?([^\"'<>]+)", re.IGNORECASE)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒’，·ʼ", "0123456789-,,,,,")
_AUTHOR_YEAR = re.compile(
    r"\s*(?:(?:see|see also|e\.g\.|cf\.|i\.e\.|参见|见)[,，]?\s+)?"
    r"(?P<authors>[A-Z\u00c0-\u024f\u4e00-\u9fff][^\d;；]{1,120}?)[,，]?\s*(?P<year>(?:(?:19|20)\d\d)[a-z]?|n\.d\.)"
    r"(?P<rest>\s*(?:[,，:]\s*(?:pp?\.?\s*|第)?[\d–-]+页?)?)\s*$"
)
_YEAR_ONLY = re.compile(r"\s*((?:19|20)\d\d[a-z]?|n\.d\.)\s*$")
_NAME_BEFORE = re.compile(
    r"(?P<authors>[A-Z\u00c0-\u024f][\w'’-]+(?:(?:\s+(?:and|&)\s+[A-Z][\w'’-]+)|(?:\s+et\s+al\.?)|(?:\s*等人?))?)\s*$"
)
_UNITS = re.compile(r"(?:^|[^A-Za-z])(?:[A-Za-zµμ]{1,2}|mol|rad|deg)$|[\d)\]}⁻⁺+=−^*/·×]$")
_SPLIT = re.compile(r"[;；]")


def find_markers(masked: str) -> list[Marker]:
    """All candidates in order of start, none inside another (the outer one wins)."""
    found = [*_bracket_markers(masked), *_misc_markers(masked)]
    found.sort(key=lambda m: (m.start, -m.end))
    kept: list[Marker] = []
    until = 0
    for marker in found:
        if marker.start >= until or (kept and marker.start == kept[-1].start and marker.end == kept[-1].end):
            kept.append(marker)
            until = max(until, marker.end)
    return kept


def pair_brackets(text: str) -> list[tuple[int, int]]:
    """(open, close) of all `[ ]` and `【 】` pairs, ordered by the opening one; pairs never cross a blank line."""
    pairs: list[tuple[int, int]] = []
    stack: list[tuple[int, str]] = []
    for match in _BRACKET.finditer(text):
        char = match.group()
        if char == "[" or char == "【":
            stack.append((match.start(), char))
        elif char == "]" or char == "】":
            if stack and stack[-1][1] == ("[" if char == "]" else "【"):
                pairs.append((stack.pop()[0], match.start()))
        elif char[0] == "\n":
            stack.clear()
    pairs.sort()
    return pairs


def _bracket_markers(text: str) -> Iterator[Marker]:
    until = 0
    for start, close in pair_brackets(text):
        if start < until or close - start > MAX_LINK_TEXT:
            continue
        marker = _link(text, start, close)
        if marker is None and close - start <= MAX_MARKER:
            marker = _label_marker(text, start, close)
        if marker is None:
            continue
        until = marker.end
        if marker.style != "image":
            yield marker


def _link(text: str, start: int, close: int) -> Marker | None:
    """`[text](target)`, with what encloses it: `([text](target))` and `[[text](target)]` are one marker."""
    if close + 1 >= len(text) or text[close + 1] != "(":
        return None
    end = balanced_end(text, close + 1)
    if end is None:
        found = URL.match(text, close + 2)
        if found is None:
            return None
        target = trim_url(found.group())
        end = close + 1 + len(target)
    else:
        target = text[close + 2 : end].strip()
        target = (
            target[1 : target.find(">")]
            if target.startswith("<") and ">" in target
            else target.split(None, 1)[0]
            if target
            else ""
        )
    if start > 0 and text[start - 1] == "!":
        return Marker(start - 1, end + 1, "image", ())
    label = text[start + 1 : close].strip().strip("[]【】\\").lstrip("^").strip()
    url = web_url(target)
    numeric = label.isdigit() and len(label) <= 4
    if url is None:
        return Marker(start, end + 1, "numeric", (label,)) if numeric and target.startswith("#") else None
    begin, stop, wrapped = _enclosed(text, start, end + 1)
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
    if _NUMBERS.match(inner):
        if "†" in inner:
            return Marker(start, end, "dagger", expand(inner))
        if "^" in inner:
            return Marker(start, end, "footnote", expand(inner))
        certain = not (_INTERVAL_BEFORE.search(text, max(0, start - 20), start) and not inner.strip().isdigit())
        return Marker(start, end, style, expand(inner), certain=False) if certain else None
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
    for match in _MISC.finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "url":
            raw = trim_url(match["url"])
            if (url := web_url(raw)) is not None:
                yield Marker(start, start + len(raw), "bare_url", (), url)
        elif kind == "auto":
            if (url := web_url(match["auto"])) is not None:
                yield Marker(start, end, "autolink", (), url)
        elif kind == "paren":
            yield from _author_year(text, start, end, match["paren"])
        elif kind == "raised":
            yield from _raised(text, start, end, match["raised"].translate(_SUPERSCRIPTS))
        elif kind == "sup":
            yield from _raised(text, start, end, match["sup"])
        elif kind == "escaped":
            inner = match["escaped"].strip()
            if _NUMBERS.match(inner):
                yield Marker(start, end, "escaped", expand(inner), certain=False)
        elif kind == "anchor":
            yield from _anchor(text, start, end, match["anchor"])
        elif kind == "attrs":
            yield from _cite_tag(text, start, end, match["cite"], match["attrs"])
        elif kind in ("opaque", "oai"):
            yield Marker(start, end, "opaque", (match[kind],))


def _raised(text: str, start: int, end: int, inner: str) -> Iterator[Marker]:
    """Superscript numbers, unless what stands before them is a number, a unit or a short symbol (m², 10³, R²)."""
    if (
        _NUMBERS.match(inner)
        and start > 0
        and not text[start - 1].isspace()
        and not _UNITS.search(text, max(0, start - 4), start)
    ):
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
    if not any(char.isdigit() for char in inner) and "n.d." not in inner:
        return
    year = _YEAR_ONLY.match(inner)
    if year is not None:
        name = _NAME_BEFORE.search(text, max(0, start - 60), start)
        if name is not None:
            yield Marker(name.start(), end, "author_year", (f"{name['authors'].strip()}|{year.group(1)}",), certain=False)
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
