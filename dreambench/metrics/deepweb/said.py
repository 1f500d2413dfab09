"""What one cell's text commits to: its value, derivation, method, reason and sources; or that it abstains.

Labelled parts ("Answer: ...; Derivation: ...", in English or Chinese) are taken apart first. Without labels the value is
what stands after the last equals sign, else in bold, else the whole text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from dreambench.language.amounts import FROM, Quantity
from dreambench.language.quantities import find_quantities
from dreambench.language.tokens import content_words

_LABELS = {
    "answer": "answer|value|result|figure|estimate|final answer|reference answer|central value|point estimate|interval|range"
    "|答案|数值|结果|结论|参考答案|取值|区间",
    "unit": "unit|units|单位",
    "derivation": "derivation|derivation note|method|methodology|calculation|computation|formula|working"
    "|推导|推导过程|计算|计算过程|方法|公式",
    "reason": "reason|reasoning|rationale|why|note|notes|explanation|原因|理由|说明|备注",
    "sources": "source|sources|citation|citations|url|urls|reference|references|evidence|来源|出处|引用|链接",
    "tier": "tier|authority_tier|authority tier|provenance|层级|级别",
    "agreement": "cross_source_agreement|cross-source agreement|agreement|一致性",
    "type": "type|answer type|answer_type|类型",
    "other": "confidence|confidence level|stated confidence|period|year|date|as of|caveat|caveats|assumption|assumptions"
    "|置信度|时间|期间|假设",
}
_NAMES = {name: label for label, names in _LABELS.items() for name in names.split("|")}
_ANY_NAME = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True))
_LABEL = re.compile(rf"(?:^|\n|;\s|；)[ \t>*•_-]*`?(?P<name>{_ANY_NAME})`?[ \t*_]*[:：][ \t*_]*", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,120})\*\*")
_END_NUMBER = r"[^\[\](),，;；\n]{0,12}?\d[^\[\](),，;；\n]{0,16}"
_INTERVAL = re.compile(rf"[\[(（]\s*(?P<low>{_END_NUMBER}?)\s*[,，;；]\s*(?P<high>{_END_NUMBER}?)\s*[\])）]")
_CITED = re.compile(r"https?://|www\.|\]\(|\[\^?\d{1,3}\]|【\d{1,3}[^】]*】|(?:\bsource|来源|出处)\s*[:：]", re.IGNORECASE)
_DERIVED = re.compile(
    r"\b(?:deriv(?:ed|ation)|calculat\w*|comput\w*|divid\w* by|multipl\w*|sum of|minus|net of|product of|weighted)\b"
    r"|推导|计算|除以|乘以|相加|减去|加总|\d[^=\n]{0,40}(?:[×÷/+−]| \* )[^=\n]{0,40}[=≈]"
    r"|\d[^=\n]{0,40}(?:[×÷]| [*/xX] )[^=\n\d]{0,4}\d",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"\b(?:estimat\w*|bas(?:ed|is) on|assum\w*|extrapolat\w*|interpolat\w*|benchmark\w*|peers?|triangulat\w*|method\w*|proxy"
    r"|implied|inferr?\w*|model(?:led|ed)?|midpoint)\b|估算|估计|基于|假设|推算|测算|根据|参考同行",
    re.IGNORECASE,
)
_ABSTAINS = re.compile(
    r"\b(?:not|never|no longer)\s+(?:(?:been|be|publicly|officially|separately|yet|currently|explicitly|directly)\s+){0,3}"
    r"(?:available|disclosed?|reported|published|verifiable|verified|determinable|determined|found|known|released|broken out)\b"
    r"|\b(?:un(?:available|disclosed|verifiable|known|reported|published))\b"
    r"|\b(?:does|do|did|has|have)\s+not\s+(?:\w+ly\s+)?(?:disclose|publish|report|release|break out)\w*"
    r"|\bcan(?:not| not|'t)\s+be\s+(?:\w+ly\s+)?(?:determined|verified|established|found|confirmed|answered)\b"
    r"|\bno\s+(?:\w+\s+){0,3}(?:data|figures?|information|disclosures?|sources?|evidence|numbers?)\b"
    r"|(?<![A-Za-z0-9/])(?:N/?A|ND|n\.a\.|n/d)(?![A-Za-z0-9])|❌|✗|✘"
    r"|未(?:单独|公开|正式)?(?:披露|公布|公开|报告|找到)|无法(?:核实|确定|获取|验证|得知)|不可得|未知|没有公开|暂无|尚无|不披露",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|since|as|due to|given that|only)\b|因为|由于|因此|仅", re.IGNORECASE)
_ASIDE = re.compile(r"[(（][^()（）]*[)）]")
_BLANK = re.compile(r"[\s\-–—_.…?？*|]*")
_SCALE_IN_UNIT = re.compile(r"\b(thousand|million|billion|trillion|mn|bn|万亿|百万|亿|万)s?\b|(万亿|百万|亿|万)", re.IGNORECASE)
REASON_WORDS = 3


@dataclass(frozen=True, slots=True)
class Said:
    """A cell's text, taken apart. `value` is the part that commits, `labelled` says that the text names it."""

    text: str
    value: str
    labelled: bool = False
    parts: dict[str, str] = field(default_factory=dict)

    @property
    def blank(self) -> bool:
        """Whether the cell holds nothing that could be an answer."""
        return _BLANK.fullmatch(self.text) is not None

    @property
    def abstains(self) -> bool:
        """Whether the value says that there is none to give."""
        return _ABSTAINS.search(self.value) is not None

    @property
    def gives_reason(self) -> bool:
        """Whether anything is said beside the abstention itself."""
        if self.parts.get("reason", "").strip() or self.parts.get("derivation", "").strip():
            return True
        rest = _LABEL.sub(" ", _ABSTAINS.sub(" ", _LINK.sub(" ", self.text), count=1))
        clause = _BECAUSE.search(rest) or _ABSTAINS.search(rest)  # "not available: the firm does not report it"
        return len(content_words(rest)) >= (2 if clause else REASON_WORDS)

    @property
    def derived(self) -> bool:
        """Whether a derivation is shown."""
        return bool(self.parts.get("derivation", "").strip()) or _DERIVED.search(self._own()) is not None

    @property
    def gives_method(self) -> bool:
        """Whether it is said how an estimate was made."""
        return self.derived or _METHOD.search(self._own()) is not None

    @property
    def cited(self) -> bool:
        """Whether a source is named."""
        return not _BLANK.fullmatch(self.parts.get("sources", "")) or _CITED.search(self.text) is not None

    def quantities(self) -> list[Quantity]:
        """The amounts that the value commits to: the last result of a calculation where there is one."""
        value = intervals_as_ranges(self.value)
        head, equals, tail = value.rpartition("=") if "=" in value else value.rpartition("≈")
        result = _amounts(with_unit(tail, self.unit)) if equals and re.search(r"\d", head) else []
        # "28.5k CNY (602B x 20.2 % / 4.27M)": what stands in brackets explains the value.
        outside = _amounts(with_unit(_ASIDE.sub(" ", value), self.unit))
        return result or outside or _amounts(with_unit(value, self.unit))

    @property
    def unit(self) -> str:
        """The unit that the answer names in a part of its own; empty when it does not."""
        return self.parts.get("unit", "").strip()

    def _own(self) -> str:
        return _LINK.sub(" ", self.text)


