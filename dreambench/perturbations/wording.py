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
    r"|\d+(?:\.\d+)+\.?\s*|\d{1,2}\s+|[A-Z]\.\s+|[IVX]{1,4}\.\s+|(?:Part|Step|Phase|Chapter"
    r"|Section)\s+[\dIVXA-D]+\s*[:.–-]\s*)+"
)
_GENERIC = re.compile(
    r"\b(?:introduction|conclusions?|overview|summary|references?|sources?|background|findings?|recommendations?|limitations?"
    r"|methodology|results|discussion|appendix|outlook|abstract|analysis|implications|directions?|takeaways?|insights?|gaps?|outstanding|questions?|issues?"
    r"|comparison|answer|notes?|remarks|scope|context|steps|examples?|definitions?|key|reports?|guide|reviews?|articles?)\b"
    r"|引言|前言|结论|总结|小结|概述|概览|背景|参考|来源|建议|展望|摘要|附录|说明|综述|绪论|简介|启示|结语|要点|对比|比较|分析|举例|示例|优势|局限|挑战|定义|不足",
    re.IGNORECASE,
)
_GENRE = re.compile(
    r"(?i)^(?:the |an? )?(?:[\w-]+ )?(?:[\w-]+ )?(?:analysis|review|overview|report|study|guide|assessment|survey|synthesis"
    r"|evaluation"
    r"|comparison|examination|exploration|introduction|framework)s? (?:of|on|to|for|into) (?:the )?"
)
_PREPOSITION = r",| (?:and|in|across|for|with|from|under|through|between|during|on|as|to|by|at|within|using|among) "
_DOING = re.compile(
    r"(?i)(?:defining|understanding|building|implementing|assessing|evaluating|addressing|measuring|creating|using|applying"
    r"|designing|developing|managing|integrating|exploring|comparing|navigating|overcoming|ensuring|improving|enhancing"
    r"|balancing|rethinking|selecting|choosing|mapping|identifying|other|additional|further|notable|common|practical|be|absence|lack)\b"
)
_ADJECTIVE = re.compile(r"(?:(?<!patt)ern|ese|ical|ional|ary|ive|ous|able|ible|based|oriented|driven)$")
_TOO_WIDE = re.compile(
    r"(?i)(?:benefits?|challenges|risks?|applications?|types?|trends?|factors|features|advantages|disadvantages|strengths"
    r"|weaknesses|history|policy|policies|performance|opportunities|strategies|methods|approaches|mechanisms?|technology"
    r"|models?)$"
)
_ANAPHORA = re.compile(
    r"^(?:this|that|these|those|it|its|they|their|he|she|his|her|such|both|here|there|however|but|yet|and|or|so|thus|hence"
    r"|then"
    r"|therefore|also|moreover|furthermore|additionally|in addition|conversely|instead|meanwhile|similarly|likewise"
    r"|nevertheless"
    r"|nonetheless|still|finally|second(?:ly)?|third(?:ly)?|first(?:ly)?|for example|for instance|e\.g\.|i\.e\.|in contrast"
    r"|by contrast|on the other hand|as a result|consequently|overall|specifically|notably|in particular|indeed|other|others"
    r"|another|in parallel|in short|in sum|in turn|in practice|in general|today|together|yes|no|one|some|many|each|all|see"
    r"|note|note that|key|if|when|while|as|because|although|though|since|once|where|what|how|why"
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
    """`text` with its first character in upper case, the others as they are."""
    return text[:1].upper() + text[1:]


class Lexicon:
    """How a report writes its own words: which are lower case inside a sentence."""

    def __init__(self, prose: str) -> None:
        counts = Counter(_MID_WORD.findall(prose))
        self._lower = {word for word in counts if word.islower()}
        self._names = {word for word in counts if not word.islower() and counts[word] > counts[word.lower()]}

    def is_plain(self, word: str) -> bool:
        """Whether a capitalised word is an ordinary word that loses its capital inside a sentence."""
        if word in self._names or not re.fullmatch(r"[A-Z][a-z]+|A", word):
            return False
        return word.lower() in self._lower or word.lower() in _FUNCTION_WORDS or _COMMON_ENDING.search(word) is not None

    def knows(self, text: str) -> bool:
        """Whether it is certain how the first word of `text` is written after another word."""
        first = re.match(r"[A-Za-z]+", text)
        if first is None:
            return True
        return self.is_plain(first[0]) or first[0] in self._names or not re.fullmatch(r"[A-Z][a-z]+", first[0])

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
        """A heading's words as they are written inside a sentence; words that the prose does not have lose their capital."""
        return re.sub(r"[A-Za-z]+(?![A-Za-z0-9])", lambda m: m[0] if self._keeps(m[0]) else m[0].lower(), title)

    def _keeps(self, word: str) -> bool:
        return word in self._names or not re.fullmatch(r"[A-Z][a-z]+|A", word)


_COMMON_ENDING = re.compile(
    r"(?:ing|tion|sion|ment|ness|ity|ly|ed|ive|ous|ance|ence|able|ible|ful|less|ism|ists?|ers|ors|ies|ions|ments|ings|ical"
    r"|ology)$"
)
_FUNCTION_WORDS = frozenset(
    "the a an of in on at by for with from to and or but this that these those most many some several all each both no not"
    " as if when while although because since after before between among under over more less few other such one two three"
    " four five six new recent current early late large small high low total global average overall".split()
)


class Words:
    """Topics and sentence openings of one report."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.lexicon = Lexicon("\n".join(line.words for line in view.prose))
        self._titles = [self._topic(section.title) for section in view.document.sections]

    def _topic(self, title: str) -> str:
        """The heading as a noun phrase, or nothing when it is none or says nothing ("Overview")."""
        title = re.sub(r"[*_`#]|\[[^\]]*\](?:\([^)]*\))?|【[^】]*】", "", title).strip()
        title = _NUMBERING.sub("", title)
        title = re.split(r"[:：—?？]| – | - |——", title)[0]
        title = re.sub(r"\s*[(（][^)）]*[)）]?", "", title).strip(' 、，,.。;；"“”')
        if self._view.chinese:
            ok = (
                3 <= len(title) <= 18
                and re.search("[一-鿿]{2}", title)
                and not re.match("如何|为何|为什么|什么|年代|年|世纪|选题|薄弱", title)
            )
            ok = ok and not re.search("导致|引起|引发|促进|影响了", title)
        else:
            verb = re.match(r"(?i)(?:how|why|what|when|where|which|who|is|are|does|do|can|should|will|from|to)\b", title)
            several = len(title.split()) > 1 or (len(title) >= 7 and not _TOO_WIDE.match(title))
            ok = several and len(title.split()) <= 7 and not verb and title.isascii() and not title.endswith("ing")
            ok = ok and not _DOING.match(title) and not (len(title.split()) < 3 and _ADJECTIVE.search(title))
        if not ok or _GENERIC.search(title) or re.search(r"\d{1,2}$|[,，&/]|\b(?:vs|versus)\b", title):
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
        return listed or [self.stand_in]

    def own_topic(self, block: int) -> str:
        """What the block's own section is about by its heading alone; empty when that is no subject."""
        section = self._view.document.blocks[block].section
        return "" if section is None else self._titles[section]

    def others(self, block: int) -> list[str]:
        """Topics of the report's other sections."""
        mine = set(self.topics(block))
        return [topic for topic in dict.fromkeys(self._titles) if topic and topic not in mine]

    @staticmethod
    def is_topic(topic: str) -> bool:
        """Whether a topic comes from the report, and is no stand-in."""
        return topic not in _STAND_INS

    def _title_topic(self) -> str:
        """The subject of the whole report: its title, or the head of it where the title is long."""
        title = re.sub(r"[*_`#]", "", self._view.document.title).strip()
        if whole := self._topic(title):
            return whole
        title = re.split(r"[:：—?？(（]| – | - ", title)[0]
        if self._view.chinese:
            head = re.split("的|，|研究|分析|报告|综述", title)[0]
            good = (
                3 <= len(head) <= 14
                and re.search("[一-鿿]{2}", head)
                and not re.search("在|如何|能否|是否|^基于|^关于|^对|^从", head)
            )
            return head if good and not _GENERIC.search(head) else ""
        head = re.split(_PREPOSITION, _GENRE.sub("", title))[0]
        return "" if re.search(r"(?i) between | (?:need|demand|search|case|quest)$", head) else self._topic(head)

    @property
    def stand_in(self) -> str:
        """What is said for the subject where the report's headings give none."""
        return _STAND_INS[self._view.chinese]


_STAND_INS = ("this question", "这一问题")


def in_quotes(text: str, position: int) -> bool:
    """Whether a position lies inside quotation marks, title marks or italics."""
    before = text[:position]
    if before.count('"') % 2 or before.count("“") > before.count("”") or before.count("「") > before.count("」"):
        return True
    if before.count("《") > before.count("》"):
        return True
    return len(re.findall(r"(?<![*\w])\*(?!\*)(?=\w)", before)) > len(re.findall(r"(?<=\w)\*(?![*\w])", before))


def points_back(words: str) -> bool:
    """Whether a sentence opens with a connective or a word that refers to the one before it."""
    return _ANAPHORA.match(words) is not None


def is_standalone(line: Line) -> bool:
    """Whether a sentence can be understood away from its place: it does not point back and states something itself."""
    words = line.words
    if words[:1] in tuple("\"“'‘「"):
        return False
    if line.kind not in RUNNING or _ANAPHORA.match(words) or len(words) < 20 or len(words) > 260:
        return False
    return not re.search(
        r"[:：]|\*\*|\b(?:above|below|following|respectively|former|latter)\b|上述|以上|以下|下表|如下|前者|后者|[|\n]", words
    )


_VERB_STEMS = (
    "allow|appear|become|begin|bring|build|cause|change|come|contain|continue|contribute|cover|create|decline|define|demand"
    "|depend"
    "|describe|determine|develop|differ|dominate|drive|emerge|emphasize|employ|enable|enhance|ensure|exceed|exhibit|exist"
    "|expand"
    "|explain|face|facilitate|fall|focus|follow|form|generate|give|grow|guide|handle|help|highlight|hold|identify|illustrate"
    "|improve"
    "|include|increase|indicate|influence|inform|integrate|introduce|invest|involve|keep|lack|lead|leave|limit|link|maintain"
    "|make"
    "|mark|matter|mean|measure|need|occur|offer|operate|originate|outperform|play|pose|predict|prefer|prevent"
    "|produce|promote"
    "|propose|protect|provide|reach|receive|recommend|reduce|reflect|rely|remain|report|represent|require|respond|restrict"
    "|result"
    "|reveal|rise|seek|serve|set|shape|share|show|shift|speak|stand|start|suggest|support|survive|take|target|teach|tell"
    "|tend|treat"
    "|turn|use|vary|want|win|work|write"
)
_VERBS = re.compile(
    r"(?<!, )\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|does|do|did|must|cannot|grew|rose|fell|made|found"
    r"|led|became"
    rf"|began|held|took|gave|came|brought|wrote|won|saw|(?:{_VERB_STEMS})(?:s|es|d|ed)?|relies|varies"
    r"|[a-z]{3,}(?:ized|ified|ates|izes|ifies))\b"
)
_NO_SUBJECT = re.compile(
    r"(?:use|assess|evaluate|ensure|develop|provide|encourage|implement|create|consider|integrate|establish|collect|promote"
    r"|foster"
    r"|monitor|adopt|invest|build|leverage|include|apply|choose|select|avoid|start|begin|set|document|maintain|review|identify"
    r"|conduct|support|focus|train|engage|incorporate|offer|design|combine|limit|reduce|increase|track|plan|add|test|make"
    r"|keep|run"
    r"|expand|prioriti[sz]e|strengthen|enhance|improve|explore|address|align|embed|deploy|require|check|update|define|employ"
    r"|utili[sz]e|analy[sz]e|compare|optimi[sz]e|facilitate|enable|allow|help|teach|model|place|pair|store|serve|mix|give|take)"
    r"(?:s|es|d)?\b|(?:abstracts|simplifies|survives|relies|features|delivers|handles|achieves|captures|introduces|shows"
    r"|covers|has|is"
    r"|are|can|may|would|likely|based|driven|due|known|limited|prefers|seeks|favors|values|emphasizes|focuses|avoids|holds"
    r"|invests"
    r"|believes|tends|works|acts|makes|gets|needs|means|creates|generates|reflects|represents|remains|becomes|involves"
    r"|contains|aims|slowed|stabilized|triggered|moved|migrated|deployed|launched|reported|introduced|joined|founded|received|published|won|earned|reached|gained|holds|acted|served|attributed|expected"
    r"|publishes|champions|implements|operates|manages|builds|begins|leads|calls|draws|sets|takes|gives)\b"
    r"|\w+(?:ful|able|ible|ous|ed|al|ive) (?:for|to|in|by|with|as|at|on)\b"
    r"|[a-z]+, [a-z]+ing |\w+ly \w+(?:(?<!s)s|ed)\b|\w+ (?:required|needed|recommended|advised|expected)\b"
    r"|\w+ed (?:an?|the|its|their|from|over|more|by|\d)\b"
    r"|[\w -]+(?: \([^)]*\))? used to "
    r"|much (?:less|more)\b|\w+ use of\b|(?:less|more|highly|very|most|least) \w+ (?:with|for|in|to|than|at|by|when|and)\b",
    re.IGNORECASE,
)
_NO_SUBJECT_ZH = re.compile(
    "加强|推动|建立|构建|完善|强化|提升|推进|实施|鼓励|优化|促进|发展|支持|打造|培育|引入|出现|探索|开展|采用|利用|结合|注重|提高|扩大|深化|重视"
    "|关注|设立|制定|引导|应用|输入|随着|在|从|作为|基于|针对|按照|多|较|极|主要|用于|适合|适用|具有|具备|拥有|实现|保障|确保|避免|减少|降低|增强"
    "|组织|建议|明确|加快|参与|整合|引进|运用|强调|突出|涵盖|覆盖|形成|成为|处于|属于|位于|来自|需要|必须|能够|允许|使用|选择|保持|限制|禁止|要求"
    "|规定|同|借助|查看|面向|聚焦|由|均|都|仍|已|占|享有|兼具|承担|面临|[*＊]"
)


_JOINT_ZH = re.compile(
    "是|(?<![行作认成])为(?!主)|(?<![所国持])有(?![机限效])|(?<![存潜内])在(?!线)|(?<![社协学机大])会(?![议计])|可(?!持续|靠|见)"
    "|(?<![储功性智节动热光])能(?![源量力耗效])|将|了|被|使(?!用)|占|(?<!必)需(?!求)|达(?!人)|已|仍|(?<![适效响反供对相])应(?!用)|要(?!素)|让|把|呈"
)
"""What makes a Chinese string of nouns a sentence."""


def has_clause(text: str, chinese: bool) -> bool:
    """Whether `text` is a full clause (a subject, then a verb) and neither a noun phrase nor an order."""
    if (_NO_SUBJECT_ZH if chinese else _NO_SUBJECT).match(text):
        return False
    if chinese:
        joint = _JOINT_ZH.search(text) is not None
        return len(re.findall("[一-鿿]", text)) >= 12 and joint and "；" not in text
    return text[:1].isupper() and _VERBS.search(text, 3) is not None


@lru_cache(maxsize=16)
def _words(view: View) -> Words:
    return Words(view)


def words_of(view: View) -> Words:
    """The words of a report, made once."""
    return _words(view)
