"""The record of an amount, and the patterns that say where amounts stand and where digits are something else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dreambench.language.numerals import CHINESE_NUMERAL, DENOMINATORS, ONES, ORDINALS, POWERS, TENS
from dreambench.language.text import alternation, word_set
from dreambench.language.units import CHINESE_SCALES, Unit, currency_signs

Kind = Literal["plain", "percent", "percentage_points", "money", "measure", "ordinal", "multiple"]
Bound = Literal["exact", "about", "more_than", "at_least", "less_than", "at_most"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount at `start:end`, counted in `unit`.

    `value` is the written number with its scale word applied ("12.3 million" is 12300000.0), the middle for a range;
    `low` and `high` are the ends of a range and equal `value` otherwise. `step` is the worth of the last written digit
    (100000.0 for "12.3 million"). `factor` turns values into the base unit of `dimension`. `per` names the
    denominator of a rate ("year", "person", or "").
    """

    start: int
    end: int
    text: str
    value: float
    low: float
    high: float
    step: float
    kind: Kind
    unit: str = ""
    dimension: str = ""
    factor: float = 1.0
    bound: Bound = "exact"
    per: str = ""

    @property
    def base_value(self) -> float:
        """`value` in the base unit of the dimension (metre, kilogram, second, joule, ...)."""
        return self.value * self.factor

    @property
    def is_range(self) -> bool:
        """Whether two ends were written."""
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class Numeral:
    """A bare number before its unit is known; `base` is what it was before a scale word multiplied it."""

    start: int
    end: int
    value: float
    step: float
    scaled: bool = False
    form: Literal["digits", "words", "chinese", "fraction", "ordinal", "multiple"] = "digits"
    unit: Unit | None = None
    margin: float = 0.0


DIGITS = (
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?![0-9])|[0-9]{1,3}(?: [0-9]{3})+(?![0-9])|[0-9]+)"
    r"(?:\.[0-9]+)?"
)
_WORD = alternation([*ONES, *TENS, *POWERS])
_FRACTION = alternation([*DENOMINATORS, *(f"{word}s" for word in DENOMINATORS)])
_ORDINAL = alternation(ORDINALS)
_TIMES = "twofold|threefold|fourfold|fivefold|tenfold|twice|thrice|doubled|doubling|tripled|tripling|quadrupled|double|triple"
# Few positions can start a numeral: a digit, the first letters of a number word, a Chinese numeral.
_GUARD = (
    rf"(?=[0-9{CHINESE_NUMERAL}第翻]|百分|半数|(?<![A-Za-z0-9])(?:ze|on|tw|th[ior]|fo|fi|si|se|ei|ni|te|el|hu|mi|bi|tr|do|qu"
    rf"|half|an? [dfhmbtq]))"
)
CANDIDATE = re.compile(
    rf"{_GUARD}(?:(?P<ordinal>(?<![A-Za-z0-9.,])[0-9]{{1,3}}(?:st|nd|rd|th)\b|\b(?:{_ORDINAL})\b|第 ?(?:[0-9]{{1,4}}"
    rf"|[{CHINESE_NUMERAL}]{{1,6}}))"
    rf"|(?P<fraction>\b(?:(?:{_WORD})[ -])(?:{_FRACTION})\b|\b(?:an? )?(?:half|third|quarter|fifth|tenth)(?= of\b)|\bhalf\b"
    rf"|\bone in (?:{_WORD}|[0-9]{{1,3}})\b|百分之(?:[0-9]+(?:\.[0-9]+)?"
    rf"|[{CHINESE_NUMERAL}]{{1,6}}(?:点[{CHINESE_NUMERAL}]{{1,4}})?)"
    rf"|(?:[0-9]{{1,3}}|[{CHINESE_NUMERAL}]{{1,4}})分之(?:[0-9]{{1,3}}|[{CHINESE_NUMERAL}]{{1,4}})"
    rf"|(?:[0-9]|[一二两三四五六七八九])成(?:[一二三四五六七八九半])?(?![立为了功员都长就年本果分])|一半|半数)"
    rf"|(?P<multiple>\b(?:{_TIMES})\b|翻一番|翻番|翻倍|翻了?一番|翻两番)"
    rf"|(?P<digits>(?<![A-Za-z0-9.,_/@&=]){DIGITS})"
    rf"|(?P<words>\b(?:an? )?(?:{_WORD})(?:(?:[ -]| and )(?:{_WORD})){{0,12}}\b)"
    rf"|(?P<chinese>[{CHINESE_NUMERAL}]{{1,16}}(?:点[{CHINESE_NUMERAL}]{{1,8}})?))",
    re.IGNORECASE,
)

