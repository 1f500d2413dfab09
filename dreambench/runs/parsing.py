"""Reports parsed off the event loop, each once while its cells are neighbours, the last few kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from dreambench.documents import Document, parse_document

KEPT = 32
"""Documents in memory: as many as reports can have open cells."""


class ParsedReports:
    """`await parsed.get(report_id)`; cells that ask for the same report at the same time share one parse."""

    def __init__(self, text_of: Callable[[str], str], keep: int = KEPT) -> None:
        self._text_of = text_of
        self._keep = keep
        self._parsed: OrderedDict[str, asyncio.Task[Document]] = OrderedDict()

    async def get(self, report_id: str) -> Document:
        """The report's document. Raises DocumentError for text that is none."""
        task = self._parsed.get(report_id)
        if task is None:
            task = asyncio.create_task(asyncio.to_thread(parse_document, self._text_of(report_id)))
            self._parsed[report_id] = task
            if len(self._parsed) > self._keep:
                self._parsed.popitem(last=False)
        self._parsed.move_to_end(report_id)
        return await asyncio.shield(task)
