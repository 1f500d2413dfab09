"""Processes that a benchmark talks to: the scripted server, and a side of a comparison. Each ends with its `ExitStack`."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from bench.timing import ROOT

_SERVER = """
import sys
from tests.support.openai_stub import OpenAIStub
with OpenAIStub(latency=float(sys.argv[1]), sigma=float(sys.argv[2])) as stub:
    print(stub.url, flush=True)
    sys.stdin.read()
"""


def start(ends: ExitStack, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A Python process; `folder` is its home."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    ends.callback(process.wait)
    assert process.stdin
    ends.callback(process.stdin.close)
    return process


def server(ends: ExitStack, folder: Path, latency: float = 0.0, sigma: float = 0.5) -> str:
    """The address of a scripted server in a process of its own; `latency` is the median seconds of an answer."""
    process = start(ends, folder, "-c", _SERVER, str(latency), str(sigma))
    assert process.stdout
    return process.stdout.readline().strip()
