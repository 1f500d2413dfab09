"""The workers of a run, as its engine option wants them: none, processes of this machine, or actors of a Ray cluster."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from dreambench.config.schema import EngineSettings, RunConfig
from dreambench.engine.gateway import Gateway
from dreambench.engine.workers.pool import Open, Workers
from dreambench.engine.workers.processes import open_process
from dreambench.engine.workers.ray import open_ray
from dreambench.runs.folder import RunFolder

WORKER = "dreambench.runs.worker"


def worker_count(engine: EngineSettings) -> int:
    """How many processes judge; where it is not said, as many as there are cores for us."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return engine.workers or cores or 1


def workers_of(
    config: RunConfig, run: str, folder: RunFolder, attempt: Path, gateway: Gateway, lost: Callable[[int], None]
) -> Workers | None:
    """The workers, not started yet; None where this process judges. Where each ran is noted in `attempt`."""
    if config.engine.kind == "local":
        return None
    made: Open = functools.partial(open_process, WORKER)
    if config.engine.kind == "ray":
        made = open_ray(WORKER, config.engine.address, config.engine.cpus)
    start = {
        "is": "start",
        "config": config.model_dump(mode="json"),
        "run": run,
        "cwd": str(Path.cwd()),
        "path": sys.path,
        "replays": gateway.replays,
        "files": {f"protocols/{path.name}": path.read_text("utf-8") for path in (folder.root / "protocols").glob("*.json")},
    }

    def began(host: str, pid: int) -> None:
        with (attempt / "workers.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"host": host, "pid": pid}) + "\n")

    return Workers(
        open_channel=made,
        count=worker_count(config.engine),
        start=start,
        gateway=gateway,
        lost=lost,
        folder=folder.root,
        began=began,
    )
