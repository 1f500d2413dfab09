"""`new`, `doctor`, `completion` and every verb's --help."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dreambench.commands import doctor
from dreambench.commands.main import VERBS
from tests.apps.conftest import DATA, command, json_of


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_what_it_is_for(verb: str) -> None:
    ran = command(verb, "--help")
    assert ran.code == 0 and ran.err == ""
    assert verb in ran.out


def test_a_new_metric_asks_at_once() -> None:
    ran = command("new", "metric", "candour")
    assert ran.out == (
        "wrote my_parts/conf/metric/candour.yaml\nwrote my_parts/rubrics/candour/quality.default.j2\n"
        "use it: --config-dir my_parts/conf paths.rubrics=[my_parts/rubrics] metric=[candour]\n"
    )
    use = ["--config-dir", "my_parts/conf", "paths.rubrics=[my_parts/rubrics]", "metric=[candour]"]
    planned = json_of("plan", *DATA, *use, "judge=claude_sonnet_4_5")
    assert planned["cells"] == {"candour": 8} and planned["total"]["calls"]["expected"] == 8
    again = command("new", "metric", "candour")
    assert again.code == 1 and again.err.startswith("error: new metric candour: there is one of that name\n")


@pytest.mark.parametrize(
    ("part", "group", "more"),
    [
        ("judge", "judge=[mine]", ["judge.mine.model=openai/x"]),
        ("perturbation", "perturbation=[mine]", []),
        ("tool", "tools=mine", ["tools.path=pages.jsonl"]),
        ("dataset", "dataset=mine", ["dataset.reports=reports.jsonl"]),
    ],
)
def test_a_new_part_composes(part: str, group: str, more: list[str]) -> None:
    assert command("new", part, "mine").code == 0
    Path("pages.jsonl").write_text('{"url": "https://a.example", "title": "A", "text": "It rained."}\n', encoding="utf-8")
    record = '{"id": "1", "query": "Why?", "agent": "a", "report": "Because it rained."}\n'
    Path("reports.jsonl").write_text(record, encoding="utf-8")
    data = [] if part == "dataset" else DATA
    planned = json_of("plan", *data, "metric=[wq]", "judge=[gpt_5_1]", "--config-dir", "my_parts/conf", group, *more)
    assert sum(planned["cells"].values()) > 0


def test_a_part_can_start_from_another() -> None:
    assert command("new", "judge", "mine", "--from", "gpt_5_1", "--to", "own").code == 0
    text = Path("own/conf/judge/mine.yaml").read_text(encoding="utf-8")
    assert text.startswith("# @package judge.mine\n") and "openai/gpt-5.1" in text


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
        (["new", "metrc", "x"], "error: new metrc: is no part that can be made; did you mean metric?\n"),
        (["new", "judge", "X-1"], "error: new judge X-1: is no name\n"),
        (["new", "judge", "litellm"], "error: new judge litellm: there is one of that name\n"),
        (["new", "judge", "x", "--from", "litelm"], "error: --from litelm: there is no such option; did you mean litellm?\n"),
        (["doctor", "paths.cahe=x"], "error: paths.cahe=x: is no key of doctor\n"),
    ],
)
def test_mistakes(line: list[str], said: str) -> None:
    ran = command(*line)
    assert ran.code == 1 and ran.err.startswith(said)
