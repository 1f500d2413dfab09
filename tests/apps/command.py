"""Runs the command line as people do, in a folder of its own: in this process, or where it matters in a new one."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from dreambench.commands.main import main_code

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a command finds: ours without the keys of providers, a wide screen without colours, and `env`."""
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**clean, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "NO_COLOR": "1", **(env or {})}


def dreambench(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> Ran:
    """`python -m dreambench ARGUMENTS` in `cwd`, in this process: same entry, same exit code; imports are paid once."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.chdir(cwd)
        given = environment(env)
        for name in os.environ.keys() - given.keys():
            patch.delenv(name)
        for name, value in given.items():
            patch.setenv(name, value)
        code = main_code(arguments)
    return Ran(code, out.getvalue(), err.getvalue())


def process(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None, timeout: float = 120) -> Ran:
    """The same in a process of its own, where what it imports, inherits or leaves behind is the point."""
    command = [sys.executable, "-m", "dreambench", *arguments]
    done = subprocess.run(command, cwd=cwd, env=environment(env), capture_output=True, text=True, timeout=timeout)
    return Ran(done.returncode, done.stdout, done.stderr)
