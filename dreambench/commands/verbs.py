"""What verbs share: a parser whose mistakes are ours, overrides told from arguments, JSON and tables on stdout, and, for
verbs that are no run but need parts of one, a checked configuration and a gateway without a journal.

A verb is a module of this package with a function of its name: it takes the words after it and returns an exit code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

from dreambench.errors import ConfigError, Problem, nearest

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from dreambench.config.schema import RunConfig
    from dreambench.engine.gateway import Gateway

PLAIN_WIDTH = 500
"""Columns of a table that is not printed to a terminal."""


class VerbParser(argparse.ArgumentParser):
    """`python -m dreambench VERB`: `--help` comes from the verb's module, mistakes are ConfigErrors with the nearest option."""

    def __init__(self, verb: str, doc: str | None) -> None:
        super().__init__(
            prog=f"python -m dreambench {verb}",
            description=doc,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.verb = verb
        self._given: list[str] = []

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Keeps the words, so that `error` can tell a misspelt option from what argparse misses because of it."""
        self._given = list(args or ())
        return super().parse_known_args(args, namespace)

    def add_json(self) -> None:
        """Gives the verb its `--json`."""
        self.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def error(self, message: str) -> NoReturn:
        """Raises ConfigError instead of printing a usage and leaving with 2."""
        options = sorted(name for action in self._actions for name in action.option_strings if name.startswith("--"))
        words = [word.partition("=")[0] for word in self._given]
        misspelt = [word for word in words if word.startswith("--") and len(word) > 2 and word not in options]
        unknown = misspelt or message.removeprefix("unrecognized arguments: ").split()
        if unknown != message.split():
            near = nearest(unknown[0], options)
            what = f"is no {'option' if unknown[0].startswith('-') else 'argument'} of {self.verb}"
            what += f"; did you mean {near}?" if near else ""
            raise ConfigError(Problem(unknown[0], what, options))
        raise ConfigError(Problem(self.verb, message, type=" ".join(self.format_usage().removeprefix("usage: ").split())))


def split_overrides(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a command line that are a configuration (`key=value`, `--config-dir X`), and the others, in order.

    The value of an option (`--out a=b`) is not told from an override: write `--out=a=b`.
    """
    overrides, others = [], []
    words = iter(arguments)
    for word in words:
        if word in ("--config-dir", "-cd"):
            overrides += [word, next(words, ".")]
        elif word.startswith(("--config-dir=", "~")) or ("=" in word and not word.startswith("-")):
            overrides.append(word)
        else:
            others.append(word)
    return overrides, others


def print_json(value: Any) -> None:
    """`value` as indented JSON on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def console() -> Console:
    """Where tables go: as wide as the terminal, or PLAIN_WIDTH where there is none."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False, markup=False)


def say(*lines: str) -> None:
    """Lines on stdout, as they are."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def print_table(table: pl.DataFrame, title: str = "") -> None:
    """A table of texts and numbers, null as an en dash; numbers stand to the right."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title) if title else None, title_justify="left", pad_edge=False)
    for name, dtype in table.schema.items():
        shown.add_column(Text(name), justify="right" if dtype.is_numeric() else "left", no_wrap=dtype.is_numeric())
    for row in table.iter_rows():
        shown.add_row(*(Text("–" if value is None else str(value)) for value in row))
    console().print(shown)


def configure(overrides: Sequence[str]) -> RunConfig:
    """The validated configuration that `overrides` (and --config-dir) compose. Raises ConfigError in our words."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    from dreambench.config.compose import compose, split_flags
    from dreambench.config.explain import bad_choices, explain
    from dreambench.engine.clock import Clock
    from dreambench.runs.assembly import validate

    if problems := bad_choices(overrides):
        raise ConfigError(*problems)
    try:
        return validate(compose(*split_flags(overrides)), Clock())
    except (HydraException, OmegaConfBaseException) as error:
        raise explain(error, overrides) from error


@contextmanager
def open_gateway(config: RunConfig) -> Iterator[Gateway]:
    """A run's gateway without the run: answers lie in the shared cache, nothing is journalled."""
    from dreambench.engine.budget import Budget, Limits
    from dreambench.engine.clock import Clock
    from dreambench.engine.gateway import Gateway
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