LABELS = word_set(
    "section|sections|chapter|figure|fig|table|tables|box|appendix|annex|article|articles|art|resolution"
    "|directive|regulation|act|law|bill|rule|version|release|page|pages|p|pp|no|number|nr|volume|vol|issue|phase"
    "|type|grade|stage|level|step|part|item|question|chapter|line|route|highway|room|channel|model|series"
    "|generation|gen|tier|category|class|note|footnote|equation|eq|theorem|lemma|proposition|amendment|title"
    "|clause|protocol|decree|order|case|docket|isbn|issn|doi|pmid|arxiv|patent|apollo|windows|android|ios|python"
    "|java|boeing|airbus|falcon|vitamin|group|team|day|week|war|area|zone|district|flight|unit|reactor|gate",
    "|",
)
# Digits that are no amounts: links, citation markers, list and heading numbers, identifiers, versions, labels.
NOT_AMOUNTS = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'）)\]]{1,2000}"
    r"|\]\([^()\s]{0,2000}\)"
    r"|(?<![0-9A-Za-z/.])10\.[0-9]{4,9}/[^\s<>\"）)\]]{1,200}"
    r"|\[\^?[0-9]{1,4}(?:[,;-] ?[0-9]{1,4}){0,20}\](?!\()"
    r"|【[0-9]{1,4}[^】]{0,40}】"
    r"|(?m:^[ \t>]{0,12}#{1,6} {0,4}[0-9]{1,3}(?:\.[0-9]{1,3}){0,4}[.)、]? )"
    r"|(?m:^[ \t>]{0,12}[0-9]{1,3}[.)、](?: |(?=[\u4e00-\u9fff])))"
    r"|(?m:^[ \t>]{0,12}[0-9]{1,3}(?:\.[0-9]{1,3}){1,4}\.? (?=[A-Z]))"
    r"|(?<![0-9.])[0-9]{1,5}(?:\.[0-9]{1,5}){2,5}(?![0-9])"
    r"|(?<![0-9.,])[0-9]{1,6}/[0-9]{1,6}(?:/[A-Z]{2,4})?(?![0-9])"
    r"|第 ?[0-9]{1,6} ?(?:章|节|条|款|号|页|卷|期|版|届)|[0-9]{1,6} ?号(?:令|文|决议|文件|公告|线)"
    r"|(?<![0-9])[0-9]{1,3}:[0-9]{1,3}(?![0-9])|\b24/7\b"
)
NAMED_NUMBER = re.compile(
    r"\b(?P<name>[A-Za-z]{1,12})(?P<gap>-|\.? (?:[Nn]o\.?"
    r" ?)?)?(?:[0-9][A-Za-z0-9]{0,12}(?:[-/.][0-9]{1,6}){0,4}(?:\([0-9a-z]{1,3}\))?)(?![0-9%])"
)
# "Falcon 9", "ISO 8601": a name followed by a short bare integer that counts nothing.
NAME_LABEL = re.compile(r"[A-Za-z0-9,;'\")\]] (?:[A-Z][a-z]+|[A-Z]{2,}) $|^(?:[A-Z]{2,}) $|(?:^|[^A-Za-z])[A-Z]{2,} $")
COUNTS_SOMETHING = re.compile(
    r" ?(?:%|[a-z-]+ ){0,2}(?:[a-z]{2,}s\b(?<!was)(?<!has)(?<!its)(?<!this)|people|men|women|children|%|percent|per"
    r" cent|million|billion|thousand)"
)

