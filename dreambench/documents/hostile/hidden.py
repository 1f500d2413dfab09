"""Text that a reader of the rendered page does not see: comments, elements styled away, invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.documents.hostile.braces import closing_braces
from dreambench.documents.hostile.characters import invisible_spans
from dreambench.documents.hostile.model import Found, Kind

_BEGINNINGS = re.compile(r"<!--|<(script|style|template|noscript)\b[^<>]*>", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MARKDOWN_COMMENT = re.compile(r"^[ \t]*\[(?://|comment|hidden|#)[^\]\n]*\]:[ \t]*(?:#|<>)[^\n]*", re.MULTILINE | re.IGNORECASE)
_OPENING = re.compile(r"<([a-z][a-z0-9]*)\b([^<>]*)>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)\b[^<>]*>", re.IGNORECASE)
_FORMULA_END = re.compile(r"[$\n]")
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?(?![.\d])|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|(?<![-\w])color\s*[:=]\s*[\"']?(?:#fff(?:fff)?(?![0-9a-f])|white\b|snow\b|transparent|rgba?\(\s*25[0-5]\s*,\s*25[0-5]\s*,\s*25[0-5]"
    r"|rgba\([^)]{0,60},\s*0(?:\.0+)?\s*\))|text-indent\s*:\s*-\d{3,}|(?:left|top)\s*:\s*-\d{3,}px|clip\s*:\s*rect\(0"
    r"|(?:^|\s)hidden(?:[\s=]|$)|aria-hidden\s*=\s*[\"']?true|class\s*=\s*[\"'][^\"']*\b(?:sr-only|visually-hidden)\b",
    re.IGNORECASE,
)
_WHITE_TEX = re.compile(r"\\(?:text)?color\s*\{\s*white\s*\}|\\phantom\s*(?=\{)|\\color\s*\{\s*white\s*\}", re.IGNORECASE)
_LONGEST = 20_000


def find_hidden(text: str) -> list[Found]:
    """Everything that is there and cannot be seen."""
    found = [Found(start, end, Kind.INVISIBLE, _rule(text[start:end])) for start, end in invisible_spans(text)]
    if "]:" in text:
        found += [Found(*match.span(), Kind.HIDDEN, "markdown comment") for match in _MARKDOWN_COMMENT.finditer(text)]
    if "<" in text:
        found += _dropped(text)
        found += _unseen_elements(text)
    if "\\" in text:
        found += _white_formulas(text)
    return found


def _rule(characters: str) -> str:
    first = ord(characters[0])
    if any(0xE0000 <= ord(char) < 0xE0080 for char in characters):
        return "tag characters"
    if any(0xFE00 <= ord(char) <= 0xFE0F or ord(char) >= 0xE0100 for char in characters):
        return "variation selectors"
    if any(char in "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for char in characters):
        return "bidirectional characters"
    return "control characters" if first < 0xA0 else "zero-width characters"


def _dropped(text: str) -> list[Found]:
    """Comments and elements that are never shown, to their end; those that are never closed, to the end of their paragraph."""
    found: list[Found] = []
    lowered, position, unclosed = "", 0, set[str]()
    while match := _BEGINNINGS.search(text, position):
        lowered = lowered or text.lower()
        closing = f"</{match[1].lower()}" if match[1] else "-->"
        end = lowered.find(closing, match.end()) if closing not in unclosed else -1
        if end < 0:
            unclosed.add(closing)
            blank = _BLANK_LINE.search(text, match.end())
            end = blank.start() if blank else len(text)
        else:
            end = text.find(">", end) + 1 or len(text)
        found.append(Found(match.start(), end, Kind.HIDDEN, f"<{match[1].lower()}>" if match[1] else "comment"))
        position = end
    return found


def _unseen_elements(text: str) -> list[Found]:
    found = []
    until, ends = -1, _closings(text)
    for match in _OPENING.finditer(text):
        if match.start() >= until and match[2] and (why := _UNSEEN.search(match[2])):
            until = ends.get(match.start(), -1)
            if until < 0 or until > match.end() + _LONGEST:  # never closed: to the end of its paragraph
                blank = _BLANK_LINE.search(text, match.end())
                until = blank.start() if blank else len(text)
            found.append(Found(match.start(), until, Kind.HIDDEN, " ".join(why[0].split())))
    return found


def _closings(text: str) -> dict[int, int]:
    """For each opening tag that is closed, by its offset: where its closing tag ends."""
    ends: dict[int, int] = {}
    waiting: dict[str, list[int]] = {}
    for tag in _ANY_TAG.finditer(text):
        opened = waiting.setdefault(tag[2].casefold(), [])
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            ends[opened.pop()] = tag.end()
    return ends


def _white_formulas(text: str) -> Iterator[Found]:
    """Commands that show nothing, with the group in braces at or right after them, or else the rest of the formula or line."""
    until, ends = -1, {} if not _WHITE_TEX.search(text) else closing_braces(text)
    for match in _WHITE_TEX.finditer(text):
        if match.start() < until:
            continue
        begin = text.find("{", match.end(), match.end() + 3)
        stop = _FORMULA_END.search(text, match.end()) if begin < 0 else None
        until = ends.get(begin, len(text)) if begin >= 0 else stop.start() if stop else len(text)
        if until - begin > _LONGEST and begin >= 0:
            until = len(text)
        yield Found(match.start(), until, Kind.HIDDEN, "white formula")
