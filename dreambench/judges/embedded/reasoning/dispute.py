"""Who is right where pages contradict a sentence of a report: its own source, several sites, or one that is known to check.

Pages are wrong too. A page alone contradicts nothing unless the report cites it or its publisher says of itself that it
checks what it prints; pages that say the same as the report are believed unless they are older, or nobody checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from dreambench.documents import normalize_url
from dreambench.judges.embedded.reasoning.passage import Passage
from dreambench.judges.embedded.reasoning.source import Source, Word, words_on
from dreambench.judges.kinds.deductions import DeductionKind
from dreambench.language.statements import analyse

SITES = 2
"""Sites that outweigh what is not known of each of them."""
CHECKED, UNCHECKED = 6, 3
"""Least authority (1-10) of a publisher that checks, and most of one that does not."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """What pages say about a passage: `against` has the newest first, `own` those of them that the passage cites."""

    passage: Passage
    against: tuple[Word, ...]
    agreeing: tuple[Word, ...]
    own: tuple[Word, ...]


def dispute_on(passage: Passage, report: str, sources: Sequence[Source]) -> Dispute | None:
    """What the pages say, None where the passage gives no figure or no page says anything of it."""
    said = words_on(passage.text, sources, report) if passage.countable else []
    against = sorted((word for word in said if word.stand == "against"), key=lambda word: word.source.published, reverse=True)
    agreeing = tuple(word for word in said if word.stand == "for")
    if not against and not agreeing:
        return None
    cited = {normalize_url(url) for url in passage.cited}
    own = tuple(word for word in against if normalize_url(word.source.url) in cited)
    return Dispute(passage, tuple(against), agreeing, own)


def settle(dispute: Dispute, authority: Mapping[str, int]) -> tuple[DeductionKind, Word, str] | None:
    """Which deduction the pages carry, the word that it rests on, and who says so; None where they carry none."""
    checked = [word for word in dispute.against if authority.get(word.source.site, 0) >= CHECKED]
    sites = {word.source.site for word in dispute.against}
    believed = [word for word in dispute.agreeing if authority.get(word.source.site, UNCHECKED + 1) > UNCHECKED]
    if not dispute.agreeing and dispute.own:
        return "refuted_step", dispute.own[0], "The report's own source says"
    if not believed and checked:
        return "refuted_step", checked[0], "A page that is checked says"
    if not believed and len(sites) >= SITES:
        return "refuted_step", dispute.against[0], f"{len(sites)} sites say"
    weighty = checked or (list(dispute.against) if len(sites) >= SITES else [])
    if weighty and _superseded(dispute, weighty):
        return "ignored_counter_evidence", weighty[0], "A page that is later than all that agree says"
    return None


def _superseded(dispute: Dispute, weighty: Sequence[Word]) -> bool:
    """Whether all that agree came out before what contradicts; what a sentence says of a date of its own stays true."""
    dates = [word.source.published for word in dispute.agreeing]
    undated = not analyse(dispute.passage.text).dates
    return undated and all(dates) and max(dates) < min(word.source.published for word in weighty)


def unknown_sites(disputes: Sequence[Dispute]) -> list[Source]:
    """A page of each site whose word would decide a dispute: one that contradicts, then one that agrees, and so on."""
    open_ones = [dispute for dispute in disputes if dispute.against and not (dispute.own and not dispute.agreeing)]
    words = [pair for dispute in open_ones for pair in zip_longest(dispute.against, dispute.agreeing)]
    return list({word.source.site: word.source for pair in words for word in pair if word}.values())
