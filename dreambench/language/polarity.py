"""Cues that turn, weaken or order a statement: negation with its scope, direction, hedges, quantifiers, causes, evidence.

Each finder returns `Cue`s: where the words stand, of which kind they are, and a `value` that depends on the kind (a
direction's sign, a quantifier's name). A negation's scope is the stretch that it denies: to the end of its clause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from dreambench.language.text import alternation, fold_width

CueKind = Literal["negation", "direction", "hedge", "quantifier", "cause", "evidence"]


@dataclass(frozen=True, slots=True)
class Cue:
    """Cue words at `start:end`; `scope_end` is how far they reach (equal to `end` where scope has no meaning)."""

    start: int
    end: int
    text: str
    kind: CueKind
    value: str
    scope_end: int


_NEGATION_EN = (
    "not|no|never|none|nobody|nothing|neither|nor|without|cannot|no longer|fail to|fails to|failed to|failing to"
    "|failure to|lack|lacks|lacked|lacking|refused to|refuses to|declined to|unable to|hardly|scarcely|absence of"
    "|rather than|instead of|denied|denies|exempt from"
)
_NEGATION_ZH = "不再|尚未|没有|没能|未能|从未|并未|并不|并非|从不|无法|不能|不会|不是|不得|未|不|无|非|否认|拒绝|缺乏|禁止"
_NEGATION = re.compile(
    rf"\b(?:{alternation(_NEGATION_EN.split('|'))})\b(?! only| just| merely| least| less| more than| fewer| later than"
    rf"| necessarily)"
    rf"|\b[a-z]+n't\b|(?:{alternation(_NEGATION_ZH.split('|'))})(?!仅|但|只|断|同|少|过|久|足|到[0-9]|低于|超过|高于|多于|少于|常|洲|来|盈利组织|政府)",
    re.IGNORECASE,
)
_NOT_NEGATION = re.compile(
    r"no\. ?[0-9]|no one knows|no doubt|no matter|not only|not just|不断|不仅|不但|不同|不少|不过|不久"
    r"|无论|无疑|无线|无人|无锡|无穷|无障碍|无机|无菌"
    r"|未来|未成年|非常|非洲|非遗|非法|不锈钢|不动产|不等式",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;:.!?。，；！？]|\b(?:but|although|though|while|whereas|because|however|which|who)\b|但|而|虽然|因为", re.IGNORECASE
)
_SCOPE_LIMIT = 90

_UP = (
    "increase|rise|grow|climb|gain|surge|soar|expand|jump|improve|accelerate|widen|exceed|growth|higher|up from"
    "|more than|recover|boost|raise|strengthen|double|triple|escalate|upturn"
)
_DOWN = (
    "decrease|fall|decline|drop|shrink|reduce|reduction|plunge|slump|lower|contract|worsen|slow|narrow|cut"
    "|down from|less than|fewer|diminish|weaken|halve|sink|dip|lose|loss|shrinkage|downturn"
)
_UP_ZH = "上升|增长|增加|提高|上涨|攀升|扩大|提升|回升|升至|增至|增多|加快|改善|高于|多于|超过"
_DOWN_ZH = "下降|减少|降低|下跌|下滑|回落|缩小|萎缩|降至|减至|减弱|放缓|恶化|低于|少于|不足"
_HEDGES = (
    "may|might|could|perhaps|possibly|probably|likely|reportedly|allegedly|apparently|seemingly|suggest|suggests"
    "|suggested|appears to|seems to|is believed to|are thought to|estimated|potentially|plans to|planned to"
    "|expects to|expected to|aims to|unclear|uncertain|preliminary|so-called"
)
_HEDGES_ZH = "可能|也许|或许|大概|据称|据说|据报道|似乎|预计|预期|计划|拟|疑似|有望|估计|初步"
_QUANTIFIERS = {
    "all": "all|every|each|always|entirely|whole|entire|所有|全部|每个|每一|一律|全体|都",
    "most": "most|majority|mostly|mainly|predominantly|大多数|多数|大部分|大多|主要",
    "many": "many|numerous|often|several|frequently|许多|很多|众多|不少|若干|经常",
    "some": "some|sometimes|partly|certain|a number of|一些|有些|部分|某些|有时",
    "few": "few|rarely|seldom|hardly any|minority|少数|很少|极少",
    "none": "none|no|never|nobody|neither|没有任何|从未|从不|均未|无一",
    "only": "only|solely|exclusively|merely|只有|仅|唯一",
}
_CAUSES = (
    "because|because of|due to|owing to|led to|leads to|lead to|leading to|caused|causes|cause|caused by"
    "|resulted in|results in|result of|therefore|thus|hence|consequently|as a result|thanks to|attributed to"
    "|stems from|driven by|triggered|contributed to|so that|since then"
)
_CAUSES_ZH = "导致|因此|因为|由于|所以|从而|造成|引起|引发|使得|归因于|源于|促使|以致|结果是"
_EVIDENCE = (
    "according to|study|studies|survey|trial|data|evidence|analysis|research|researchers|report|statistics"
    "|measured|found that|shows that|showed that|demonstrated|observed|experiment|meta-analysis|published|figures"
    "|census|estimate"
)
_EVIDENCE_ZH = "根据|据|研究|调查|数据|统计|结果显示|报告|表明|显示|证据|实验|分析|发表|普查"

ANTONYMS = (
    "before after|first last|accept reject|approve reject|adopt reject|open close|begin end|start end"
    "|start finish|allow ban|permit prohibit|allow prohibit|allow forbid|permit ban|legal illegal|win lose"
    "|buy sell|import export|increase decrease|rise fall|support oppose|include exclude|enter leave|join leave"
    "|largest smallest|highest lowest|oldest newest|oldest youngest|longest shortest|biggest smallest|best worst"
    "|male female|north south|east west|northern southern|eastern western|northwest southeast|northeast southwest"
    "|maximum minimum|majority minority|public private|positive negative|possible impossible"
    "|successful unsuccessful|success failure|succeed fail|true false|safe dangerous|hot cold|warm cool|wet dry"
    "|early late|earlier later|older younger|upper lower|inside outside|guilty innocent|acquit convict|hire fire"
    "|appear disappear|appoint dismiss|arrive depart|ascend descend|borrow lend|same different|strengthen weaken"
    "|widen narrow|deny confirm|enable disable|free paid|likely unlikely|mandatory voluntary|mandatory optional"
    "|permanent temporary|rich poor|urban rural|simple complex|export import|above below|over under"
    "|upheld overturn|effective ineffective|stable unstable|employed unemployed|friend enemy|profit loss"
    "|surplus deficit|ally enemy|raise lower|upstream downstream"
)
_ANTONYMS_ZH = (
    "之前 之后|批准 否决|通过 否决|接受 拒绝|允许 禁止|开放 关闭|开始 结束|进口 出口|支持 反对|最大 最小"
    "|最高 最低|最早 最晚|第一 最后|成功 失败|合法 非法|城市 农村|顺差 逆差|盈利 亏损|北部 南部|东部 西部"
    "|加入 退出|买入 卖出|安全 危险|公立 私立|强制 自愿|首次 最后|多数 少数|赢得 失去|有效 无效|男性 女性"
    "|上游 下游"
)


def _inflected(words: str) -> str:
    """Stems with their regular endings, for verbs given in the base form."""
    irregular = {
        "rise": "rose|risen|rising", "grow": "grew|grown", "fall": "fell|fallen", "shrink": "shrank|shrunk",
        "sink": "sank|sunk",
        "lose": "lost", "cut": "cutting", "drop": "dropped|dropping", "slump": "slumped", "dip": "dipped|dipping",
    }  # fmt: skip
    forms: list[str] = []
    for word in words.split("|"):
        base = word[:-1] if word.endswith("e") else word
        forms += [word, word + "s", base + "ed", base + "ing"] if " " not in word and not word.endswith("er") else [word]
        forms += irregular.get(word, "").split("|") if word in irregular else []
    return alternation(forms)


@cache
def _patterns() -> dict[CueKind, list[tuple[str, re.Pattern[str]]]]:
    def both(english: str, chinese: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{english})\b|(?:{alternation(chinese.split('|'))})", re.IGNORECASE)

    def plain(words: str, chinese: str) -> re.Pattern[str]:
        return both(alternation(words.split("|")), chinese)

    quantifiers = [
        (
            name,
            plain(
                "|".join(w for w in words.split("|") if w.isascii()), "|".join(w for w in words.split("|") if not w.isascii())
            ),
        )
        for name, words in _QUANTIFIERS.items()
    ]
    return {
        "direction": [("up", both(_inflected(_UP), _UP_ZH)), ("down", both(_inflected(_DOWN), _DOWN_ZH))],
        "hedge": [("hedge", plain(_HEDGES, _HEDGES_ZH))],
        "quantifier": quantifiers,
        "cause": [("cause", plain(_CAUSES, _CAUSES_ZH))],
        "evidence": [("evidence", plain(_EVIDENCE, _EVIDENCE_ZH))],
    }


def find_cues(text: str, kind: CueKind) -> list[Cue]:
    """All cues of one kind in `text`, in order."""
    if kind == "negation":
        return negations(text)
    folded = fold_width(text)
    found = [
        Cue(match.start(), match.end(), text[match.start() : match.end()], kind, value, match.end())
        for value, pattern in _patterns()[kind]
        for match in pattern.finditer(folded)
        if not (kind == "hedge" and _month_of_may(folded, match))
    ]
    return sorted(found, key=lambda cue: (cue.start, cue.end))


def _month_of_may(folded: str, match: re.Match[str]) -> bool:
    return match[0] == "May" and (match.start() > 0 and folded[max(0, match.start() - 2) : match.start()] != ". ")


def negations(text: str) -> list[Cue]:
    """Negation cues with their scope: up to the end of the clause, at most 90 characters; "not only" and 不断 are none."""
    folded = fold_width(text)
    found: list[Cue] = []
    for match in _NEGATION.finditer(folded):
        start, end = match.span()
        if _NOT_NEGATION.match(folded, start):
            continue
        stop = _CLAUSE_END.search(folded, end, min(len(folded), end + _SCOPE_LIMIT))
        scope_end = stop.start() if stop else min(len(folded), end + _SCOPE_LIMIT)
        found.append(Cue(start, end, text[start:end], "negation", "not", max(end, scope_end)))
    return found


def direction(text: str) -> int:
    """+1 when everything in `text` that moves goes up, -1 when down, 0 when nothing moves or both do."""
    values = {cue.value for cue in find_cues(text, "direction")}
    return {frozenset({"up"}): 1, frozenset({"down"}): -1}.get(frozenset(values), 0)


def is_hedged(text: str) -> bool:
    """Whether a word such as "may", "reportedly" or 可能 weakens `text`."""
    return bool(find_cues(text, "hedge"))


@cache
def antonym_pairs() -> dict[str, frozenset[str]]:
    """From the stem of a word (or a Chinese word) to the stems of its opposites."""
    from dreambench.language.stemming import stem

    pairs: dict[str, set[str]] = {}
    for line in ANTONYMS.split("|") + _ANTONYMS_ZH.split("|"):
        left, right = (stem(word) for word in line.split())
        pairs.setdefault(left, set()).add(right)
        pairs.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in pairs.items()}


def opposites(a: set[str], b: set[str]) -> list[tuple[str, str]]:
    """Pairs of opposite words where the one is only in `a` and the other only in `b` (both are sets of stems)."""
    pairs = antonym_pairs()
    return sorted((word, other) for word in a - b for other in pairs.get(word, ()) if other in b and other not in a)
