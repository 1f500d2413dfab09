"""Words for new sentences: topics taken from the report itself, and templates with many wordings, chosen by chance.

A template is text with `{slots}` and alternatives in angle brackets, `<this|that>`, one of which is drawn. Templates lie in
`phrases/<name>.yaml`, by language, so that no kind has a wording of its own that a judge could learn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from random import Random
from typing import Any

import yaml

from dreambench.perturbations.prose import RUNNING, Line, View

_CHOICE = re.compile(r"<([^<>]*)>")
_NUMBERING = re.compile(
    r"^\s*(?:第[一二三四五六七八九十\d]+[章节部分]+[、:：\s]*|[（(]?[一二三四五六七八九十\d]{1,3}[)）、.．]\s*(?:\d+(?:\.\d+)*\s*)?"
    r"|\d+(?:\.\d+)+\.?\s*|\d{1,2}\s+|[A-Z]\.\s+|[IVX]{1,4}\.\s+|(?:Part|Step|Phase|Chapter|Section)\s+[\dIVXA-D]+\s*[:.–-]\s*)+"
)
_GENERIC = re.compile(
    r"\b(?:introduction|conclusions?|overview|summary|references?|sources?|background|findings?|recommendations?|limitations?"
    r"|methodology|results|discussion|appendix|outlook|abstract|analysis|implications|directions?|takeaways?|insights?"
    r"|comparison|answer|notes?|remarks|scope|context|steps|examples?|definitions?|key)\b"
    r"|引言|前言|结论|总结|小结|概述|概览|背景|参考|来源|建议|展望|摘要|附录|说明|综述|绪论|简介|启示|结语|要点|对比|比较|分析|举例|示例|优势|局限|挑战|定义|不足",
    re.IGNORECASE,
)
_ANAPHORA = re.compile(
    r"^(?:this|that|these|those|it|its|they|their|he|she|his|her|such|both|here|there|however|but|yet|and|or|so|thus|hence|then"
    r"|therefore|also|moreover|furthermore|additionally|in addition|conversely|instead|meanwhile|similarly|likewise|nevertheless"
    r"|nonetheless|still|finally|second(?:ly)?|third(?:ly)?|first(?:ly)?|for example|for instance|e\.g\.|i\.e\.|in contrast"
    r"|by contrast|on the other hand|as a result|consequently|overall|specifically|notably|in particular|indeed|other|others"
    r"|another|one|some|many|each|all|see|note|note that|key|if|when|while|as|because|although|though|since|once|where|what|how|why"
    r"|to|by|with|through|for|using|including|includes?|not|only|according)\b"
    r"|^(?:这|该|此|其|它|他|她|他们|它们|上述|以上|以下|如下|同时|此外|另外|因此|所以|但|但是|然而|不过|而|并|并且|且|例如|比如|如|若|当|虽然|尽管|由于|为了|通过|"
    r"根据|据|首先|其次|再次|最后|总之|总体|综上|从|在此|对此|与此|相比|相反|反之|即|则|也|还|又|包括|需|应|可|以|对|将|被|未|无|不|有|是|为)",
    re.IGNORECASE,
)
_MID_WORD = re.compile(r"(?<=[a-z,;] )([A-Za-z][a-z]+)")


@cache
def phrases(name: str) -> Mapping[str, Any]:
    """The templates of `phrases/<name>.yaml`."""
    text = resources.files(__package__).joinpath("phrases", f"{name}.yaml").read_text(encoding="utf-8")
    loaded: Mapping[str, Any] = yaml.safe_load(text)
    return loaded


def templates(name: str, chinese: bool, key: str) -> Sequence[str]:
    """The wordings of `key` in the report's language."""
    found: Sequence[str] = phrases(name)["zh" if chinese else "en"][key]
    return found


def fill(template: str, rng: Random, **slots: str) -> str:
    """The template with one alternative of each choice and its slots filled."""
    text = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), template)
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    return text


def say(name: str, chinese: bool, key: str, rng: Random, **slots: str) -> str:
    """One wording of `key`, drawn and filled; it starts with a capital."""
    return capitalise(fill(rng.choice(list(templates(name, chinese, key))), rng, **slots))


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


