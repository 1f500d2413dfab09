"""`select_tools`: which of the tools on offer a piece of research needs."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from dreambench.judges import kinds


class Context(kinds.Context):
    """`tools` maps names to descriptions; where `one_of` names tools, at least one of them is needed."""

    question: str
    as_of: str | None
    tools: dict[str, str] = Field(min_length=1)
    one_of: list[str] = Field(default_factory=list)


class Answer(kinds.Answer):
    """The chosen tools."""

    reason: str = Field(min_length=1, description="One or two sentences: what has to be found out, and how.")
    tools: list[str] = Field(min_length=1, description="The names of the tools that are needed, without those that are not.")

    @field_validator("tools")
    @classmethod
    def _are_on_offer(cls, tools: list[str], info: ValidationInfo) -> list[str]:
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and isinstance(reading.context, Context):
            if unknown := [name for name in tools if name not in reading.context.tools]:
                raise ValueError(f"there is no tool {unknown[0]!r}; the tools are {', '.join(reading.context.tools)}")
            needed = reading.context.one_of
            if needed and not set(needed) & set(tools):
                raise ValueError(f"facts have to be found on pages: choose {' or '.join(needed)} as well")
        return tools


KIND = kinds.Kind("select_tools", "which tools a piece of research needs", Context, Answer)
