"""What the tutorials show works: their blocks are executed in order, each page in an empty folder of its own.

A block counts when the line before it is `<!-- run -->` (`<!-- run: exit 100 -->`) or `<!-- file: NAME -->`. Lines that begin
with `python -m dreambench` run in this process (imports are paid once), others in bash; Python blocks of a page share names.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dreambench.commands.main import main_code
from tests.docs.pages import DOCS, ROOT, page
from tests.support.openai_stub import OpenAIStub

PAGES = ["python.md", *sorted(f"tutorials/{path.name}" for path in (DOCS / "tutorials").glob("*.md") if path.stem != "README")]
COMMAND = "python -m dreambench "
BLOCK = re.compile(r"^<!-- (run|file)(?:: (.+?))? -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    argument: str
    language: str
    text: str


def marked(text: str) -> list[Block]:
    return [Block(kind, argument, language, body) for kind, argument, language, body in BLOCK.findall(text)]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with OpenAIStub() as stub:
        yield stub.url


@pytest.mark.parametrize("name", PAGES)
def test_every_marked_block_of_the_page_works(
    name: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SERVER", server)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)  # `python` in bash is this one
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for variable in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(variable)
    names: dict[str, Any] = {"__name__": "tutorial"}
    times = []
    for block in marked(page(name)):
        started = time.process_time()
        if block.kind == "file":
            path = tmp_path / block.argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block.text, names)
        else:
            run_shell(block.text, int(block.argument.removeprefix("exit ") or 0), monkeypatch, capsys)
        times.append(time.process_time() - started)
    assert times, "the page has no block to run"
    with capsys.disabled():
        sys.stdout.write(f"{name}: {len(times)} blocks, {sum(times):.1f} s of processor time\n")
    if name.endswith("own_reports.md"):
        written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
        assert b"not-a-real-key" not in written


def run_python(code: str, names: dict[str, Any]) -> None:
    """Executes a block, then the tests that it defines."""
    before = set(names)
    exec(compile(code, "block", "exec"), names)
    for name in set(names) - before:
        if name.startswith("test_"):
            names[name]()


def run_shell(text: str, wanted: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs the lines of a block one after the other; each must end with the exit code that is wanted."""
    for line in text.splitlines():
        if line.startswith("export "):
            variable, _, value = line.removeprefix("export ").partition("=")
            monkeypatch.setenv(variable, value)
        elif line.startswith(COMMAND):
            code = main_code(expanded(line.removeprefix(COMMAND)))
            assert code == wanted, capsys.readouterr().err
        else:
            assert subprocess.run(["bash", "-c", line], check=False).returncode == wanted


def expanded(arguments: str) -> list[str]:
    """The words that bash makes of a command's arguments: quotes, variables and `$(...)` included."""
    ran = subprocess.run(["bash", "-c", f"printf '%s\\0' {arguments}"], capture_output=True, text=True, check=True)
    return ran.stdout.rstrip("\0").split("\0")


def test_the_list_names_every_tutorial_and_nothing_else() -> None:
    listed = set(re.findall(r"\((\w+\.md)\)", page("tutorials/README.md")))
    assert listed == {path.name for path in (DOCS / "tutorials").glob("*.md")} - {"README.md"}
