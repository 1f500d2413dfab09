"""The items of protocols as lists: one per task and way of making; the name of the way is the "agent".

Folders of protocols made in different ways (by a model, an agent, an agent with retrieval, a person) become comparable: an
item's text says nothing about who made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from dreambench.datasets.demo import BUNDLED, DEMO, demo_file
from dreambench.datasets.listed import ListedItem, write_items
from dreambench.datasets.loader import Loader
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.errors import InputError
from dreambench.protocols.files import protocol_files, read_protocol
from dreambench.protocols.model import KicItem, Protocol, RqItem

DEMO_WAYS = {"by_hand": BUNDLED / "protocols", "embedded": demo_file(DEMO, "protocols_embedded")}
"""The demo's own protocols, and those that the embedded judge makes of the same pages (key facts only)."""


@dataclass(frozen=True, kw_only=True)
class ProtocolItemsDataset(Loader):
    """`folders` maps a way of making to its folder of protocols, or is `demo`; `part` says which items are taken."""

    title: ClassVar[str] = "protocol_items"

    folders: dict[str, Path] | Literal["demo"] | None = None
    part: Literal["kic", "rq"] = "kic"

    def read(self, problems: Problems) -> Material:
        material = Material(self.title, listed="dataset.folders")
        if not self.folders:
            make = "python -m dreambench protocol create --out protocols/llm protocol.creator=llm judge=..."
            what = "names no folder of protocols; make one for each way of making, then name them"
            problems.add(
                "dataset.folders", None, what, ["'dataset.folders={llm: protocols/llm, agent: protocols/agent}'"], make
            )
        folders = DEMO_WAYS if isinstance(self.folders, str) else self.folders or {}
        for way, folder in folders.items():
            try:
                for file in protocol_files(folder.expanduser()):
                    _add(material, way, file, read_protocol(file), self.part)
            except InputError as error:
                for problem in error.problems:
                    problems.add(problem.where, None, problem.what, problem.allowed, problem.type)
        return material


def _add(material: Material, way: str, file: Path, protocol: Protocol, part: Literal["kic", "rq"]) -> None:
    """The protocol's items to the task that asks its query; the first protocol of a query names the task."""
    task = material.join(None, protocol.query, str(file))
    if task is None:
        task = file.stem.removesuffix(f"-{protocol.content_hash()}")
        material.add_task(task, protocol.query, str(file), as_of=protocol.as_of)
    items = kic_items(protocol.kic) if part == "kic" else rq_items(protocol.rq)
    if items:
        material.add_report(task, way, write_items(items), str(file))


def kic_items(items: Sequence[KicItem]) -> list[ListedItem]:
    """Question, fact, and the page with the words that it rests on."""
    return [
        ListedItem(
            id=item.id, text="\n".join([item.question, f"Fact: {item.fact}", *([f"{item.url}: {item.quote}"] * bool(item.url))])
        )
        for item in items
    ]


def rq_items(items: Sequence[RqItem]) -> list[ListedItem]:
    """Question and the three parts of its plan."""
    texts = {}
    for item in items:
        checks = "; ".join(f"{check.what} ({', '.join(check.tools)})" for check in item.plan.verify)
        plan = [f"Extract: {item.plan.extract}", f"Verify: {checks}", f"Compare: {'; '.join(item.plan.criteria)}"]
        texts[item.id] = "\n".join([item.question, *plan])
    return [ListedItem(id=name, text=text) for name, text in texts.items()]
