"""Reading pages on the network: robots.txt, redirects one by one, and every page stored once by its content.

Each hop is one leaf call (`page.fetch`), each site's robots.txt another; neither depends on who asks or as of when. The
page itself is stored under its own hash (`page.snapshot`), in the same store as every answer: a run can be judged again
from what is stored, without a request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.clock import Clock
from dreambench.engine.gateway import Gateway
from dreambench.errors import CacheMissError
from dreambench.tools.extract import VERSION, decode, extract
from dreambench.tools.fetch import PDF, Fetched, fetch, trouble
from dreambench.tools.guard import Guard, PageRefused, Resolve, Target
from dreambench.tools.page import Page
from dreambench.tools.politeness import Politeness
from dreambench.tools.results import Reason, Visit, page_from_json, page_to_json
from dreambench.tools.robots import DISALLOWED, LONGEST, Robots
from dreambench.tools.settings import PRODUCT, PageSettings
from dreambench.tools.walls import refused_status

_ROBOTS_SECONDS = 15.0


class _Lost(Exception):
    """A stored fetch names a page that is not stored."""


class PageReader:
    """Reads pages within `settings`; `allow_private` are the `host:port` pairs that may be private addresses."""

    def __init__(
        self,
        *,
        gateway: Gateway,
        settings: PageSettings,
        allow_private: Sequence[str] = (),
        resolve: Resolve | None = None,
    ) -> None:
        self._gateway = gateway
        self._settings = settings
        self._guard = Guard(allow_private, resolve)
        self._clock = Clock()
        self._turns = Politeness(settings.per_host, settings.delay, self._clock)
        self._robots: dict[str, Robots] = {}
        self._unstored: dict[str, Page] = {}

    async def visit(self, url: str) -> Visit:
        """The page at `url` as it is now, or why it cannot be read. Raises ProviderError for our own trouble."""
        hop = url
        for _ in range(self._settings.redirects + 1):
            try:
                target = self._guard.target(hop)
                if self._settings.robots and not (await self._rules(target)).allows(target.url):
                    raise PageRefused(Reason.ROBOTS, f"robots.txt of {target.host}")
            except PageRefused as refused:
                return Visit(url, None, refused.reason.value, refused.detail, final_url=hop)
            visit, location = await self._hop(target)
            if location is None:
                return replace(visit, url=url)
            hop = urljoin(target.url, location)
        return Visit(url, None, Reason.DEAD.value, f"more than {self._settings.redirects} redirects", final_url=hop)

    async def _hop(self, target: Target) -> tuple[Visit, str | None]:
        """One request: what it gave, or where it redirects."""
        body = {"url": target.url, "max_bytes": self._settings.max_bytes, "version": VERSION}
        call = Call("tools", target.host, "page.fetch", body, role="tools", metered=False)
        reply = await self._gateway.call(call, lambda: self._fetch(target))
        try:
            return await self._stored(reply)
        except _Lost:
            await self._gateway.forget([call])  # the process ended between the two, or the store was thinned out
        try:
            return await self._stored(await self._gateway.call(call, lambda: self._fetch(target)))
        except _Lost as error:
            raise CacheMissError(f"the stored page of {target.url} is gone, its fetch is still there") from error

    async def _stored(self, reply: Reply) -> tuple[Visit, str | None]:
        record = json.loads(reply.answer)
        location, snapshot = record.pop("location"), record.pop("snapshot")
        page = await self._snapshot(snapshot) if snapshot else None
        return Visit(page=page, **record), location

    async def _snapshot(self, sha256: str) -> Page | None:
        """The page with this hash, stored now when it was just read."""

        async def send() -> Reply:
            page = self._unstored.get(sha256)
            if page is None:
                raise _Lost(sha256)
            return Reply(answer=canonical_json(page_to_json(page)), model="page.snapshot", cost=0.0)

        call = Call("tools", "snapshots", "page.snapshot", {"sha256": sha256}, role="tools", metered=False)
        try:
            reply = await self._gateway.call(call, send)
        finally:
            self._unstored.pop(sha256, None)
        return page_from_json(json.loads(reply.answer))

    async def _fetch(self, target: Target) -> Reply:
        """One attempt at one URL, as a reply: its outcome, without the page's text."""
        record: dict[str, Any] = {"url": target.url, "final_url": target.url, "location": None, "snapshot": None}
        record |= {"reason_code": Reason.OK.value, "detail": "", "status": 0, "media": ""}
        record["fetched"] = self._clock.now().isoformat(timespec="seconds")
        delay = self._robots[target.origin].delay if target.origin in self._robots else 0.0
        try:
            async with self._turns.turn(target.host, delay):
                fetched = await self._get(target, self._settings.seconds, self._settings.max_bytes)
            record |= {"status": fetched.status, "location": fetched.location}
            if fetched.location is None:
                record |= await self._content(target, fetched)
        except PageRefused as refused:
            record |= {"reason_code": refused.reason.value, "detail": refused.detail}
        return Reply(answer=canonical_json(record), model="page.fetch", cost=0.0)

    async def _content(self, target: Target, fetched: Fetched) -> Mapping[str, Any]:
        if fetched.status >= 400:
            beginning = decode(fetched.body, fetched.headers)
            if found := refused_status(fetched.status, fetched.headers, beginning):
                raise PageRefused(*found)
            if error := trouble(target.host, fetched):
                raise error
        if fetched.status not in (200, 203):  # 202 is how some robot checks answer
            raise PageRefused(Reason.UNSUPPORTED, f"HTTP {fetched.status}")
        page = await asyncio.to_thread(extract, fetched, target.url, self._clock.today())
        self._unstored[page.snapshot] = page
        return {"snapshot": page.snapshot, "media": "pdf" if fetched.media == PDF else "text"}

    async def _get(self, target: Target, seconds: float, max_bytes: int) -> Fetched:
        agent = self._settings.user_agent
        return await fetch(target, self._guard, user_agent=agent, seconds=seconds, max_bytes=max_bytes)

    async def _rules(self, target: Target) -> Robots:
        """The site's robots.txt, asked for once per run and kept like every answer."""
        if target.origin not in self._robots:
            body = {"origin": target.origin}
            call = Call("tools", target.host, "page.robots", body, role="tools", metered=False)
            record = json.loads((await self._gateway.call(call, lambda: self._fetch_robots(target.origin))).answer)
            self._robots[target.origin] = _rules(record["status"], record["text"])
        return self._robots[target.origin]

    async def _fetch_robots(self, origin: str) -> Reply:
        """A site that cannot be reached for its robots.txt cannot be read either: trouble of ours, RFC 9309 2.3.1.4."""
        hop, status, text = f"{origin}/robots.txt", 404, ""
        try:
            for _ in range(self._settings.redirects + 1):
                target = self._guard.target(hop)
                async with self._turns.turn(target.host):
                    fetched = await self._get(target, _ROBOTS_SECONDS, 10 * LONGEST)
                if error := trouble(target.host, fetched):
                    raise error
                if fetched.location is None:
                    status, text = fetched.status, decode(fetched.body, fetched.headers) if fetched.status == 200 else ""
                    break
                hop = urljoin(hop, fetched.location)
        except PageRefused:
            pass  # no host, no text: no rules; the page's own request tells what is wrong
        return Reply(answer=canonical_json({"status": status, "text": text}), model="page.robots", cost=0.0)


def _rules(status: int, text: str) -> Robots:
    """401 and 403 keep programs out; a file that is not there forbids nothing."""
    if status in (401, 403):
        return DISALLOWED
    return Robots.parse(text, PRODUCT)
