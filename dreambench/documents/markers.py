"""Citation markers: everything in running text that may point to a source, before it is resolved.

Scanners work on a masked copy of the text (same length; code, reference lists and wrappers blanked), so offsets are
those of the document. Forms without brackets are found by plain searches for their first character and one bounded
regex at each, so no input makes them quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.documents.authors import author_year_markers
from dreambench.documents.brackets import MAX_LINK_TEXT, bracket_markers
from dreambench.documents.marker import NUMBERS, Marker, expand
from dreambench.documents.urls import UrlMap, web_url

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
_IDS = re.compile(r"\b(?:id|ids|index|ref|refs|source|sources|n)\s*=\s*[\"']?([^\"'<>]+)", re.IGNORECASE)
_RAISED_CHARS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒’ʼ")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒’，·ʼ", "0123456789-,,,,,")
_UNITS = re.compile(r"(?:^|[^A-Za-z])(?:[A-Za-zµμ]{1,2}|mol|rad|deg)$|[\d)\]}⁻⁺+=−^*/·×₀-₉]$")
_CHARGE = re.compile(r"[⁻⁺ⁿ˙]|\.[⁰¹²³⁴-⁹]")


def find_markers(masked: str, urls: UrlMap) -> list[Marker]:
    """All candidates in order of start, none inside another (the outer one wins) and none inside a picture's markup."""
    found = [*bracket_markers(masked), *_misc_markers(masked)]
    found.extend(Marker(start, end, "bare_url", (), url) for start, end, url in urls.found if not masked[start].isspace())
    found.sort(key=lambda m: (m.start, -m.end))
    kept: list[Marker] = []
    until = 0
    for marker in found:
        if marker.start >= until or (kept and marker.start == kept[-1].start and marker.end == kept[-1].end):
            kept.append(marker)
            until = max(until, marker.end)
    return [marker for marker in kept if marker.style != "image"]


def _misc_markers(text: str) -> Iterator[Marker]:
    """Markers without brackets. Plain substring searches find the places, and one regex then looks at each."""
    for match in _SPECIAL.finditer(text):
        at, char = match.start(), match.group()
        if char in "(（":
            if paren := _PAREN.match(text, at):
                yield from author_year_markers(text, at, paren.end(), paren.group(1))
        elif char == "<":
            yield from _tag_markers(text, at)
        elif char == "\\":
            if (escaped := _ESCAPED.match(text, at)) and NUMBERS.match(escaped.group(1)):
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
    if not NUMBERS.match(inner) or start == 0 or text[start - 1].isspace() or _CHARGE.match(text, end):
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
