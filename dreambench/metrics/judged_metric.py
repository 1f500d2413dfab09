"""What metrics that put rubrics to judges have in common, and those that can take saved results instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from dreambench.judges.rubric import Rubric, RubricShelf
from dreambench.metrics.metric import Metric, MissingPolicy


class JudgedMetric(Metric):
    """A metric that asks `asked`: rubrics under the names that the metric has for them, all in one wording."""

    def __init__(
        self,
        *,
        name: str,
        shelf: RubricShelf,
        asked: Mapping[str, str],
        rubric: str,
        repeats: int,
        missing_policy: MissingPolicy,
    ) -> None:
        """`asked` maps those names to rubrics without their variant (`race/scores`); `rubric` is the variant of all."""
        super().__init__(name=name, shelf=shelf, missing_policy=missing_policy)
        self.repeats = repeats
        self.wording = rubric
        self.asked = {question: shelf.load(f"{path}.{rubric}") for question, path in asked.items()}

    @property
    def rubric_variant(self) -> str:
        """The wording, and what else tells two nodes apart: `default`, `default,chunk=25`."""
        return ",".join([self.wording, *self.distinctions()])

    def distinctions(self) -> Sequence[str]:
        """What tells this node from another of the same metric and wording, in every table."""
        return []

    def rubrics(self) -> Sequence[Rubric]:
        return list(self.asked.values())

    def identity(self) -> Mapping[str, Any]:
        return {"metric": self.id, "version": self.version, "missing_policy": self.missing_policy.value}

    def rubric_hashes(self) -> list[str]:
        """SHA-256 of each rubric that may be asked, in their order."""
        return [rubric.sha256 for rubric in self.rubrics()]


class Saved(Protocol):
    """What was read of saved results; `sha256` is of the file's bytes."""

    @property
    def sha256(self) -> str:
        """Of the file's bytes, in hexadecimal digits."""


S = TypeVar("S", bound=Saved)


class SavedMetric(JudgedMetric, Generic[S]):
    """A judged metric that takes, where they are given, the results that its benchmark's own evaluator or people saved.

    Code then does all there is to do: nobody is asked, and no rubric plays a part.
    """

    saved_variant: ClassVar[str] = "saved"
    """What stands for the rubric variant of saved results in every table."""

    def __init__(self, *, saved: S | None, **judged: Any) -> None:
        super().__init__(**judged)
        self._saved = saved
        if saved is not None:
            self.evaluator = "code"  # type: ignore[misc]

    @property
    def rubric_variant(self) -> str:
        return super().rubric_variant if self._saved is None else self.saved_variant

    def rubrics(self) -> Sequence[Rubric]:
        return super().rubrics() if self._saved is None else []

    def identity(self) -> Mapping[str, Any]:
        """Of saved results it holds their hash; what is asked, and how, a metric adds itself where there are none."""
        return {**super().identity(), **({"saved": self._saved.sha256} if self._saved is not None else {})}