def take_apart(text: str) -> Said:
    """The labelled parts of a cell's text and its committing value."""
    matches = list(_LABEL.finditer(text))
    parts: dict[str, str] = {}
    for place, match in enumerate(matches):
        end = matches[place + 1].start() if place + 1 < len(matches) else len(text)
        said = text[match.end() : end].strip().rstrip(";；").strip()
        if said:
            parts.setdefault(_NAMES[match["name"].lower()], said)
    if "answer" in parts:
        return Said(text, parts["answer"].strip("* "), True, parts)
    rest = text[: matches[0].start()] if matches else text
    bold = [found for found in _BOLD.findall(rest) if _amounts(found)]
    if len(bold) == 1:
        return Said(text, bold[0], True, parts)
    return Said(text, rest if rest.strip() else text, False, parts)


def with_unit(value: str, unit: str) -> str:
    """A bare number with the unit that stands apart: "28.5" and "CNY million" give "28.5 million CNY"."""
    if not unit or not re.fullmatch(r"[\s~≈约+-]*\d[\d,. ]*(?:\s*(?:-|–|—|~|to|至)\s*\d[\d,. ]*)?\s*", value):
        return value
    scale = _SCALE_IN_UNIT.search(unit)
    if not scale:
        return f"{value.strip()} {unit}"
    rest = (unit[: scale.start()] + unit[scale.end() :]).strip(" ()")
    return f"{value.strip()} {scale[0]} {rest}".strip()


def intervals_as_ranges(text: str) -> str:
    """ "[40 %, 55 %]" and "(40, 55) %" as "40 % - 55 %" and "40 - 55 %", which is how amounts are read."""
    return _INTERVAL.sub(lambda found: f"{found['low'].strip()} - {found['high'].strip()}", text)


def _amounts(text: str) -> list[Quantity]:
    """The amounts of a text, links left out; "8.35亿-9亿元" and "$24k-25k", two amounts with one dash, are one range."""
    # A line that begins "28.5 EUR" would be read as section 28.5; a list's "1. " stays a number of the list.
    plain = _LINE_START.sub(r"\1is ", _LINK.sub(" ", text))
    found: list[Quantity] = []
    for quantity in find_quantities(plain):
        if quantity.kind == "ordinal":
            continue
        joined = _range_of(found[-1], quantity, plain) if found else None
        found[-1:] = [joined] if joined else [*found[-1:], quantity]
    return found


def _range_of(first: Quantity, second: Quantity, text: str) -> Quantity | None:
    high = abs(second.value)
    between = text[first.end : second.start] + ("-" if second.value < 0 else "")
    shared = first if second.kind == "plain" else second
    alike = "plain" in (first.kind, second.kind) or first.dimension == second.dimension
    if first.is_range or second.is_range or not alike or not _DASH.fullmatch(between) or first.value >= high:
        return None
    if FROM.search(text[max(0, first.start - 14) : first.start]):  # "from 18 % to 20 %" is a change, no range
        return None
    written = text[first.start : second.end]
    middle = (first.value + high) / 2
    return replace(
        shared, start=first.start, end=second.end, text=written, value=middle, low=first.value, high=high, bound=first.bound
    )


_LINE_START = re.compile(r"(?m)^([ \t*_]*)(?=\d)(?!\d{1,3}[.)、] )")
_DASH = re.compile(r"\s*(?:-|–|—|~|至|到|to)\s*")
_LINK = re.compile(r"\[[^\]\n]*\]\([^)\s]*\)|https?://\S+")
