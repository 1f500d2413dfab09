"""`classify_domain`: what kind of publisher stands behind a domain, and with how much authority it speaks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dreambench.judges import kinds

Category = Literal["government", "academic", "news", "commercial", "ngo", "social", "other"]


class Context(kinds.Context):
    """`about` is the text of the site's page about itself, empty where none could be read; `titles` are of cited pages."""

    domain: str
    about: str = ""
    titles: list[str] = Field(default=[])


class Answer(kinds.Answer):
    """A category and an authority score with their reason."""

    reason: str = Field(min_length=1, description="One sentence: who publishes the site and how its content is checked.")
    category: Category = Field(
        description="government: public bodies, statistical offices, central banks, intergovernmental organisations. "
        "academic: universities, research institutes, journals. news: edited press, broadcasters, agencies. "
        "commercial: companies, market research, product sites. ngo: associations, foundations, advocacy. "
        "social: forums, user-written pages, personal blogs. other: none of these."
    )
    score: int = Field(
        ge=1,
        le=10,
        description="Authority as a source of facts: 9-10 definitive (primary or official, peer-reviewed), 7-8 high (edited, "
        "known for checking), 4-6 moderate (specialised or commercial), 1-3 low (unsigned, user-written, selling).",
    )


KIND = kinds.Kind("classify_domain", "what kind of publisher stands behind a domain, and its authority", Context, Answer)
