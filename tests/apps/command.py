"""Runs the command line as people do: a subprocess in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


def dreambench(*arguments: str, cwd: Path, env: dict[str, str] | None = None, timeout: float = 120) -> Ran:
    """`python -m dreambench ARGUMENTS` in `cwd`; keys of providers are taken out of the environment."""
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    clean.update({"PYTHONPATH": str(ROOT), "COLUMNS": "200", "NO_COLOR": "1", **(env or {})})
    done = subprocess.run(
        [sys.executable, "-m", "dreambench", *arguments], cwd=cwd, env=clean, capture_output=True, text=True, timeout=timeout
    )
    return Ran(done.returncode, done.stdout, done.stderr)
