"""Whether the words that a protocol quotes stand on the pages that it names."""

from __future__ import annotations

from dreambench.judges.quotes import check_quote
from dreambench.protocols.model import Protocol
from dreambench.tools.toolset import NoTools


async def misquoted(protocol: Protocol, tools: NoTools) -> list[tuple[int, str]]:
    """Number and trouble of every key fact whose words `tools` do not find on its page."""
    found = []
    for number, item in enumerate(protocol.kic):
        if not item.url:
            continue
        visit = await tools.page_visit(item.url, protocol.as_of)
        if visit.page is None:
            found.append((number, f"{item.url} cannot be read: {visit.reason_code}"))
        elif check_quote(item.quote, visit.page.text) is None:
            found.append((number, f"does not stand on {item.url}"))
    return found
