"""What code can defend against a sentence of a report: one finding at most, with the words that it rests on.

In this order: a sum that does not compute; quoted words that are not on the page that is cited for them; pages that
contradict an amount or a date (`dispute`); a cause that nothing in reach speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dreambench.documents import normalize_url
from dreambench.judges.embedded.reasoning.dispute import dispute_on, settle
from dreambench.judges.embedded.reasoning.passage import Passage
from dreambench.judges.embedded.reasoning.policy import ADDRESS
from dreambench.judges.embedded.reasoning.source import Source, opened, same_language
from dreambench.judges.kinds.agent_step import Step
from dreambench.judges.kinds.deductions import DeductionKind
from dreambench.judges.quotes import check_quote
from dreambench.language.causes import COVERED, nearest
from dreambench.language.claims import why_excluded
from dreambench.language.tokens import content_words, overlap, sentences

ON_TOPIC = 2
"""Content words that a page must share with a causal claim to count as a page in reach."""
LEAST_READ = 2
"""Pages in reach that must have been read before a cause is called unsupported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A shortcoming of `passage`; `words` stand in a tool's result, under `url` where it is a page."""

    passage: Passage
    kind: DeductionKind
    reason: str
    url: str = ""
    words: str = ""


@dataclass(slots=True)
class Checked:
    """What came of one passage: how many points code could check, and the weightiest finding."""

    points: int = 0
    finding: Finding | None = None


def check(
    passage: Passage, report: str, steps: Sequence[Step], sources: Sequence[Source], authority: Mapping[str, int]
) -> Checked:
    """Checks one passage of `report` by what the steps brought, `authority` by site among it."""
    result = Checked()
    for one in (_sums(passage, steps), _quotations(passage, sources), _pages(passage, report, sources, authority)):
        result.points += one.points
        result.finding = result.finding or one.finding
    causal = _cause(passage, steps, sources)
    result.points += causal.points
    result.finding = result.finding or causal.finding
    return result


def _sums(passage: Passage, steps: Sequence[Step]) -> Checked:
    result = Checked(points=len(passage.sums))
    for one in passage.sums:
        if one.holds:
            continue
        values = [step.result for step in steps if step.tool == "calculate" and one.expression in step.arguments]
        kind: DeductionKind = "refuted_step" if values else "unsupported_inference"
        reason = f"{one.expression} is {one.value:.6g}, where {one.stated} is stated."
        result.finding = Finding(passage, kind, reason, words=values[0] if values else "")
        break
    return result


def _quotations(passage: Passage, sources: Sequence[Source]) -> Checked:
    """Quoted words, where all pages that the sentence cites were read to the end."""
    by_url = opened(sources)
    pages = [by_url.get(normalize_url(url)) for url in passage.cited]
    read = [page for page in pages if page is not None and page.whole]
    if not pages or len(read) < len(pages):
        return Checked()
    result = Checked()
    for quotation in passage.quotations:
        if not all(same_language(quotation.text, page) for page in read):
            continue
        result.points += 1
        if not any(check_quote(quotation.text, f"{page.head}\n\n{page.text}") for page in read):
            url = read[0].url
            reason = f"The quoted words do not stand on the page that is cited for them, {url}."
            result.finding = Finding(passage, "unsupported_inference", reason, url, _closest(quotation.text, read[0]))
            break
    return result


def _closest(text: str, source: Source) -> str:
    """The sentence of a page that shares most words with `text`."""
    cut = [sentence.text for sentence in sentences(source.text) if why_excluded(sentence.text) != "heading"]
    return max(cut, key=lambda sentence: overlap(text, sentence), default="")


def _pages(passage: Passage, report: str, sources: Sequence[Source], authority: Mapping[str, int]) -> Checked:
    """Amounts and dates, where pages settle them."""
    dispute = dispute_on(passage, report, sources)
    if dispute is None:
        return Checked()
    verdict = settle(dispute, authority)
    if verdict is None:
        return Checked(points=1 if dispute.agreeing or not dispute.against else 0)
    kind, word, who = verdict
    return Checked(1, Finding(passage, kind, f"{who} otherwise ({word.why}).", word.source.url, word.quote))


def _cause(passage: Passage, steps: Sequence[Step], sources: Sequence[Source]) -> Checked:
    """A cause: evidence is a stretch of a page, or of a search result, that speaks of both sides."""
    claim = passage.causal
    if claim is None:
        return Checked()
    by_url = opened(sources)
    cited = [by_url.get(normalize_url(url)) for url in (*passage.cited, *passage.near)]
    wanted = set(content_words(passage.text))
    reached = [source for source in sources if len(wanted & set(content_words(source.text))) >= ON_TOPIC]
    if len(reached) < LEAST_READ or any(source is None for source in cited):
        return Checked()  # not all that may hold the evidence was read
    found = [(nearest(claim, source.text), source) for source in reached]
    snippets = [text for step in steps if step.tool == "web_search" for text in _snippets(step.result)]
    if any(fit[0] >= COVERED for fit, _ in found) or any(nearest(claim, text)[0] >= COVERED for text in snippets):
        return Checked(points=1)
    (_, words), source = max(found, key=lambda pair: pair[0][0])
    reason = f"None of {len(reached)} pages on the matter speaks of both sides of this cause ({claim.cue!r})."
    return Checked(1, Finding(passage, "unsupported_inference", reason, source.url if words else "", words))


def _snippets(result: str) -> list[str]:
    """The excerpts of a search result, one line each, behind address and date."""
    lines = result.splitlines()
    return [lines[at + 2] for at, line in enumerate(lines[:-2]) if ADDRESS.match(line)]
