"""The judge shell: finds the module that answers a kind, runs it in a thread, behind the gateway like every other call.

An answering module is named like its kind and defines `refusal(settings) -> str | None` and
`answer(settings, context) -> dict`. It is found by name; a kind without a module is refused before the run.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from dreambench.engine.call import Call, Reply, canonical_json
from dreambench.engine.compute import compute
from dreambench.engine.gateway import Gateway
from dreambench.errors import RubricError
from dreambench.judges.judge import Judge
from dreambench.judges.kinds import Answer, Context, Reading, kind_names
from dreambench.judges.rubric import Rubric

_SOURCES = ("judges/embedded", "judges/kinds", "judges/keyed.py", "judges/quotes.py", "language", "documents")


class EmbeddedJudge(Judge):
    """A real but weak baseline: the same text always gets the same answer, and every answer says what it rests on."""

    note = "weak baseline: deterministic language processing, not a language model"
    answering: ClassVar[str] = "dreambench.judges.embedded"
    """The package with the answering modules."""
    libraries: ClassVar[tuple[str, ...]] = ("rapidfuzz", "sentencex", "tldextract")
    """Packages whose version can change an answer."""

    def __init__(self, *, name: str, gateway: Gateway) -> None:
        super().__init__(name=name, gateway=gateway)

    @property
    def version(self) -> str:
        """Hash of all code that answers and of the libraries' versions, so that changed code never meets old answers."""
        return _version(self.libraries)

    @property
    def kind(self) -> str:
        """The package that answers, by its last name: `embedded`, `semantic`."""
        return self.answering.rpartition(".")[2]

    def identity(self) -> Mapping[str, Any]:
        return {"judge": self.kind, "version": self.version}

    def refusal(self, rubric: Rubric) -> str | None:
        module = find_answers(self.answering, rubric.kind.name)
        if module is None:
            return f"it has no rules for questions of kind {rubric.kind.name}"
        try:
            why: str | None = module.refusal(rubric.settings)
        except RubricError as error:
            return str(error)
        return why

    async def answer(self, rubric: Rubric, context: Context, *, repeat: int, role: str) -> Answer:
        """The answer of the kind's rules; free, and the same for every repeat."""
        model = rubric.kind.answer_model(rubric.settings, context)
        given = context.model_dump(mode="json")
        body = {"kind": rubric.kind.name, "rubric": rubric.sha256, "settings": dict(rubric.settings), "context": given}
        requested = f"{self.kind}-{self.version}"
        call = Call("embedded", "embedded", requested, body, role, repeat, metered=False)

        async def send() -> Reply:
            text = await compute(self._answer_text, rubric, context)
            return Reply(text, model=requested, cost=0.0)

        reply = await self.gateway.call(call, send)
        return model.model_validate_json(reply.answer, context=Reading(context)).with_cost(0.0)

    def _answer_text(self, rubric: Rubric, context: Context) -> str:
        module = find_answers(self.answering, rubric.kind.name)
        assert module is not None
        return canonical_json(module.answer(rubric.settings, context))


@cache
def find_answers(package: str, kind: str) -> ModuleType | None:
    """The module of `package` that answers `kind`, None when there is none."""
    if kind not in kind_names() or importlib.util.find_spec(f"{package}.{kind}") is None:
        return None
    return importlib.import_module(f"{package}.{kind}")


def _sources(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in (".py", ".yaml")]


@cache
def _version(libraries: tuple[str, ...]) -> str:
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for source in _SOURCES:
        place = root / source
        for path in sorted(_sources(place)) if place.is_dir() else [place]:
            digest.update(hashlib.sha256(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes()).digest())
    for library in libraries:
        digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    return digest.hexdigest()[:12]
