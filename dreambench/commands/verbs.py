"""What verbs that are no run need of one: a checked configuration from overrides, and a gateway without a journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from dreambench.config.schema import RunConfig
from dreambench.engine.gateway import Gateway


def configure(overrides: Sequence[str]) -> RunConfig:
    """The validated configuration that `overrides` (and --config-dir) compose. Raises ConfigError in our words."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from dreambench.config.compose import compose, split_flags
    from dreambench.config.explain import explain
    from dreambench.engine.clock import Clock
    from dreambench.runs.assembly import validate

    try:
        return validate(compose(*split_flags(overrides)), Clock())
    except (HydraException, OmegaConfBaseException) as error:
        raise explain(error, overrides) from error


@contextmanager
def open_gateway(config: RunConfig) -> Iterator[Gateway]:
    """A run's gateway without the run: answers lie in the shared cache, nothing is journalled."""
    from dreambench.engine.budget import Budget, Limits
    from dreambench.engine.clock import Clock
    from dreambench.engine.limiter import Limiters, Widths
    from dreambench.engine.retry import RetryPolicy
    from dreambench.engine.store import AnswerStore

    clock = Clock()
    store = AnswerStore(config.cache.mode)
    with TemporaryDirectory() as folder:
        store.open(shared=config.paths.cache, run_local=Path(folder) / "answers")
        try:
            yield Gateway(
                store=store,
                limiters=Limiters(Widths(config.engine.start, config.engine.most), clock),
                retry=RetryPolicy(**config.engine.retry.model_dump()),
                budget=Budget(Limits(**config.engine.budget.model_dump()), clock),
                clock=clock,
                record=lambda record: None,
            )
        finally:
            store.close()
