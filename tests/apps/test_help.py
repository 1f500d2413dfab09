"""`--help` says what there is, fast: it imports neither Hydra nor anything heavy, and no import of ours does either."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dreambench.config.explain import group_options
from tests.apps.command import ROOT, dreambench, process

HEAVY = ("litellm", "instructor", "pandas", "statsmodels", "scipy", "matplotlib", "onnxruntime", "trafilatura", "openai")


def loaded(code: str) -> set[str]:
    """Which heavy packages a Python process has loaded after `code`."""
    show = f"import sys; print(*[name for name in {HEAVY!r} + ('hydra',) if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{show}"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_names_every_option_with_its_purpose(tmp_path: Path) -> None:
    ran = process("--help", cwd=tmp_path)
    assert ran.code == 0
    for options in group_options().values():
        for option in options:
            assert f"  {option} " in ran.out
    assert list(tmp_path.iterdir()) == []


def test_help_loads_nothing_heavy() -> None:
    assert loaded("from dreambench.commands.main import main_code; main_code(['--help'])") == set()


@pytest.mark.parametrize("module", ["dreambench", "dreambench.commands.run", "dreambench.config.explain"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    assert loaded(f"import {module}") <= {"hydra"}


def test_a_config_error_loads_nothing_heavy() -> None:
    code = "from dreambench.commands.main import main_code; assert main_code(['metric.wq.rubrik=x']) == 1"
    assert loaded(code) <= {"hydra"}


def test_the_configuration_can_be_shown_without_running(tmp_path: Path) -> None:
    ran = dreambench("--cfg", "job", cwd=tmp_path)
    assert ran.code == 0
    assert "main_idea_clarity: 0.25" in ran.out
    assert not (tmp_path / "outputs").exists()
