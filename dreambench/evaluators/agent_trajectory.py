"""All that an agent did for one item, as a readable JSON file in the run folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from dreambench.judges.kinds.agent_step import Step
from dreambench.records import Evidence, short_hash

FOLDER = "trajectories"


class Trajectory(BaseModel):
    """One agent's work: what it was asked, every step, why it ended, what it used, and its final answer.

    `bad_calls` counts calls that could not be carried out as they stood, `unmade_calls` those that were over the budget.
    `tokens` and `money` (US dollars, null when a price is unknown) are all of its turns and the final answer.
    """

    model_config = ConfigDict(extra="forbid")

    judge: dict[str, Any]
    dialect: str
    tools: list[str]
    question: str
    as_of: str | None
    job: dict[str, Any]
    steps: list[Step]
    ended: str
    turns: int
    calls: int
    bad_calls: int
    unmade_calls: int
    tokens: int
    money: float | None
    answer: dict[str, Any]


class Trajectories:
    """Keeps trajectories of a run, one file per item of a cell. Until it is opened nothing is kept."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def open(self, run_folder: Path) -> None:
        """Keeps trajectories from now on, in a folder of the run's."""
        self._folder = run_folder / FOLDER

    def keep(self, name: str, trajectory: Trajectory) -> Evidence:
        """Writes the file and gives what a judgment refers to it by: its path in the run folder and its hash."""
        text = json.dumps(trajectory.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
        file = f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name)}.json"
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary = self._folder / f".{file}.{os.getpid()}"
            temporary.write_text(text, encoding="utf-8", errors="surrogatepass")
            temporary.replace(self._folder / file)
        return Evidence(url=f"{FOLDER}/{file}", snapshot=short_hash("trajectory", text))
