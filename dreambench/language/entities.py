"""Names in text: capitalised names, acronyms with their long forms, Chinese titles and organisations, references to laws.

There is no dictionary of names: English names are runs of capitalised words, Chinese ones end in a known suffix or stand in
title marks. `norm` is the form for comparison; an introduced acronym and its long form share one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from dreambench.language.text import CJK, fold_width, normalise, word_set

EntityKind = Literal["name", "acronym", "title", "organisation", "place", "law"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A name at `start:end`; `norm` compares, `long_form` is set for an acronym whose long form the text gives."""

    start: int
    end: int
    text: str
    kind: EntityKind
    norm: str
    long_form: str = ""


_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][A-Za-zÀ-ÖØ-öø-ÿ]*(?:['-][A-ZÀ-Þa-z][A-Za-zÀ-ÖØ-öø-ÿ]*)*"
_JOINER = r"(?:of the|of|for the|for|de la|de|du|van der|van|von|al)"
_NAME = re.compile(
    rf"(?<![A-Za-z0-9]){_CAPITALISED}(?:(?: (?:{_JOINER} )?|-){_CAPITALISED}){{0,7}}(?:[ -][0-9]{{1,4}}(?![0-9%A-Za-z]"
    rf"|[.,][0-9]))?"
)
_ACRONYM = re.compile(r"[A-Z]{2,8}s?|[A-Z]{2,8}-?[0-9]{1,4}")
_INTRODUCED = re.compile(r"\(([A-Z]{2,8})\)")
_LAW = re.compile(
    r"\b(?:Directive|Regulation|Resolution|Act|Law|Decree|Decision|Treaty|Convention|Article|Executive Order|Public Law)"
    r" (?:\((?:EU|EC)\) )?(?:No\.? ?)?[0-9]{1,5}(?:[/-][0-9]{1,5})*(?:/[A-Z]{2,3})?"
)
_DOTTED = re.compile(r"(?<![A-Za-z0-9.])(?:[A-Z]\.){2,6}")
_MODEL = re.compile(r"(?<![A-Za-z0-9-])[A-Z]{1,6}-?[0-9]{1,4}[a-z]?(?![A-Za-z0-9])(?<!Q[1-4])(?<!H[12])")
_TITLE = re.compile("《([^《》\n]{1,60})》")
_CHINESE_ORGANISATION = re.compile(
    f"[{CJK}]{{2,14}}?(?:委员会|研究院|研究所|科学院|大学|学院|公司|集团|银行|医院|法院|检察院|协会|学会|联盟|基金会|博物馆|图书馆|出版社|议会|总局"
    "|事务所|实验室|政府|局|厅|署|党|部)(?!分|长|门|署|限|面|员|落|位|队)"
)
_CHINESE_PLACE = re.compile(f"[{CJK}]{{1,5}}?(?:省|市|县|区|州|岛|山|河|湖|江)(?!场|民|长|值|别|域|分|峡)")
_CHINESE_SPLIT = re.compile(
    "[的了在是和与及由于从到为被将把向对其该这那各每等至自就都也并或但而后前时个一二三四五六七八九十有设了]|表示|位于|来自|根据|包括|加入"
)
_CHINESE_IDLE = re.compile(
    "^(?:全|各|分|本|多|少|城|地|小|大)?(?:公司|集团|银行|大学|政府|组织|市|省|区|县|局|部)$|^[子母该本总]公司$"
    "|部分|全部|内部|中部|外部|地区"
)
# Capitalised by position or by habit, and no names by themselves.
_IDLE = word_set(
    "Mr Mrs Ms Dr Prof The A An In On At By For With From To Of And Or But Nor So Yet If Then Than That This"
    " These Those There Here It Its He She They Their His Her We Our You Your I My As About After Before During"
    " Since Until While When Where Which Who What Why How All Any Both Each Every Few More Most Other Some Such No"
    " Not Only Same Very However Moreover Although Though Because Despite According Overall Finally First Second"
    " Third Also Another Many Several Today January February March April May June July August September October"
    " November December Monday Tuesday Wednesday Thursday Friday Saturday Sunday Jan Feb Mar Apr Jun Jul Aug Sep"
    " Sept Oct Nov Dec Between Under Over Nearly Around Roughly Approximately Sources Section Figure Table Chapter"
    " One Two Three Four Five Six Seven Eight Nine Ten Thus Therefore Once Even Still Just Unlike Like Per Critics"
    " Scientists Researchers Engineers Experts Studies Surveys Results People Women Men Children Prices Adults"
    " Construction Water"
)
_HONORIFICS = word_set("mr mrs ms dr prof professor president sir lord lady king queen prime minister")
_POSSESSIVE = re.compile("'s?$")


def find_entities(text: str) -> list[Entity]:
    """Names in `text`, in order, without overlaps; offsets are into `text`."""
    folded = fold_width(text)
    taken = bytearray(len(folded))
    capitalised = frozenset(_MID_SENTENCE.findall(folded))
    found: list[Entity] = []

    def take(start: int, end: int, kind: EntityKind, norm: str) -> None:
        if norm and not any(taken[start:end]):
            taken[start:end] = b"\x01" * (end - start)
            found.append(Entity(start, end, text[start:end], kind, norm))

    for match in _LAW.finditer(folded):
        take(match.start(), match.end(), "law", normalise(match[0]).replace("no. ", "").replace("no ", ""))
    for match in _TITLE.finditer(text):
        take(match.start(), match.end(), "title", normalise(match[1]))
    for match in _DOTTED.finditer(folded):
        take(match.start(), match.end(), "acronym", match[0].replace(".", "").lower())
    for match in _MODEL.finditer(folded):
        take(match.start(), match.end(), "acronym" if match[0][:2].isupper() else "name", match[0].lower())
    for match in _NAME.finditer(folded):
        for start, end in _names(folded, *match.span(), capitalised):
            written = folded[start:end]
            take(start, end, "acronym" if _ACRONYM.fullmatch(written) else "name", _norm(written))
    for start, end, kind in _chinese(folded):
        take(start, end, kind, folded[start:end])
    return _with_long_forms(folded, sorted(found, key=lambda entity: entity.start))


def _norm(name: str) -> str:
    parts = _POSSESSIVE.sub("", name).replace(".", "").split()
    while len(parts) > 1 and parts[0].lower() in _HONORIFICS:
        parts.pop(0)
    return " ".join(parts).lower()


def _names(folded: str, start: int, end: int, capitalised: frozenset[str]) -> list[tuple[int, int]]:
    """The run without idle words at its ends; a lone word that opens a sentence is a name only when it is no usual word."""
    while True:
        head = re.match(r"[^ ]+", folded[start:end])
        if head is None:
            return []
        if head[0] not in _IDLE:
            break
        rest = folded[start + len(head[0]) : end].lstrip()
        start = end - len(rest)
        if rest[:1].islower():
            start += len(rest.split(" ", 1)[0]) + 1
    if start >= end:
        return []
    written = folded[start:end]
    alone = re.fullmatch(r"[A-Z][a-z]+", written) is not None
    # A plain word that opens a sentence may be any word; a name says so by being capitalised elsewhere too.
    if alone and _opens_sentence(folded, start) and not (written in capitalised or _looks_like_a_name(folded, written, end)):
        return []
    return [(start, end)] if len(written) > 1 else []


_COMMON_ENDING = re.compile(
    "(?:s|ing|ion|ed|ly|ment|ness|ity|ance|ence|er|or|est|al|ous|ive|ism|age|ure|ship|th|put|out|ue|ade|and)$"
)
_VERB_AFTER = re.compile(
    r"'s |,? (?:is|was|has|had|did|does|will|would|can|could|won|made|said|became|led|built|bought|sold|began|lost"
    r"|held|took|paid|grew|rose|fell|[a-z]{3,}ed"
    r"|[a-z]{3,}s)\b"
)


def _looks_like_a_name(folded: str, word: str, end: int) -> bool:
    """Whether a word that opens a sentence is unlike a common noun and followed by a verb."""
    return _COMMON_ENDING.search(word) is None and _VERB_AFTER.match(folded, end) is not None


_MID_SENTENCE = re.compile(r"[a-z,;] ([A-Z][a-z]+)\b")
_OPENING = re.compile(r"(?:^|[.!?:\n|>*#\"(-]|[.!?][\"')\]]{1,3}|\]) ?$")


def _opens_sentence(folded: str, start: int) -> bool:
    return start == 0 or _OPENING.search(folded[max(0, start - 4) : start]) is not None


def _chinese(folded: str) -> list[tuple[int, int, EntityKind]]:
    kinds: list[tuple[re.Pattern[str], EntityKind]] = [(_CHINESE_ORGANISATION, "organisation"), (_CHINESE_PLACE, "place")]
    spans: list[tuple[int, int, EntityKind]] = []
    for pattern, kind in kinds:
        for match in pattern.finditer(folded):
            start, end = match.span()
            for cut in _CHINESE_SPLIT.finditer(folded, start, end - 1):
                start = cut.end()
            if end - start >= 3 and not _CHINESE_IDLE.search(folded[start:end]):
                spans.append((start, end, kind))
    return spans


def _with_long_forms(folded: str, found: list[Entity]) -> list[Entity]:
    long_forms: dict[str, str] = {}
    by_end = {entity.end: entity for entity in found if entity.kind == "name"}
    for match in _INTRODUCED.finditer(folded):
        before = by_end.get(match.start() - 1) or by_end.get(match.start())
        if before is not None and _initials_fit(match[1], before.norm):
            long_forms[match[1].lower()] = before.norm
    return [
        replace(entity, norm=long_forms[entity.norm], long_form=long_forms[entity.norm])
        if entity.norm in long_forms
        else entity
        for entity in found
    ]


def _initials_fit(acronym: str, long_form: str) -> bool:
    """Whether the letters of the acronym occur in order, most of them as first letters."""
    initials = "".join(word[0] for word in re.split("[ -]", long_form) if word)
    position = 0
    hits = 0
    for letter in acronym.lower():
        at = initials.find(letter, position)
        if at >= 0:
            position, hits = at + 1, hits + 1
    return hits >= max(2, len(acronym) - 1)
