"""`python -m dreambench perturb`: the changed file, the shown diff, the log as JSON, and mistakes in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dreambench.commands.main import main_code
from tests.perturbations.reports import ENGLISH
from tests.support.openai_stub import OpenAIStub, saying


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "heat.md"
    path.write_text(ENGLISH, encoding="utf-8")
    return path


def test_writes_the_report_and_shows_the_edits(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main_code(["perturb", str(report), "perturbation=factual_injection", "perturbation.factual_injection.dose=.5"])
    shown = capsys.readouterr().out
    assert code == 0
    assert "units changed (dose 0.5 asked" in shown
    assert "[-" in shown
    assert "{+" in shown
    changed = Path("outputs/perturbed/heat.factual_injection.md").read_text(encoding="utf-8")
    assert changed != ENGLISH
    assert report.read_text(encoding="utf-8") == ENGLISH


def test_the_log_as_json(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["perturb", str(report), "perturbation=omission", "perturbation.omission.dose=[0,1]", "--json", "-o", "changed"]
    assert main_code(arguments) == 0
    nothing, all_ = json.loads(capsys.readouterr().out)
    assert nothing["edits"] == []
    assert all_["changed"] == all_["eligible"] > 0
    assert Path("changed/heat.omission[0].md").read_bytes() == report.read_bytes()


def test_one_file_or_stdout(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["perturb", str(report), "perturbation=synonyms", "-o", "x.md"]) == 0
    capsys.readouterr()
    assert main_code(["perturb", str(report), "perturbation=synonyms", "-o", "-"]) == 0
    assert capsys.readouterr().out == Path("x.md").read_text(encoding="utf-8")


def test_a_composition(report: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "perturbation.compose.steps=[factual_injection,citation_style]"
    assert main_code(["perturb", str(report), "perturbation=compose", steps]) == 0
    assert "factual_injection" not in capsys.readouterr().err


def test_a_judge_as_author(report: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    report.write_text("# T\n\nOld networks lose 30% of their heat every single winter.\n", encoding="utf-8")
    with OpenAIStub() as stub:
        stub.always(saying({"text": "Old networks lose 3% of their heat every single winter."}))
        judge = ["judge=litellm", "judge.litellm.model=openai/x", f"judge.litellm.api_base={stub.url}"]
        kind = ["perturbation=factual_injection", "perturbation.factual_injection.author=llm"]
        assert main_code(["perturb", str(report), *kind, *judge]) == 0
    assert "lose 3% of" in Path("outputs/perturbed/heat.factual_injection.md").read_text(encoding="utf-8")
    assert "author llm" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["perturbation=factual_injecton"], "did you mean factual_injection?"),
        ([], "needs a perturbation"),
        (["perturbation=omission", "perturbation.omission.doze=1"], "did you mean dose?"),
        (["perturbation=omission", "perturbation.omission.dose=3"], "3 is out of range"),
        (["perturbation=omission", "perturbation.omission.author=llm"], "type: judge=litellm"),
        (["perturbation=omission", "as_of=soon"], "as_of: 'soon' is no date"),
        (["perturbation=[omission,synonyms]", "-o", "-"], "one report fits on stdout"),
    ],
)
def test_mistakes_in_words(report: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["perturb", str(report), *arguments]) == 1
    assert said in capsys.readouterr().err


def test_a_missing_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["perturb", str(tmp_path / "none.md"), "perturbation=omission"]) == 1
    assert "cannot be read" in capsys.readouterr().err
