"""Hydra, as this project uses it: one entry for a command line, one for a list of overrides.

Hydra's own exceptions come out of both and are put into words by `explain`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import hydra
from hydra.errors import ConfigCompositionException, HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from dreambench.config.locations import bundled

COMMON_KEYS = re.compile(r"metric\.[^.=]+\.(?:threshold|threshold_on|id)=")
"""Overrides of keys that every node of a group has (`nodes.COMMON`) and no option file names."""

FLAGS = (
    *("--help", "--hydra-help", "--version", "--cfg", "--resolve", "--package", "--run", "--multirun", "--shell-completion"),
    *("--config-path", "--config-name", "--config-dir", "--experimental-rerun", "--info"),
)
"""Hydra's own options, which stand beside the overrides of a run."""
SHORT_FLAGS = ("-h", "-c", "-p", "-r", "-m", "-sc", "-cp", "-cn", "-cd", "-i")


def run_command_line(arguments: Sequence[str], task: Callable[[DictConfig], None]) -> None:
    """Runs `task` on the configuration that `arguments` compose; with `-m`, once per job of the sweep.

    `--help`, `--cfg`, `--info` and shell completion are Hydra's own. Raises what Hydra or `task` raises.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # exceptions reach us, who explain them, instead of Hydra's printer
    main = hydra.main(version_base="1.3", config_path=str(bundled("conf")), config_name="config")(task)
    make_importable(split_flags(arguments)[1])
    before = sys.argv
    sys.argv = [before[0], *flags_first(with_common_keys(arguments))]
    try:
        with _hydras_own_errors():
            main()
    finally:
        sys.argv = before


def flags_first(arguments: Sequence[str]) -> list[str]:
    """Hydra's flags and their values, then the overrides: its parser takes overrides in one stretch only."""
    flags: list[str] = []
    overrides: list[str] = []
    valued = False
    for argument in arguments:
        override = not valued and not argument.startswith("-") and ("=" in argument or argument[:1] in "~+")
        (overrides if override else flags).append(argument)
        valued = argument in ("--config-dir", "-cd", "--config-name", "-cn", "--config-path", "-cp")
    return flags + overrides


def compose(overrides: Sequence[str], config_dirs: Sequence[Path] = ()) -> DictConfig:
    """The configuration that `overrides` compose, without running anything."""
    from hydra.core.global_hydra import GlobalHydra

    make_importable(config_dirs)
    extra = [f"hydra.searchpath=[{','.join(f'file://{folder.resolve()}' for folder in config_dirs)}]"] if config_dirs else []
    running = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(version_base="1.3", config_dir=str(bundled("conf"))), _hydras_own_errors():
            return hydra.compose("config", overrides=[*with_common_keys(overrides), *extra])
    finally:
        GlobalHydra.instance().clear()
        if running is not None:
            GlobalHydra.instance().initialize(running)


def make_importable(config_dirs: Iterable[Path]) -> None:
    """Lets an option of `my_parts/conf` name a class of `my_parts`, from whatever folder and by whatever program we are run.

    What stands on the import path already comes first.
    """
    for folder in config_dirs:
        place = str(folder.resolve().parent.parent)
        if place not in sys.path:
            sys.path.append(place)


@contextmanager
def _hydras_own_errors() -> Iterator[None]:
    """Hydra raises plain errors too where an override has a form that it did not expect (`metric=1`)."""
    try:
        yield
    except (ValueError, TypeError, AttributeError, AssertionError) as error:
        if isinstance(error, HydraException | OmegaConfBaseException):
            raise
        raise ConfigCompositionException(str(error) or type(error).__name__) from error


def with_common_keys(arguments: Sequence[str]) -> list[str]:
    """The arguments with `++` before common keys: Hydra takes a key that no option file names with a plus only."""
    return [f"++{argument}" if COMMON_KEYS.match(argument) else argument for argument in arguments]


def split_flags(arguments: Sequence[str]) -> tuple[list[str], list[Path]]:
    """The overrides of a command line, and the folders given with `--config-dir`."""
    overrides, folders = [], []
    rest = iter(arguments)
    for argument in rest:
        if argument in ("--config-dir", "-cd"):
            folders.append(Path(next(rest, ".")))
        elif argument.startswith("--config-dir="):
            folders.append(Path(argument.partition("=")[2]))
        elif not argument.startswith("-"):
            overrides.append(argument)
    return overrides, folders
