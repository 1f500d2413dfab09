"""The built wheel works from any folder: installed outside the checkout, it runs the experiment to its table and figure."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.apps.command import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that has the wheel, and this environment's packages for its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--quiet", "-w", str(folder)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("dreambench-*.whl")
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    purelib = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    ).stdout.strip()
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--target", purelib, str(wheel)], check=True, capture_output=True)
    Path(purelib, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def test_the_wheel_puts_nothing_beside_its_package(installed: Path) -> None:
    (packages,) = (installed.parent.parent / "lib").glob("python*/site-packages")
    names = {path.name for path in packages.iterdir() if not path.name.endswith((".dist-info", ".pth"))}
    assert names - {"bin", "pip", "setuptools"} == {"dreambench"}
    assert {"conf", "rubrics", "experiments", "py.typed"} <= {path.name for path in (packages / "dreambench").iterdir()}


def test_the_installed_wheel_runs_the_experiment(installed: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [installed, "-m", "dreambench", "+experiment=backbone_sweep", "dataset.limit=2"],
        cwd=tmp_path,
        env={**environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    (run,) = (tmp_path / "outputs").glob("backbone_sweep-*")
    assert {path.suffix for path in (run / "study").iterdir()} >= {".csv", ".md", ".tex", ".svg", ".png"}
    assert str(ROOT) not in ran.stdout + ran.stderr