class Lexicon:
    """How a report writes its own words: which are lower case inside a sentence."""

    def __init__(self, text: str) -> None:
        counts = Counter(_MID_WORD.findall(text))
        self._lower = {word for word in counts if word.islower()}
        self._names = {word for word in counts if not word.islower() and counts[word] > counts[word.lower()]}

    def is_plain(self, word: str) -> bool:
        """Whether a capitalised word is an ordinary word that loses its capital inside a sentence."""
        if word in self._names or not re.fullmatch(r"[A-Z][a-z]+|A", word):
            return False
        return word.lower() in self._lower or word.lower() in _FUNCTION_WORDS

    def lower_first(self, text: str) -> str:
        """`text` as it stands after a conjunction: its first word without a capital, unless it is a name."""
        first = re.match(r"[A-Za-z]+", text)
        if first is None or not self.is_plain(first[0]):
            return text
        rest = text[first.end() :]
        if re.match(r"(?:[- ][A-Z][a-z]+)", rest) and first[0].lower() not in _FUNCTION_WORDS:
            return text  # "Chub Mackerel ...": the first word of a name
        return first[0].lower() + rest

    def inside(self, title: str) -> str:
        """A heading's words as they are written inside a sentence."""
        return re.sub(r"[A-Za-z]+(?![A-Za-z0-9])", lambda m: m[0].lower() if self.is_plain(m[0]) else m[0], title)


_FUNCTION_WORDS = frozenset(
    "the a an of in on at by for with from to and or but this that these those most many some several all each both no not"
    " as if when while although because since after before between among under over more less few other such one two three"
    " four five six new recent current early late large small high low total global average overall".split()
)


class Words:
    """Topics and sentence openings of one report."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.lexicon = Lexicon(view.text)
        self._titles = [self._topic(section.title) for section in view.document.sections]

    def _topic(self, title: str) -> str:
        """The heading as a noun phrase, or nothing when it is none or says nothing ("Overview")."""
        title = re.sub(r"[*_`#]|\[[^\]]*\](?:\([^)]*\))?|【[^】]*】", "", title).strip()
        title = _NUMBERING.sub("", title)
        title = re.split(r"[:：—?？]| – | - |——", title)[0]
        title = re.sub(r"\s*[(（][^)）]*[)）]?", "", title).strip(' 、，,.。;；"“”')
        if self._view.chinese:
            ok = 3 <= len(title) <= 18 and re.search("[一-鿿]{2}", title) and not re.match("如何|为何|为什么|什么", title)
        else:
            verb = re.match(r"(?i)(?:how|why|what|when|where|which|who|is|are|does|do|can|should|will|from|to)\b", title)
            ok = 1 <= len(title.split()) <= 7 and len(title) >= 4 and not verb and title.isascii() and not title.endswith("ing")
        if not ok or _GENERIC.search(title) or re.search(r"\d{1,2}$|[,，&/]", title):
            return ""
        return title if self._view.chinese else self.lexicon.inside(title)

    def topics(self, block: int) -> list[str]:
        """Noun phrases for what a block is about, its own section's first; never empty."""
        document = self._view.document
        found: list[str] = []
        section: int | None = document.blocks[block].section
        while section is not None:
            found.append(self._titles[section])
            section = document.sections[section].parent
        found += [self._title_topic()]
        listed = [topic for topic in dict.fromkeys(found) if topic]
        return listed or [self._fallback()]

    def others(self, block: int) -> list[str]:
        """Topics of the report's other sections."""
        mine = set(self.topics(block))
        return [topic for topic in dict.fromkeys(self._titles) if topic and topic not in mine]

    def _title_topic(self) -> str:
        return self._topic(self._view.document.title)

    def _fallback(self) -> str:
        """The commonest two-word run of content words, or a plain word for the subject."""
        if self._view.chinese:
            return "这一问题"
        return "this question"


def is_standalone(line: Line) -> bool:
    """Whether a sentence can be understood away from its place: it does not point back and states something itself."""
    words = line.words
    if line.kind not in RUNNING or _ANAPHORA.match(words) or len(words) < 20 or len(words) > 260:
        return False
    return not re.search(
        r"[:：]|\*\*|\b(?:above|below|following|respectively|former|latter)\b|上述|以上|以下|下表|如下|前者|后者|[|\n]", words
    )


_VERBS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|does|do|did|must|[a-z]{3,}(?:s|ed|en)|grew|rose|fell|made"
    r"|found|led|became|began|remain|show|use|rely|include|provide)\b"
)


def has_clause(text: str, chinese: bool) -> bool:
    """Whether `text` is a full clause (a verb after a subject) and no noun phrase; in Chinese, whether it is long enough."""
    if chinese:
        return (
            len(re.findall("[一-鿿]", text)) >= 12
            and re.search("是|为|有|在|会|可|能|将|了|到|被|使|占|需|由|对|与|及", text) is not None
        )
    match = _VERBS.search(text, 3)
    return match is not None and text[:1].isupper()


@lru_cache(maxsize=16)
def _words(view: View) -> Words:
    return Words(view)


def words_of(view: View) -> Words:
    """The words of a report, made once."""
    return _words(view)
