"""A worker's part of a run: the same configuration makes the same parts, whose calls go to the driver.

python -m dreambench.runs.worker is what `engine=processes` starts; people have no use for it.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from dreambench.config.schema import RunConfig
from dreambench.engine.engine import Work
from dreambench.engine.gateway import Gateway
from dreambench.engine.workers.channel import Message
from dreambench.engine.workers.processes import run_worker
from dreambench.engine.workers.worker import Job
from dreambench.errors import InputError, Problem
from dreambench.runs.assembly import Parts, assemble
from dreambench.runs.measure import measure
from dreambench.runs.subjects import Subjects

_NAME = "utf-8", "surrogatepass"


class RunJob:
    """The cells of one run. What the parts write lands in a folder of this worker and is handed to the driver."""

    def __init__(self, parts: Parts, scratch: tempfile.TemporaryDirectory[str]) -> None:
        self._parts = parts
        self._scratch = scratch
        self._root = Path(scratch.name)
        self._taking = threading.Lock()
        self.work: Work = functools.partial(measure, parts, Subjects(parts, self._root / "perturbed"))

    def made(self) -> Mapping[str, str]:
        with self._taking:  # cells end in threads at the same time; a file is handed over once
            return self._made()

    def _made(self) -> dict[str, str]:
        files = {}
        for folder, _, names in os.walk(self._root):
            for name in names:
                if not name.startswith("."):  # one that begins with a dot is being written
                    path = Path(folder, name)
                    files[path.relative_to(self._root).as_posix()] = path.read_bytes().decode(*_NAME)
                    path.unlink()
        return files

    async def close(self) -> None:
        await self._parts.protocols.close()
        for judge in self._parts.judges.values():
            await judge.close()
        await self._parts.tools.close()
        self._scratch.cleanup()


async def prepare(start: Message, gateway: Gateway) -> Job:
    """The parts of the run that the driver tells of. Raises InputError where they are not the driver's."""
    os.chdir(start["cwd"])
    sys.path.extend(path for path in start["path"] if path not in sys.path)
    config = RunConfig.model_validate(start["config"])
    parts = assemble(config, gateway)
    if parts.run_id != start["run"]:
        what = f"this worker has other data, rubrics or code than the driver (run {parts.run_id}, not {start['run']})"
        raise InputError(Problem(os.uname().nodename, what, ["the same version and the same files at the same paths"]))
    scratch = tempfile.TemporaryDirectory(prefix="dreambench-worker-")
    root = Path(scratch.name)
    for name, text in start["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode(*_NAME))
    parts.protocols.open(root / "protocols", config.paths.cache / "protocols", config.cache.mode)
    parts.trajectories.open(root)
    if any(metric.tools for metric in parts.metrics.values()):
        await parts.tools.open()
    return RunJob(parts, scratch)


if __name__ == "__main__":
    run_worker(prepare)
