"""The tool sets of the network: pages and PDFs, arXiv, GitHub, and in the subclasses one search service each.

A tool set is a dataclass whose fields are its config keys. Pages are read politely and guarded (`reader`, `guard`);
services are asked at the address of their option, which is not subject to the guard.
"""

# The annotations stay real objects here (no `from __future__ import annotations`): subclasses in other modules inherit
# these fields, and their constructors' hints are resolved in those modules.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dreambench.engine.gateway import Gateway
from dreambench.errors import Problem
from dreambench.tools.arxiv import ARXIV, Arxiv
from dreambench.tools.extract import PAGE_BREAK
from dreambench.tools.github import GITHUB, Github
from dreambench.tools.reader import PageReader
from dreambench.tools.results import Reason, Search, Undated, Visit
from dreambench.tools.settings import PageSettings
from dreambench.tools.tool import Tool
from dreambench.tools.toolset import Hits, K, Query, SearchingTools, Url

FirstPage = Annotated[int, Field(ge=1, description="the first page to read")]
Pages = Annotated[int, Field(ge=1, le=50, description="how many pages")]
Repository = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$", description="owner/name")]
FilePath = Annotated[str, Field(max_length=500, description="a file's path; empty for the README")]


@dataclass(kw_only=True, eq=False)
class WebTools(SearchingTools):
    """Pages, PDFs, arXiv and GitHub; no web search."""

    name: ClassVar[str] = "pages"

    gateway: Gateway
    page: PageSettings = field(default_factory=PageSettings)
    undated: Undated = "keep"
    allow_private: list[str] = field(default_factory=list)
    arxiv_url: str = ARXIV
    github_url: str = GITHUB

    def __post_init__(self) -> None:
        super().__init__(gateway=self.gateway, undated=self.undated)

    def identity(self) -> Mapping[str, Any]:
        return {
            "tools": self.name,
            "undated": self.undated,
            "allow_private": sorted(self.allow_private),
            "page": dict(self.page.identity()),
            "arxiv": self.arxiv_url,
            "github": self.github_url,
        }

    def needs(self) -> Sequence[Problem]:
        return self.page.needs()

    @cached_property
    def reader(self) -> PageReader:
        """What reads pages; made when first used."""
        return PageReader(gateway=self.gateway, settings=self.page, allow_private=self.allow_private)

    @cached_property
    def _arxiv(self) -> Arxiv:
        return Arxiv(self._look_up, self.arxiv_url, self.page.user_agent)

    @cached_property
    def _github(self) -> Github:
        return Github(self._look_up, self.github_url, self.page.user_agent)

    async def page_visit(self, url: str, as_of: date | None) -> Visit:
        """The page as it is today; for a past `as_of` it is marked `possibly_later`."""
        return (await self.reader.visit(url)).seen_from(as_of, self.undated)

    async def pdf_fetch(self, url: str, as_of: date | None, first: int = 1, pages: int = 5) -> Visit:
        """Some pages of a PDF, counted from 1."""
        visit = await self.page_visit(url, as_of)
        if visit.page is None:
            return visit
        if visit.media != "pdf":
            return replace(visit, page=None, reason_code=Reason.UNSUPPORTED.value, detail="not a PDF; read it with page_visit")
        every = visit.page.text.split(PAGE_BREAK)
        chosen = every[first - 1 : first - 1 + pages]
        head = (
            f"[pages {first} to {first + len(chosen) - 1} of {len(every)}]\n" if chosen else f"[there are {len(every)} pages]"
        )
        return replace(visit, page=replace(visit.page, text=head + "\n\n".join(chosen)))

    async def arxiv(self, query: str, as_of: date | None, k: int = K) -> Search:
        """Preprints on arXiv that were out by `as_of`, each with the beginning of its abstract."""
        return await self._arxiv.search(query, as_of, k)

    async def github_search(self, query: str, as_of: date | None, k: int = K) -> Search:
        """Repositories on GitHub that were there by `as_of`."""
        return await self._github.search(query, as_of, k)

    async def github_file(self, repository: str, path: str = "") -> str:
        """A file of a repository as it is today, or its README."""
        return await self._github.file(repository, path)

    def _offer(self) -> list[Tool]:
        async def pdf_fetch(url: Url, as_of: date | None, first: FirstPage = 1, pages: Pages = 5) -> Visit:
            return await self.pdf_fetch(url, as_of, first, pages)

        async def arxiv(query: Query, as_of: date | None, k: Hits = K) -> Search:
            return await self.arxiv(query, as_of, k)

        async def github_search(query: Query, as_of: date | None, k: Hits = K) -> Search:
            return await self.github_search(query, as_of, k)

        async def github_file(repository: Repository, path: FilePath = "") -> str:
            return await self.github_file(repository, path)

        offered = [tool for tool in super()._offer() if tool.name != "web_search" or self._can_search]
        return [
            *offered,
            Tool("pdf_fetch", "Reads some pages of a PDF.", pdf_fetch),
            Tool("arxiv", "Searches preprints on arXiv.", arxiv),
            Tool("github_search", "Searches repositories on GitHub.", github_search),
            Tool("github_file", "Reads a file of a GitHub repository as it is today.", github_file),
        ]

    @property
    def _can_search(self) -> bool:
        return False
