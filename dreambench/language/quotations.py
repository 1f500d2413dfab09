"""Direct quotations: what stands in quotation marks and is long enough to be somebody's words and no term or title."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dreambench.language.text import has_cjk
from dreambench.language.tokens import words

LEAST_WORDS = 5
LEAST_CHINESE = 8
_SAYING = re.compile(
    r"\b(?:says?|said|states?|stated|writes?|wrote|written|notes?|noted|reads?|concludes?|concluded|reports?|reported|adds?|added"
    r"|declares?|declared|explains?|explained|puts? it|in the words of|according to|quot(?:es?|ed)|words? it)\b"
    r"|指出|表示|写道|写明|声明|宣布|强调|原文|称[:：，“]|规定[:：，“]|说[:：，“]|认为[:：，“]",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"“([^“”\n]{8,400})”|\"([^\"\n]{8,400})\"|「([^「」\n]{6,300})」|«\s?([^«»\n]{8,400})\s?»|„([^„“\n]{8,400})“"
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Quoted words at `start:end`, without their marks."""

    start: int
    end: int
    text: str


def find_quotations(text: str) -> list[Quotation]:
    """The direct quotations of a sentence, in order, where it says that somebody says something.

    Shorter ones are terms, titles or irony and are left out; without a word of saying the marks may mean a common phrase.
    """
    found: list[Quotation] = []
    if not _SAYING.search(_MARKED.sub("“”", text)):
        return found
    for match in _MARKED.finditer(text):
        number = match.lastindex or 0
        quoted = match[number]
        least = LEAST_CHINESE if has_cjk(quoted) else LEAST_WORDS
        if (len(re.sub(r"\W", "", quoted)) if has_cjk(quoted) else len(words(quoted))) >= least:
            found.append(Quotation(match.start(number), match.end(number), quoted))
    return found
