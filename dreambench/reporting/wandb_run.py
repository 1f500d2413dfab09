"""Hands a finished run over to Weights & Biases through its own client: summary values, configuration, a table, an artifact.

Offline unless WANDB_MODE says otherwise: the files lie in the given folder, `wandb sync` sends them. The project is
WANDB_PROJECT, or `dreambench`. What the client would add of the machine (code, git, packages, statistics, console) is off.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, cast

from dreambench.errors import ConfigError, Problem
from dreambench.install import extra_hint
from dreambench.reporting.taken import taken
from dreambench.reporting.tracked import PROJECT, TrackedRun

OFFLINE = "offline"


def write_wandb_run(tracked: TrackedRun, folder: Path, *, replace: bool = False) -> tuple[str, Path]:
    """Logs the run; returns the mode and the folder of its files. Raises ConfigError without the client, and, without
    `replace`, where `folder` has the run already; online the client raises its own error then.
    """
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        import wandb
    except ModuleNotFoundError as error:
        raise ConfigError(Problem("--to wandb", f"{error.name} is not installed", type=extra_hint("wandb"))) from error
    earlier = list(folder.glob(f"wandb/*run-*-{tracked.id}"))
    if earlier and not replace:
        raise taken(folder / "wandb")
    for old in earlier:
        shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    mode = os.environ.get("WANDB_MODE", OFFLINE)
    quiet = wandb.Settings(
        console="off",
        silent=True,
        disable_git=True,
        save_code=False,
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
    )
    run = wandb.init(
        project=os.environ.get("WANDB_PROJECT", PROJECT),
        id=tracked.id,
        name=tracked.name,
        tags=None if tracked.complete else ["incomplete"],
        config={**tracked.settings, **tracked.tags},
        dir=str(folder),
        mode=cast("Any", mode),  # the variable's value is checked by the client
        resume=("allow" if replace else "never") if mode == "online" else None,
        settings=quiet,
    )
    try:
        run.summary.update(tracked.values)
        columns: list[str | int] = [*tracked.primary.columns]
        rows = [list(row) for row in tracked.primary.iter_rows()]
        run.log({"scores": wandb.Table(columns=columns, data=rows, allow_mixed_types=True)})
        artifact = wandb.Artifact(f"run-{tracked.id}", type="evaluation")
        for path in tracked.files:
            artifact.add_file(str(path), name=path.relative_to(tracked.run.folder.root).as_posix())
        run.log_artifact(artifact)
        return mode, Path(run.dir).parent
    finally:
        run.finish()
