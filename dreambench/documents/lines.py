"""Lines: one pass that says what each non-blank line is, the ground that blocks and reference lists stand on.

This is deliberately less than CommonMark: four leading spaces are no code (agents nest lists that way), a line of
dashes is always a rule, and a list item needs no blank line before it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class LineKind(StrEnum):
    """What a line is on its own; code lines are those in a fence, the fences included."""

    TEXT = "text"
    HEADING = "heading"
    BULLET = "bullet"
    NUMBER = "number"
    TABLE = "table"
    QUOTE = "quote"
    CODE = "code"
    RULE = "rule"
    UNDERLINE = "underline"


class Line(NamedTuple):
    """`start` to `end` without outer white space; `content` is where the text begins after bullet, `#`, `>` or number.

    `level` is a heading's level, else the indentation in columns. `gap`: a blank line (or the start) comes before it.
    `label` is the number of a numbered item. `opens` marks the first line of a fenced block.
    """

    start: int
    end: int
    content: int
    kind: LineKind
    level: int
    gap: bool
    label: str = ""
    opens: bool = False


_PHYSICAL = re.compile(r"[^\n\r]+")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|$)(?:#{1,6}[ \t]+)*")
_BULLET = re.compile(r"(?:[-*+•·●◦▪‣][ \t\u3000]+|•[ \t]*)(?:\[[ xX]\][ \t]+)?")
_NUMBER = re.compile(r"(\d{1,4})(?:[.)](?=[ \t\u3000]|$)|[.)](?=[\[\u4e00-\u9fff])|[、．）])[ \t\u3000]*")
_RULE = re.compile(r"(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$|─{3,}$|—{3,}$")
_UNDERLINE = re.compile(r"={2,}$")
_FENCE = re.compile(r"(`{3,}|~{3,})([^`]*)$")
_QUOTE = re.compile(r"(?:>[ \t]?)+")


def scan_lines(text: str) -> list[Line]:
    """All lines with something on them, in order.

    A fence that is never closed is taken as text, since it would hide the rest of the report.
    """
    physical = [(m.start(), m.end(), m.group()) for m in _PHYSICAL.finditer(text)]
    physical = [line for line in physical if not line[2].isspace()]
    lines: list[Line] = []
    unclosed: dict[str, int] = {}
    index = 0
    fence, opened = "", 0
    while index < len(physical) or fence:
        if index == len(physical):
            unclosed[fence[0]] = len(fence)
            del lines[opened:]
            index, fence = opened, ""
        begin, _, raw = physical[index]
        stripped = raw.strip()
        start = begin + len(raw) - len(raw.lstrip())
        gap = index == 0 or _has_blank(text, physical[index - 1][1], begin)
        indent = _columns(raw[: start - begin]) if start > begin else 0
        if fence:
            lines.append(Line(start, start + len(stripped), start, LineKind.CODE, indent, gap))
            if stripped[0] == fence[0] and len(stripped) >= len(fence) and stripped == stripped[0] * len(stripped):
                fence = ""
        else:
            line = _classify(stripped, start, indent, gap)
            if line.opens:
                fence, opened = _fence_of(stripped), index
                if len(fence) >= unclosed.get(fence[0], len(fence) + 1):
                    line, fence = line._replace(kind=LineKind.TEXT, opens=False), ""
            lines.append(line)
        index += 1
    return lines


def _classify(line: str, start: int, indent: int, gap: bool) -> Line:
    end = start + len(line)
    first = line[0]
    if first == "#" and (match := _HEADING.match(line)):
        return Line(start, end, start + match.end(), LineKind.HEADING, len(match.group(1)), gap)
    if first in "`~" and _FENCE.match(line):
        return Line(start, end, start, LineKind.CODE, indent, gap, opens=True)
    if first in "-*_─—" and _RULE.match(line):
        return Line(start, end, start, LineKind.RULE, indent, gap)
    if first in "-*+•·●◦▪‣" and (match := _BULLET.match(line)):
        return Line(start, end, start + match.end(), LineKind.BULLET, indent, gap)
    if first == "|" and line.count("|") > 1:
        return Line(start, end, start, LineKind.TABLE, indent, gap)
    if first == ">" and (match := _QUOTE.match(line)):
        return Line(start, end, start + match.end(), LineKind.QUOTE, indent, gap)
    if first == "=" and _UNDERLINE.match(line):
        return Line(start, end, start, LineKind.UNDERLINE, indent, gap)
    if first in "0123456789" and (match := _NUMBER.match(line)):
        return Line(start, end, start + match.end(), LineKind.NUMBER, indent, gap, match.group(1))
    return Line(start, end, start, LineKind.TEXT, indent, gap)


def _fence_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(line[0]))]


def _has_blank(text: str, start: int, end: int) -> bool:
    if end - start < 2:
        return False
    between = text[start:end]
    return between.count("\n") > 1 or ("\n" not in between and between.count("\r") > 1)


def _columns(indent: str) -> int:
    return len(indent.expandtabs(4)) if "\t" in indent else len(indent)
