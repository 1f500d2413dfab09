"""Text that a reader of the rendered page does not see: comments, elements styled away, invisible characters."""

from __future__ import annotations

import re

from dreambench.documents.hostile.characters import invisible_spans
from dreambench.documents.hostile.model import Found, Kind

_BEGINNINGS = re.compile(r"<!--|<(script|style|template|noscript)\b[^<>]*>", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_MARKDOWN_COMMENT = re.compile(r"^[ \t]*\[(?://|comment|hidden|#)[^\]\n]*\]:[ \t]*(?:#|<>)[^\n]*", re.MULTILINE | re.IGNORECASE)
_OPENING = re.compile(r"<([a-z][a-z0-9]*)\b([^<>]*)>", re.IGNORECASE)
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?(?![.\d])|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|(?<![-\w])color\s*[:=]\s*[\"']?(?:#fff(?:fff)?(?![0-9a-f])|white\b|snow\b|transparent|rgba?\(\s*25[0-5]\s*,\s*25[0-5]\s*,\s*25[0-5]"
    r"|rgba\([^)]*,\s*0(?:\.0+)?\s*\))|text-indent\s*:\s*-\d{3,}|(?:left|top)\s*:\s*-\d{3,}px|clip\s*:\s*rect\(0"
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
        found += [
            Found(match.start(), _braces(text, match.end()), Kind.HIDDEN, "white formula")
            for match in _WHITE_TEX.finditer(text)
        ]
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
    until = -1
    for match in _OPENING.finditer(text):
        if match.start() >= until and match[2] and (why := _UNSEEN.search(match[2])):
            until = _closing(text, match[1], match.end())
            found.append(Found(match.start(), until, Kind.HIDDEN, " ".join(why[0].split())))
    return found


def _closing(text: str, name: str, start: int) -> int:
    """The end of the element that was opened before `start`; of one that is never closed, the end of its paragraph."""
    depth = 1
    for tag in re.compile(rf"<(/?){name}\b[^<>]*>", re.IGNORECASE).finditer(text, start, start + _LONGEST):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.end()
    blank = re.compile(r"\n[ \t]*\n").search(text, start)
    return blank.start() if blank else len(text)


def _braces(text: str, start: int) -> int:
    """The end of the group in braces at or right after `start`; of the line where there is none."""
    begin = text.find("{", start, start + 3)
    if begin < 0:
        return min((at for at in (text.find("$", start), text.find("\n", start)) if at >= 0), default=len(text))
    depth = 0
    for position in range(begin, min(len(text), begin + _LONGEST)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return position + 1
    return len(text)
