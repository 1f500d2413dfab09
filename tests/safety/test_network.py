"""Nothing reaches for the network at import, at `--help`, when checking a configuration, or with the embedded judge."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.command import ROOT

WATCHED = """
import sys
reached = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname", "socket.bind"):
        reached.append(event if arguments[1] != 9 else "the last one")
        raise OSError("the network is forbidden here")

sys.addaudithook(watch)
import importlib, json, pkgutil
import dreambench
broken = []
for module in pkgutil.walk_packages(dreambench.__path__, "dreambench."):
    if not module.name.endswith("__main__") and ".templates." not in module.name:  # what `new` copies for its user
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            broken.append(f"{module.name}: {error}")
from dreambench.commands.main import main_code
codes = [main_code(["--help"]), main_code(["metric.wq.rubrik=x"])]
codes.append(main_code(["dataset.limit=1", "metric=[wq,citations,ci,length]"]))
import socket
try:
    socket.create_connection(("127.0.0.1", 9))
except OSError:
    pass
print("\\n" + json.dumps({"reached": reached, "codes": codes, "broken": broken}))
"""


@pytest.mark.slow
def test_no_socket_is_opened_without_a_model(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "COLUMNS": "200"}
    done = subprocess.run([sys.executable, "-c", WATCHED], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["codes"] == [0, 1, 0], done.stderr
    assert said["broken"] == []
    assert said["reached"] == ["the last one"], "which shows that the watch works"
