"""Direct quotations: what stands in quotation marks and is long enough to be somebody's words and no term or title."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dreambench.language.text import has_cjk
from dreambench.language.tokens import words

LEAST_WORDS = 5
LEAST_CHINESE = 8
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
    """The direct quotations of `text`, in order; shorter ones are terms, titles or irony and are left out."""
    found = []
    for match in _MARKED.finditer(text):
        number = match.lastindex or 0
        quoted = match[number]
        least = LEAST_CHINESE if has_cjk(quoted) else LEAST_WORDS
        if (len(re.sub(r"\W", "", quoted)) if has_cjk(quoted) else len(words(quoted))) >= least:
            found.append(Quotation(match.start(number), match.end(number), quoted))
    return found
