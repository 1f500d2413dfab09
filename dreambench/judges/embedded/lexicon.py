"""Closed word lists of English and Chinese that the aspects count: connectives by kind, openings, closings, empty phrases.

The lists hold general words of written language. None is taken from texts that this product makes or alters.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from dreambench.language.text import alternation

RelationKind = Literal["cause", "contrast", "comparison", "condition", "addition", "example", "time", "summary"]

_RELATIONS: dict[RelationKind, tuple[str, str]] = {
    "cause": (
        "because|because of|due to|therefore|thus|hence|consequently|as a result|led to|leads to|leading to|resulting in|results in|owing to|driven by"
        "|thereby|accordingly|stems from|so that|which explains|explains why|contributes to|contributed to|implies|it follows",
        "因为|由于|因此|因而|所以|从而|导致|使得|促使|源于|归因于|进而|驱动|意味着|造成|引发",
    ),
    "contrast": (
        "however|but|although|though|whereas|while|yet|nevertheless|nonetheless|despite|in spite of|in contrast|by contrast|on the other hand|conversely"
        "|instead|rather than|unlike|even though|still|on the contrary|at the same time",
        "然而|但是|但|尽管|虽然|不过|相反|反之|与此相反|另一方面|却|而非|与之相对",
    ),
    "comparison": (
        "compared with|compared to|relative to|higher than|lower than|more than|less than|better than|similarly|likewise|as well as|versus|vs|differs from"
        "|different from|in common|trade-off|trade-offs|tradeoff|tradeoffs|equally|outperforms|larger than|smaller than|faster than|greater than|both",
        "相比|相较|对比|相对于|高于|低于|优于|劣于|类似|同样|权衡|不同于|一致|差异|更高|更低|更强|更弱",
    ),
    "condition": (
        "if|unless|provided that|depending on|depends on|only when|as long as|in case|otherwise|when combined|under which|whether",
        "如果|若|除非|取决于|只要|只有|在于|前提|条件下|否则|情况下|是否",
    ),
    "addition": (
        "moreover|furthermore|in addition|additionally|also|besides|further|beyond this|not only",
        "此外|另外|同时|而且|并且|不仅|还|亦|再者",
    ),
    "example": (
        "for example|for instance|such as|in particular|specifically|notably|namely|to illustrate|in other words",
        "例如|比如|譬如|尤其|特别是|具体而言|具体来说|如下|即",
    ),
    "time": (
        "then|subsequently|afterwards|later|previously|earlier|meanwhile|finally|first|second|third|next|since then|initially|eventually|in turn",
        "随后|此后|之后|此前|首先|其次|再次|最后|最终|目前|期间|起初|接着|进一步",
    ),
    "summary": (
        "overall|in summary|in conclusion|in short|to summarize|to sum up|taken together|on balance|in sum|ultimately",
        "总体|总之|综上|总而言之|总的来说|综合来看|归根结底|总结",
    ),
}  # fmt: skip
_REFERENCE = re.compile(
    r"^(?:this|these|those|such|that|it|they|its|their|both|the (?:former|latter|same|result|reason|effect|first|second|other))\b"
    r"|^(?:这|此|该|其|上述|前者|后者|两者|二者)",
    re.IGNORECASE,
)
_SUMMARY_TITLE = re.compile(
    r"\b(?:executive summary|summary|abstract|introduction|overview|key findings|main findings|at a glance|background|scope)\b|摘要|引言|导言|概述|概要|概览|背景|绪论|前言",
    re.IGNORECASE,
)
_CLOSING_TITLE = re.compile(
    r"\b(?:conclusions?|concluding|summary|outlook|recommendations?|implications|final thoughts|takeaways?|synthesis|discussion|next steps)\b|结论|总结|结语|小结|展望|建议|启示|讨论",
    re.IGNORECASE,
)
_GENERIC_TITLE = re.compile(
    r"^(?:introduction|background|overview|general|details?|analysis|discussion|results?|findings|conclusions?|summary|information|content|main (?:part|body|points?)"
    r"|other|others|miscellaneous|more|notes?|section|part|chapter|topic|text|body|key points?|points?|data|context|description|recommendations?|outlook|methods?"
    r"|methodology|引言|导言|背景|概述|概览|前言|分析|讨论|结果|结论|总结|小结|结语|其他|内容|说明|建议|展望|正文|方法|详情)$",
    re.IGNORECASE,
)
_FILLER_WORDS = (
    "it is important to note|it is worth noting|it should be noted|it is essential to|it is crucial to|needless to say|as we all know|as is well known|plays a crucial role"
    "|plays an important role|plays a vital role|plays a key role|in today's world|ever-evolving|ever-changing|rapidly evolving|a wide range of|a variety of|various aspects"
    "|in many ways|it goes without saying|at the end of the day|in order to|the fact that|very important|of great importance|significant impact|holistic approach|game-changer"
    "|cutting-edge|delve into|a testament to|the landscape of|the realm of|in terms of|various|numerous|several factors|many factors|important aspect",
    "众所周知|值得注意的是|需要指出的是|不言而喻|毋庸置疑|具有重要意义|发挥着重要作用|起着至关重要的作用|在当今社会|随着社会的发展|日益|不断发展|各个方面|方方面面|一系列|各种各样|诸多|赋能"
    "|全方位|多维度|深远影响|重要意义|高度重视|大力推进|积极推动",
)  # fmt: skip


def _pattern(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternation(english.split('|'))})\b|(?:{alternation(chinese.split('|'))})", re.IGNORECASE)


@cache
def _compiled() -> dict[RelationKind, re.Pattern[str]]:
    return {kind: _pattern(*words) for kind, words in _RELATIONS.items()}


@cache
def _filler() -> re.Pattern[str]:
    return _pattern(*_FILLER_WORDS)


def relations(text: str) -> list[tuple[RelationKind, str]]:
    """Connecting words in `text` with their kinds, in the order of the kinds."""
    return [(kind, match[0].lower()) for kind, pattern in _compiled().items() for match in pattern.finditer(text)]


def fillers(text: str) -> int:
    """How many empty phrases stand in `text`."""
    return sum(1 for _ in _filler().finditer(text))


def refers_back(sentence: str) -> bool:
    """Whether a sentence begins with a word that points to what was said before."""
    return _REFERENCE.match(sentence) is not None


def opens(title: str) -> bool:
    """Whether a heading announces an opening part."""
    return _SUMMARY_TITLE.search(title) is not None


def closes(title: str) -> bool:
    """Whether a heading announces a closing part."""
    return _CLOSING_TITLE.search(title) is not None


def is_generic(title: str) -> bool:
    """Whether a heading would fit any report."""
    return _GENERIC_TITLE.match(title.strip(" .:：")) is not None
