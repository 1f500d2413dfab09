"""Narration: lines of their own in which the agent says what it will do next ("Let me search for ...", 让我继续搜索).

Two signs are needed, somebody who announces ("let me", "I'll", 让我, 我需要) and research work (search, gather, 搜索).
A line with a citation or an address is never narration; neither is a list item, a table row or a long paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dreambench.documents.lines import Line, LineKind
from dreambench.documents.model import Span, Wrapper, WrapperKind

_OPENER = re.compile(
    r"(?:(?:ok(?:ay)?|great|good|perfect|first|next|now|finally)[,.!]?\s+)*"
    r"(?:let me\b|let['’]s (?:search|look|find|use)\b|now i\b"
    r"|(?:based on|with) (?:my|this|the (?:information i|gathered|collected|search results))"
    r"|i(?:['’]ll| will| need to| need more| should| want to|['’]m going to| am going to|['’]d like to|['’]ve| have)\b)",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:search(?:es|ing)?|research(?:ing)?|look(?:ing)? (?:up|for|at|into|more)|gather(?:ed|ing)?|investigat\w+"
    r"|brows\w+|find(?:ing)? (?:out|more|information|specific)|fetch\w*|check(?:ing)?|continue|explor\w+"
    r"|retriev\w+|compil\w+|query|more (?:specific |detailed )?(?:information|details|data)|provide (?:you )?(?:with )?an?"
    r"|get (?:more|information|details|some))\b",
    re.IGNORECASE,
)
_INNER_ANNOUNCEMENT = re.compile(
    r"[,.!;:]\s+(?:i['’]ll|i will|i need to|let me|let['’]s)\s[^.]{0,40}\b(?:search|research|look for|gather)\b", re.IGNORECASE
)
_CHINESE_OPENER = re.compile(
    r"(?:为了[^，,。]{2,40}[，,]|(?:基于|根据|通过)[^，,。]{0,25}(?:信息|资料|结果|数据)[，,]"
    r"|好的[，,。！]?|首先[，,]?|接下来[，,]?|现在[，,]?|最后[，,]?)*"
    r"(?:请?让我们?|我(?:将|会|需要|来|想|应该|还需|要|已经|已|看到|发现)|接下来我|现在我|我们先)"
)
_CHINESE_WORK = re.compile(
    r"搜索|搜集|查找|查询|查一下|检索|获取|收集|调研|了解|研究一下|继续|寻找|找到|整合|再找|为您|更专业的"
)
_CHINESE_INNER = re.compile(
    r"让我们?[^。，]{0,12}(?:搜索|查找|查询|检索|获取|寻找)|我(?:将|需要|还需要)[^。，]{0,12}(?:搜索|查找|检索)"
)
# Orders to itself: 继续搜索更多信息：
_CHINESE_ORDER = re.compile(
    r"(?:最后|需要)?(?:进一步|继续|再)?(?:需要)?(?:搜索|查找|寻找|检索|搜集|了解|探索)[^，。：]{2,50}[：:]$"
)
_CITED = re.compile(r"\[\^?\d|【\d|https?://")
_MAX_LENGTH = 400


def find_narration(text: str, lines: Sequence[Line]) -> list[Wrapper]:
    """Wrappers of kind narration, one a line, in order."""
    found: list[Wrapper] = []
    for line in lines:
        if line.kind is not LineKind.TEXT or line.end - line.start > _MAX_LENGTH:
            continue
        if is_narration(text[line.start : line.end]):
            span = Span(line.start, line.end)
            found.append(Wrapper(WrapperKind.NARRATION, span, span))
    return found


def is_narration(line: str) -> bool:
    """Whether a line announces research work and cites nothing."""
    if line.isascii() or line[0].isascii():
        announced = (_OPENER.match(line) and _WORK.search(line)) or _INNER_ANNOUNCEMENT.search(line)
    else:
        announced = (
            (_CHINESE_OPENER.match(line) and _CHINESE_WORK.search(line))
            or _CHINESE_INNER.search(line)
            or _CHINESE_ORDER.match(line)
        )
    return bool(announced) and _CITED.search(line) is None
