"""Option files by name, for nodes that name other options (`panel.members`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from dreambench.config.locations import bundled
from dreambench.errors import ConfigError, Problem, nearest


def config_folders() -> list[Path]:
    """The folders that Hydra composes this run from, the user's included; the bundled one outside of Hydra."""
    from hydra.core.hydra_config import HydraConfig

    if not HydraConfig.initialized():
        return [bundled("conf")]
    sources = HydraConfig.get().runtime.config_sources
    return [Path(source.path) for source in sources if source.schema == "file"] or [bundled("conf")]


def load_option(group: str, name: str, where: str) -> dict[str, Any]:
    """The option `name` of `group` as its file has it. Raises ConfigError, placed at `where`, when there is none."""
    folders = config_folders()
    for folder in folders:
        if (path := folder / group / f"{name}.yaml").is_file():
            return cast("dict[str, Any]", OmegaConf.to_container(OmegaConf.load(path), resolve=True))
    options = sorted({path.stem for folder in folders for path in (folder / group).glob("*.yaml")})
    near = nearest(name, options)
    raise ConfigError(
        Problem(where, f"there is no {group} called {name}" + (f"; did you mean {near}?" if near else ""), options)
    )


def with_members(
    group: str, nodes: Mapping[str, Mapping[str, Any]], path: str, names: Sequence[str]
) -> dict[str, Mapping[str, Any]]:
    """The nodes that a panel's member names stand for: those of the run where it has them, else the option files."""
    return {name: nodes[name] if name in nodes else load_option(group, name, f"{path}.members") for name in names}
