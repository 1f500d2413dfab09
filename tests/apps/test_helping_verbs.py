"""`doctor`, `completion` and every verb's --help."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from dreambench.commands import doctor
from dreambench.commands.main import VERBS
from tests.apps.command import ROOT
from tests.apps.conftest import command


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_it_is_for(verb: str) -> None:
    ran = command(verb, "--help")
    assert ran.code == 0 and ran.err == ""
    assert verb in ran.out


def test_the_doctor_names_keys_and_never_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    ran = command("doctor")
    assert ran.code == 0, ran.out
    assert "OPENAI_API_KEY" in ran.out and "very-secret" not in ran.out


def test_the_doctor_warns_of_what_is_dangerous(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.version
    monkeypatch.setattr(doctor, "version", lambda name: "1.82.7" if name == "litellm" else real(name))
    Path("cache").mkdir(mode=0o755)
    Path("cache").chmod(0o755)
    ran = command("doctor", "paths.cache=cache")
    assert ran.code == 1
    assert "WRONG  litellm: 1.82.7 is a malicious release" in ran.out
    assert "WRONG  cache: mode 755: others can read answers; type: chmod 700 cache" in ran.out


def test_the_doctor_knows_every_extra_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [extra for extra in project["optional-dependencies"] if extra not in ("docs", "dev")]
    said = [line.split("extra ")[1].partition(":")[0] for line in command("doctor").out.splitlines() if "  extra " in line]
    assert said == extras


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_verbs_and_options(shell: str) -> None:
    ran = command("completion", shell)
    assert ran.code == 0
    assert " compare " in ran.out and " judge=litellm " in ran.out and " +experiment=backbone_sweep " in ran.out
    if shutil.which("bash") and shell == "bash":
        script = f"{ran.out}\nCOMP_WORDS=(dreambench judge=emb); COMP_CWORD=1; _dreambench; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["judge=embedded", "judge=embedded_semantic"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["doctor", "paths.cahe=x"], "error: paths.cahe=x: is no key of doctor\n"),
    ],
)
def test_mistakes(line: list[str], said: str) -> None:
    ran = command(*line)
    assert ran.code == 1 and ran.err.startswith(said)
