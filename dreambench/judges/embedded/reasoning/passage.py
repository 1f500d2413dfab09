"""The sentences of a report that a reasoning question is about, with what there is to check in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dreambench.documents import BlockKind, CitationStatus
from dreambench.judges.embedded.memory import Memory
from dreambench.judges.embedded.view import ReportView, view_of
from dreambench.language.arithmetic import Sum, find_sums
from dreambench.language.causes import CausalClaim, find_causal_claim
from dreambench.language.claims import why_excluded
from dreambench.language.quotations import Quotation, find_quotations
from dreambench.language.statements import analyse
from dreambench.language.tokens import bm25, content_words

MOST = 10
"""Sentences that are looked at for one question."""
NEAR = 0.35
"""Least score of such a sentence as a share of the best one's."""
LEAST_SHARED = 2
"""Content words that a sentence must share with the question and its plan."""


@dataclass(frozen=True)
class Passage:
    """One sentence of a report: `raw` is a verbatim stretch of it, `text` is without markers; `cited` are its URLs, `near`
    those of its paragraph."""

    raw: str
    text: str
    cited: tuple[str, ...]
    near: tuple[str, ...]

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The calculations that the sentence states."""
        return tuple(find_sums(self.text))

    @cached_property
    def causal(self) -> CausalClaim | None:
        """The cause and effect that the sentence claims; None when it claims none."""
        return find_causal_claim(self.text)

    @cached_property
    def quotations(self) -> tuple[Quotation, ...]:
        """What the sentence quotes."""
        return tuple(find_quotations(self.text))

    @cached_property
    def countable(self) -> bool:
        """Whether it gives an amount or a date that a page can settle."""
        statement = analyse(self.text)
        return bool(statement.counted or statement.dates)


def about(job: Mapping[str, Any]) -> tuple[Passage, ...]:
    """The passages of `job["report"]` on `job["item"]` and its plan, the most fitting first."""
    asked = (str(job["item"]), json.dumps(job["plan"], ensure_ascii=False, sort_keys=True))
    return _about((str(job["report"]), *asked))


def _select(key: tuple[str, str, str]) -> tuple[Passage, ...]:
    report, item, plan = key
    passages, bags = _passages_of(report)
    record = json.loads(plan)
    wanted = content_words(item)
    said = [str(record.get("extract", "")), *map(str, record.get("criteria", ()))]
    said += [str(check.get("what", "")) for check in record.get("verify", ())]
    wanted += [word for text in said for word in content_words(text)]
    vocabulary = set(wanted)
    scores = bm25(sorted(vocabulary), bags)
    fitting = [at for at, bag in enumerate(bags) if len(vocabulary & set(bag)) >= LEAST_SHARED]
    least = NEAR * max((scores[at] for at in fitting), default=0.0)
    best = [at for at in sorted(fitting, key=lambda at: (-scores[at], at))[:MOST] if scores[at] >= least]
    return tuple(passages[at] for at in best)


def _cut(report: str) -> tuple[list[Passage], list[list[str]]]:
    view = view_of(report)
    passages = [one for one in _all(view) if why_excluded(one.text) is None]
    return passages, [content_words(one.text) for one in passages]


def _all(view: ReportView) -> list[Passage]:
    document = view.document
    by_sentence: dict[int, list[str]] = {}
    by_block: dict[int, list[str]] = {}
    for citation in document.citations:
        if citation.status is CitationStatus.RESOLVED and citation.url and citation.sentence is not None:
            by_sentence.setdefault(citation.sentence, []).append(citation.url)
            by_block.setdefault(document.sentences[citation.sentence].block, []).append(citation.url)
    found = []
    for number, sentence in enumerate(document.sentences):
        if document.blocks[sentence.block].kind is BlockKind.TABLE or not document.in_body(sentence.span):
            continue
        cited = tuple(dict.fromkeys(by_sentence.get(number, ())))
        near = tuple(dict.fromkeys(by_block.get(sentence.block, ())))
        found.append(Passage(sentence.span.of(document.text).strip(), view.clean(sentence.span), cited, near))
    return found


_passages_of: Memory[str, tuple[list[Passage], list[list[str]]]] = Memory(_cut, size=8)
_about: Memory[tuple[str, str, str], tuple[Passage, ...]] = Memory(_select, size=64)
