"""The tools by the command line's own verb."""

from pathlib import Path

import pytest

from dreambench.commands.main import main_code

CONF = Path(__file__).parent / "conf"
USE = ["tools=new_part", f"tools.path={CONF.parent / 'new_part_pages.jsonl'}", "--config-dir", str(CONF)]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look-ups are cached in the working folder."""
    monkeypatch.chdir(tmp_path)


def test_miles_are_converted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["tool", "to_kilometres", "10", *USE]) == 0
    assert capsys.readouterr().out == "16.0934 km\n"


def test_pages_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["tool", "web_search", "how long is a fathom", *USE]) == 0
    assert "https://lengths.example/fathom" in capsys.readouterr().out


def test_a_negative_length_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main_code(["tool", "to_kilometres", "--miles=-1", *USE]) == 1
    assert "greater than or equal to 0" in capsys.readouterr().err
