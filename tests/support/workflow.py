"""Material for tests of the workflow metrics: a made-up report, a small corpus, and a judge that answers by claim.

`Answers` scripts every question kind of Factuality and Citation Integrity. What it was asked is kept in `asked`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dreambench.config.locations import bundled
from dreambench.engine.gateway import Gateway
from dreambench.judges.kinds import Context
from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.tools.toolset import CorpusTools

SHELF = RubricShelf([bundled("rubrics")])
POSITIVE = {"confirming": ("supported", "partially_supported"), "contradicting": ("contradicted",)}
SILENT = {"confirming": "unsupported", "contradicting": "neutral"}


def corpus(gateway: Gateway, folder: Path, pages: Sequence[Mapping[str, Any]]) -> CorpusTools:
    """Tools over these pages."""
    path = folder / "pages.jsonl"
    path.write_text("\n".join(json.dumps(page) for page in pages), encoding="utf-8")
    return CorpusTools(gateway=gateway, path=path)


def page(url: str, text: str, published: str | None = "2024-05-01") -> dict[str, Any]:
    return {"url": url, "title": f"Title of {url}", "published": published, "text": text}


@dataclass
class Answers:
    """`claims`: (claim, quote) pairs that extraction gives. `verdicts`: claim -> label; (claim, url) -> label for one page.

    `queries`: claim -> queries, where a test wants other ones than three made up. Quotes are the first words of a passage.
    """

    claims: Sequence[tuple[str, str]]
    verdicts: Mapping[Any, str]
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, rubric: Rubric, context: Context, repeat: int) -> dict[str, Any]:
        given = context.model_dump()
        self.asked.append((rubric.name, given))
        if rubric.kind.name == "extract_claims":
            return {"claims": [{"claim": c, "quote": q} for c, q in self.claims if q in given["report"]]}
        if rubric.kind.name == "queries":
            made = [f"{word} {given['claim'].split()[0]}" for word in ("official", "common", "doubted")]
            return {"queries": self.queries.get(given["claim"], made[: given["count"]])}
        return self._verdict(rubric.name, given["claim"], given["passages"])

    def _verdict(self, question: str, claim: str, passages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        first = passages[0]
        label = self.verdicts.get((claim, first["url"]), self.verdicts.get(claim, "unverifiable"))
        if question in POSITIVE and label not in POSITIVE[question]:
            label = SILENT[question]
        silent = label in ("unsupported", "neutral", "unverifiable")
        quote = "" if silent else " ".join(first["text"].split()[:4])
        return {"reason": f"{question}: {label}", "passage": "" if silent else first["id"], "quote": quote, "label": label}

    def times(self, question: str) -> int:
        return sum(name == question for name, _ in self.asked)
