"""What tools give back: typed for metrics, as text for a model.

`Search` and `Visit` say what was left out and why, so that nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any, Literal

from dreambench.documents.hostile import Kind, judged_text, read_hostile
from dreambench.tools.page import Page

Undated = Literal["keep", "drop"]
"""What becomes of pages without a date, when a date matters."""


class Reason(StrEnum):
    """Why a page was or was not read. All but `ok` make a claim about the page `unverifiable`; our own trouble is an error."""

    OK = "ok"
    DEAD = "dead"
    """404, 410, no such host, a redirect loop."""
    NOT_IN_CORPUS = "not_in_corpus"
    """A closed corpus holds no such page by that date; whether it is on the web was not looked up."""
    BLOCKED = "blocked"
    """A login, consent or robot check, or a refusal, instead of the page."""
    PAYWALL = "paywall"
    ROBOTS = "robots"
    """robots.txt asks programs to stay away."""
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    """Another scheme, port, content type or encoding, or a page without readable text."""
    PRIVATE_ADDRESS = "private_address"
    UNDATED = "undated"
    """The page has no date and `tools.undated=drop`."""
    NO_TOOLS = "no_tools"


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result. `published` is None where the backend knows no date."""

    url: str
    title: str
    snippet: str
    published: date | None = None

    def as_json(self) -> dict[str, Any]:
        """The hit as plain JSON, its date in ISO form."""
        return {**asdict(self), "published": self.published.isoformat() if self.published else None}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> SearchHit:
        """The hit that `as_json` wrote."""
        return cls(**{**record, "published": _date(record["published"])})


@dataclass(frozen=True, slots=True)
class Search:
    """Results, best first, and how many were left out: later than `as_of`, or without a date."""

    query: str
    hits: tuple[SearchHit, ...]
    later: int = 0
    undated: int = 0

    def as_text(self) -> str:
        """The results as a model reads them."""
        blocks = [
            f"[{number}] {hit.title}\n{hit.url}\n{'published ' + hit.published.isoformat() if hit.published else 'no date'}"
            f"\n{judged_text(hit.snippet)}"
            for number, hit in enumerate(self.hits, 1)
        ]
        left_out = [f"{n} {what}" for n, what in ((self.later, "later"), (self.undated, "undated")) if n]
        note = f"({', '.join(left_out)} left out)" if left_out else ""
        return "\n\n".join([*(blocks or ["no results"]), *([note] if note else [])])


def by_date(query: str, hits: list[SearchHit], as_of: date | None, k: int, undated: Undated) -> Search:
    """The first `k` of `hits` that were out by `as_of`; the others are counted."""
    later = [hit for hit in hits if as_of and hit.published and hit.published > as_of]
    dateless = [hit for hit in hits if as_of and undated == "drop" and hit.published is None]
    out = {id(hit) for hit in (*later, *dateless)}
    kept = [hit for hit in hits if id(hit) not in out]
    return Search(query, tuple(kept[:k]), later=len(later), undated=len(dateless))


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of opening `url`: the page, or None with the reason code.

    `possibly_later` marks a live page that was read for a past `as_of`: it may say what nobody could know then.
    `status` is the HTTP status, 0 where there was none; `fetched` is when a live page was read (ISO, UTC); `media` is
    `text` or `pdf`, whose pages are separated by form feeds.
    """

    url: str
    page: Page | None
    reason_code: str
    detail: str = ""
    final_url: str = ""
    status: int = 0
    fetched: str = ""
    media: str = ""
    possibly_later: bool = False

    def seen_from(self, as_of: date | None, undated: Undated) -> Visit:
        """The visit as it counts for `as_of`."""
        if self.page is None or as_of is None:
            return self
        if undated == "drop" and self.page.published is None:
            return replace(self, page=None, reason_code=Reason.UNDATED.value, detail="the page has no date")
        return replace(self, possibly_later=bool(self.fetched) and date.fromisoformat(self.fetched[:10]) > as_of)

    def for_model(self) -> Visit:
        """The visit as a model may read it: without hidden text and passages of the page that give orders, and saying so."""
        if self.page is None or not (judged := read_hostile(self.page.text)).passages:
            return self
        places = len([one for one in judged.passages if one.kind is not Kind.INVISIBLE])
        note = f"[left out of this page: {places} passages that hide text or give orders to its reader]\n\n" if places else ""
        return replace(self, page=replace(self.page, text=note + judged.text))

    def as_text(self, start: int = 0) -> str:
        """The page from character `start` on, under its title and date; or why there is none."""
        if self.page is None:
            return f"{self.url} cannot be read: {self.reason_code}{f' ({self.detail})' if self.detail else ''}"
        page = self.page
        lines = [page.title, self.final_url or page.url, f"published {page.published}" if page.published else "no date"]
        if self.possibly_later:
            lines.append("read today: it may say more than was known at the date of the question")
        return "\n".join([line for line in lines if line]) + "\n\n" + page.text[start:]


def page_to_json(page: Page | None) -> dict[str, Any] | None:
    """A page as plain JSON, its date in ISO form; None stays None."""
    return {**asdict(page), "published": page.published.isoformat() if page.published else None} if page else None


def page_from_json(record: Mapping[str, Any] | None) -> Page | None:
    """The page that `page_to_json` wrote."""
    return Page(**{**record, "published": _date(record["published"])}) if record else None


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