LEAD = re.compile(
    r"(?<![A-Za-z])(?=[aroncesmguolbwf~≈><≥≤约大近将接左几超逾多高至不最少低小未])(?:(?P<about>about|around|approximately|roughly|nearly"
    r"|almost|some|circa|ca\.?|c\.|close to|an estimated|estimated(?: at)?|~|≈|约为|约|大约|"
    r"近|将近|接近|大概|左右|几乎)"
    r"|(?P<more_than>more than|over|above|greater than|exceeding|exceeds|exceeded|upwards of|in excess of|>"
    r"|超过|逾|超|多于|高于|大于)"
    r"|(?P<at_least>at least|no less than|no fewer than|not less than|a minimum of|minimum of|≥|>=|至少|不少于|不低于|最少)"
    r"|(?P<less_than>less than|fewer than|under|below|lower than|just under|<|不到|不足|少于|低于|小于|未满)"
    r"|(?P<at_most>at most|no more than|not more than|up to|a maximum of|maximum of|≤|<="
    r"|至多|最多|不超过|不高于)) ?(?:the |a |an )?$",
    re.IGNORECASE,
)
TRAIL = re.compile(
    r"(?P<at_least> or (?:more|higher|above|greater)\b|\+(?![0-9])| ?(?:以上|及以上))"
    r"|(?P<at_most> or (?:less|fewer|lower|below)\b| ?(?:以下|以内|之内))"
    r"|(?P<about> or so\b|左右|上下)",
    re.IGNORECASE,
)
CURRENCY_BEFORE = re.compile(rf"(?:(?<![A-Za-z])(?:{alternation(currency_signs())})|人民币) ?$")
SIGN = re.compile(
    r"(?:(?<![A-Za-z0-9%)\]])(?P<minus>-)|\b(?P<word>minus|negative) |(?P<zh>负|零下)|(?<![A-Za-z0-9])\+)$", re.IGNORECASE
)
PLUS_MINUS = re.compile(rf" ?\(?(?:±|\+/-) ?(?P<margin>{DIGITS})")
TO = re.compile(r" ?(?:-|~|至|到) ?| to ", re.IGNORECASE)
AND = re.compile(r" and |和|与", re.IGNORECASE)
BETWEEN = re.compile(r"(?:between|介于|在) ?(?:[^\s0-9]{0,3} ?)$", re.IGNORECASE)
FROM = re.compile(r"(?:from|由|从) ?(?:(?:about|around|just|over|nearly) )?[^\s0-9A-Za-z]{0,3}$", re.IGNORECASE)
PER = re.compile(
    r" ?(?:/|a|an|per|each|every) ?(?P<en>100,000(?: people| inhabitants| population)?|1,000(?: people| inhabitants)?"
    r"|year|annum|month|week|day|hour"
    r"|minute|second|capita|person|head|household|inhabitant|worker|employee|student|km2|km²|square kilomet(?:re|er)"
    r"|square mile|hectare|acre"
    r"|kilogram|kg|ton|tonne|litre|liter|gallon|barrel|mile|kilometre|kilometer|kWh|MWh|unit|pound|ounce|ml|mL|L|dL"
    r"|share|patient|child|woman"
    r"|million|thousand|game|flight|launch|token)(?:s)?\b(?! ?[0-9])"
    r"| (?P<adverb>annually|yearly|daily|monthly|weekly|hourly)\b"
    r"|/(?P<zh>年|月|日|天|小时|人|平方公里|公斤|吨|公里|升)",
    re.IGNORECASE,
)
PER_AFTER_NOUN = re.compile(r"(?: of)?(?: [a-z][a-z-]{1,20}){1,2}(?= (?:per|each|every) )", re.IGNORECASE)
PER_BEFORE = re.compile(
    r"(?:每(?P<zh>年|月|日|天|周|小时|分钟|秒|人|平方公里|公斤|吨|公里|升|户)|(?P<head>人均)|(?P<annual>年均|年产|年度?))[^，。；\s0-9]{0,6}$"
)
PER_NAMES = {
    "annum": "year", "annually": "year", "yearly": "year",
    "daily": "day", "monthly": "month", "weekly": "week", "hourly": "hour",
    "capita": "person", "head": "person", "inhabitant": "person", "km²": "km2", "square kilometre": "km2",
    "square kilometer": "km2",
    "liter": "litre", "kilometer": "km", "kilometre": "km", "kilogram": "kg", "ton": "tonne", "l": "litre",
    "年": "year", "月": "month",
    "日": "day", "天": "day", "小时": "hour", "人": "person", "平方公里": "km2", "公斤": "kg", "吨": "tonne", "公里": "km",
    "升": "litre",
    "周": "week", "分钟": "minute", "秒": "second", "户": "household",
}  # fmt: skip
CHINESE_SCALE = re.compile(rf"(?:多|余|几)?(?: ?)({alternation(CHINESE_SCALES)})(?!事|一|分|古|岁|物|家)")
CHINESE_MORE = re.compile("(?:多|余)")
# A lone Chinese digit is an amount only before one of these.
COUNTER = re.compile(
    "[个名人位家座年天次种倍项条件艘架辆台国省市县州届岁户头只张部所支颗枚处起场轮步层级片块批亿万千百元吨克斤米]|公里|公斤|小时|分钟|平方|成|季度|英里|百分点"
)
