"""`queries`: neutral search queries for a claim. They ask for the topic or the quantity and never repeat the claimed value,
because a query that holds the value finds pages that repeat it, right or wrong.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import Field, PositiveInt, ValidationInfo, field_validator

from dreambench.judges import kinds

if TYPE_CHECKING:
    from dreambench.language.quantities import Quantity


class Context(kinds.Context):
    """`question` is the task's query, `count` the number of queries wanted."""

    claim: str
    question: str
    as_of: str | None
    count: PositiveInt = 3


class Answer(kinds.Answer):
    """Search queries, the most promising first."""

    queries: list[str] = Field(
        min_length=1,
        description="Search queries that ask for the topic or the quantity of the claim in different words. None states the "
        "claimed value (the number, name or date that is to be checked).",
    )

    @field_validator("queries")
    @classmethod
    def _are_neutral(cls, queries: list[str], info: ValidationInfo) -> list[str]:
        if blank := [query for query in queries if not query.strip()]:
            raise ValueError(f"{len(blank)} of the queries are empty")
        reading = info.context
        if isinstance(reading, kinds.Reading) and reading.strict and isinstance(reading.context, Context):
            if len(queries) > reading.context.count:
                raise ValueError(f"{len(queries)} queries are too many; keep {reading.context.count}")
            for query in queries:
                if value := repeated_value(reading.context.claim, query):
                    raise ValueError(f"the query {query!r} repeats the claimed value {value!r}; ask for it instead")
        return queries


def repeated_value(claim: str, query: str) -> str | None:
    """The amount of the claim that the query repeats; where the claim has no amount, the date. None when it is neutral."""
    from dreambench.language.comparison import same_quantity
    from dreambench.language.dates import compare_dates, find_dates

    claimed = _amounts(claim)
    if claimed:
        asked = _amounts(query)
        return next((q.text for q in asked for c in claimed if same_quantity(q, c) == "equal"), None)
    dates = find_dates(claim)
    return next((d.text for d in find_dates(query) for c in dates if compare_dates(d, c) == "same"), None)


@lru_cache(maxsize=512)
def _amounts(text: str) -> tuple[Quantity, ...]:
    """Remembered: a claim is compared with each of its queries, when they are answered and when they are used."""
    from dreambench.language.quantities import find_quantities

    return tuple(find_quantities(text))


KIND = kinds.Kind("queries", "neutral search queries for a claim", Context, Answer)
