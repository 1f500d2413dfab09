"""New part: a tool set that searches and reads pages of one's own, and has a tool of its own beside.

A tool is an async function with a typed signature; models are offered its schema, and the command line too:
`python -m dreambench tool to_kilometres 26.2 tools=new_part --config-dir my_parts/conf`. A look-up elsewhere goes through the
gateway (`self._look_up`), which caches and counts it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from dreambench.tools.tool import Tool
from dreambench.tools.toolset import CorpusTools

KILOMETRES = 1.609344
"""In an international mile, exactly."""

Miles = Annotated[float, Field(ge=0, description="a length in miles")]


class NewPart(CorpusTools):
    """Searches and reads the pages of `path`; converts miles."""

    name: ClassVar[str] = "new_part"

    def _offer(self) -> list[Tool]:
        async def to_kilometres(miles: Miles) -> str:
            return f"{miles * KILOMETRES:g} km"

        return [*super()._offer(), Tool("to_kilometres", "Converts miles to kilometres.", to_kilometres)]
