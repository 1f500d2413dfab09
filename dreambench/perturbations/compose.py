"""A composition: several perturbations one after the other as one arm, with one log that maps back to the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from dreambench.documents import Document, parse_document
from dreambench.errors import ConfigError, Problem
from dreambench.judges.judge import Judge
from dreambench.judges.rubric import RubricShelf
from dreambench.perturbations.edits import EditLog, Perturbed, Role, chain
from dreambench.perturbations.perturbation import Perturbation, Source, Unit
from dreambench.records import Report, Task
from dreambench.tools.corpus import Corpus


class Compose(Perturbation):
    """The steps in order. `dose` and `seed`, where given, are those of every step; `keys` sets keys of single steps."""

    id: ClassVar[str] = "compose"
    kind: ClassVar[Role] = "flaw"

    def __init__(
        self,
        *,
        steps: list[str],
        members: Sequence[Perturbation] = (),
        dose: float | None = 1.0,
        seed: int | None = 0,
        keys: dict[str, dict[str, Any]] | None = None,
        name: str = "",
        shelf: RubricShelf | None = None,
    ) -> None:
        """`members` are the built steps (see `arms`). Raises ConfigError for a composition without a step."""
        super().__init__(dose=1.0 if dose is None else dose, seed=seed or 0, name=name, shelf=shelf)
        if not members or len(members) != len(steps):
            where = f"perturbation.{self.name}.steps"
            raise ConfigError(Problem(where, "names no step", type=f"{where}=[factual_injection,citation_style]"))
        self.members = list(members)
        if any(member.author == "llm" for member in self.members):
            self.author = "llm"

    def settings(self) -> Mapping[str, Any]:
        return {"steps": [dict(member.identity()) for member in self.members]}

    def units(self, source: Source) -> list[Unit]:
        """None of its own: the steps have theirs."""
        return []

    async def apply(
        self, task: Task, report: Report, document: Document, corpus: Corpus | None = None, judge: Judge | None = None
    ) -> Perturbed:
        """The report after the last step. `eligible` and `changed` are sums over the steps, `met` their quotient."""
        current, logs = report, []
        for member in self.members:
            parsed = document if current is report else parse_document(current.text)
            done = await member.apply(task, current, parsed, corpus, judge)
            logs.append(done.log)
            current = done.report
        return Perturbed(current, self._log(report.text, current.text, logs))

    def _log(self, text: str, final: str, logs: Sequence[EditLog]) -> EditLog:
        edits, middle = logs[0].edits, _after(text, logs[0])
        for log in logs[1:]:
            middle = _after(middle, log)
            edits = chain(text, middle, edits, log.edits)
        assert middle == final
        eligible, changed = sum(log.eligible for log in logs), sum(log.changed for log in logs)
        role: Role = "flaw" if any(log.role == "flaw" for log in logs) else "placebo"
        notes = "; ".join(f"{log.kind}: {log.note}" for log in logs if log.note)
        return EditLog(
            self.id, role, self.dose, changed / eligible if eligible else 0.0, self.seed, self.author,
            eligible, changed, edits, notes, tuple(logs),
        )  # fmt: skip


def _after(text: str, log: EditLog) -> str:
    from dreambench.perturbations.edits import replay

    return replay(text, log)
