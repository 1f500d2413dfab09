"""What a worker of `engine=processes` hands to the driver."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dreambench.config.compose import compose
from dreambench.engine.clock import Clock
from dreambench.runs.assembly import assemble, validate
from dreambench.runs.worker import RunJob
from tests.support.gateway import TestGateway


def test_cells_that_end_at_the_same_time_hand_over_every_file_once(gateway: TestGateway) -> None:
    parts = assemble(validate(compose(["metric=[length]"]), Clock()), gateway)
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = tempfile.TemporaryDirectory(dir=scratch_name)
        job = RunJob(parts, scratch)
        folder = Path(scratch.name, "trajectories")
        folder.mkdir()
        for number in range(500):
            (folder / f"{number}.json").write_text(str(number))
        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda _: job.made(), range(8)))
    names = [name for files in told for name in files]
    assert sorted(names) == sorted(f"trajectories/{number}.json" for number in range(500))
