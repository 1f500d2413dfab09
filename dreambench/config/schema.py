"""The composed configuration as pydantic models, because Hydra accepts `+judge.temprature=1` in silence.

Groups whose options are classes (`_target_`) are validated against their constructors in `nodes`; what is plain settings
is a model here. Unknown keys are errors everywhere, and all errors are reported at once.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveFloat, PositiveInt

from dreambench.config.nodes import AllowedError
from dreambench.engine.store import CacheMode
from dreambench.tools.settings import PageSettings

Node = dict[str, Any]
"""One option of a group of classes: `_target_` and its constructor's keys."""


def _iso_date(value: object) -> object:
    """One message for what is neither a date nor `today`, where a union would give one for each."""
    if value is not None and value != "today" and not isinstance(value, date):
        try:
            return date.fromisoformat(str(value))
        except ValueError as error:
            raise AllowedError("a date is needed", ["a date as YYYY-MM-DD, such as 2025-06-30", "today"]) from error
    return value


class Settings(BaseModel):
    """A node of the configuration: unknown keys are errors, values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class BudgetSettings(Settings):
    """What a run, or one cell of it, may spend; null is without limit."""

    money: PositiveFloat | None = None
    tokens: PositiveInt | None = None
    calls: PositiveInt | None = None
    seconds: PositiveFloat | None = None


class RetrySettings(Settings):
    """How long trouble is waited out; see `dreambench.engine.retry.RetryPolicy`."""

    attempts: PositiveInt = 6
    seconds: PositiveFloat = 600.0
    base: PositiveFloat = 1.0
    longest: PositiveFloat = 60.0


class EngineSettings(Settings):
    """Who judges: this process (`local`), or `workers` (null: one per core) that are processes of this machine or Ray actors.
    Concurrency per account (adaptive between `start` and `most` calls in flight), retries and budgets of all together.

    `address` is a Ray cluster's (null: the one of RAY_ADDRESS, or a new one on this machine), `cpus` what each actor reserves.
    `telemetry` sends OpenTelemetry spans to where the OTEL_EXPORTER_OTLP variables say (`engine.spans`).
    """

    kind: Literal["local", "processes", "ray"] = "local"
    workers: PositiveInt | None = 1
    address: str | None = None
    cpus: PositiveFloat = 1.0
    start: PositiveInt = 8
    most: PositiveInt = 64
    telemetry: Literal["otlp"] | None = None
    retry: RetrySettings = RetrySettings()
    budget: BudgetSettings = BudgetSettings()
    cell_budget: BudgetSettings = BudgetSettings()


class CacheSettings(Settings):
    """How stored answers are used."""

    mode: CacheMode = CacheMode.READWRITE


class PathSettings(Settings):
    """Where a run writes, where answers are cached, and folders of the user's own rubrics (searched first)."""

    outputs: Path = Path("outputs")
    cache: Path = Path(".dreambench/cache")
    rubrics: list[Path] = []


class RunConfig(Settings):
    """Everything that a run needs, validated. Groups of classes are still nodes."""

    dataset: Node
    judge: dict[str, Node] = Field(min_length=1)
    metric: dict[str, Node] = Field(min_length=1)
    perturbation: dict[str, Node] = {}
    tools: Node
    protocol: Node
    engine: EngineSettings
    cache: CacheSettings
    paths: PathSettings
    page: PageSettings = PageSettings()
    seed: int = Field(default=0, ge=0)
    as_of: Annotated[date | Literal["today"] | None, BeforeValidator(_iso_date)] = None
    study: str | None = None
    study_inputs: dict[str, Any] = {}
    traceback: bool = False

    @property
    def run_date(self) -> date | None:
        """`as_of` once `today` has become a date (see `runs.assembly.validate`)."""
        return None if self.as_of == "today" else self.as_of
