"""A release: the version is the tag's, archives hold all that runs, and the changelog is gathered from its fragments."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import dreambench
from tests.apps.command import ROOT
from tests.apps.conftest import command

OFFLINE = {
    name: value for name, value in os.environ.items() if not name.startswith(("SETUPTOOLS_SCM", "VCS_VERSIONING", "GIT_"))
}
CARRIED = (
    *("conf/config.yaml", "conf/experiment/backbone_sweep.yaml", "rubrics/_shared/system.j2", "experiments/backbone_sweep.py"),
    *("dreambench/py.typed", "dreambench/commands/templates/metric/new_part.py", "dreambench/labelling/sheet.html"),
    *("dreambench/commands/templates/matrix/new_part/cells.jsonl", "dreambench/datasets/demo/benchmarks/researchrubrics.jsonl"),
)


def python(*words: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-m", *words], cwd=cwd, env=OFFLINE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def git(*words: str, cwd: Path) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t.example", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=cwd, env=OFFLINE, check=True, capture_output=True)


def project(folder: Path) -> Path:
    """Our pyproject.toml and what it names, without the code."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_version_is_the_tags_and_has_a_fallback(tmp_path: Path) -> None:
    project(tmp_path)
    assert python("hatchling", "version", cwd=tmp_path) == "0.0.0"
    git("init", "-q", cwd=tmp_path)
    git("add", ".", cwd=tmp_path)
    git("commit", "-qm", "one", cwd=tmp_path)
    assert python("hatchling", "version", cwd=tmp_path) == "0.0.1.dev1"
    git("tag", "v1.2.0", cwd=tmp_path)
    assert python("hatchling", "version", cwd=tmp_path) == "1.2.0"
    git("commit", "-q", "--allow-empty", "-m", "two", cwd=tmp_path)
    assert python("hatchling", "version", cwd=tmp_path) == "1.2.1.dev1"


def test_a_checkout_says_what_it_is_without_git_or_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert dreambench.__version__ == dreambench.SOURCE == "0+source"
    ran = command("--version")
    assert (ran.code, ran.out) == (0, "dreambench 0+source\n")


@pytest.mark.slow
def test_the_archives_hold_all_that_runs_and_say_one_version(tmp_path: Path) -> None:
    python("hatchling", "build", "-t", "sdist", "-d", str(tmp_path), cwd=ROOT)
    (archive,) = tmp_path.glob("dreambench-*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
        packed.extractall(tmp_path / "unpacked", filter="data")
    assert set(CARRIED) <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "outputs/", ".venv/"))]
    (source,) = (tmp_path / "unpacked").iterdir()
    python("hatchling", "build", "-t", "wheel", "-d", str(tmp_path), cwd=source)  # without git: the sdist says its version
    (wheel,) = tmp_path.glob("dreambench-*.whl")
    assert wheel.name.split("-")[1] == archive.name.removeprefix("dreambench-").removesuffix(".tar.gz")
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {name if name.startswith("dreambench/") else f"dreambench/{name}" for name in CARRIED} <= inside
    tracked = {path.relative_to(ROOT).as_posix() for path in (ROOT / "dreambench").rglob("*") if path.is_file()}
    assert {name for name in tracked if "__pycache__" not in name} <= inside


def test_fragments_become_a_section_of_the_changelog(tmp_path: Path) -> None:
    project(tmp_path)
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    before = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    (tmp_path / "changes" / "+one.added.md").write_text("One can do it now.\n", encoding="utf-8")
    (tmp_path / "changes" / "+two.fixed.md").write_text("It is right now.\n", encoding="utf-8")
    python("towncrier", "build", "--yes", "--version", "9.9.9", "--date", "2030-01-02", cwd=tmp_path)
    after = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    head, _, rest = after.partition("<!-- releases -->\n")
    assert head == before.partition("<!-- releases -->\n")[0]
    assert re.match(r"\n?## 9\.9\.9 \(2030-01-02\)\n\n### Added\n", rest), rest[:200]
    added, _, fixed = rest.partition("\n### Fixed\n")
    assert "\n- One can do it now.\n" in added and "\n- It is right now.\n" in fixed
    assert rest.endswith(before.partition("<!-- releases -->\n")[2].lstrip("\n"))
    assert [path.name for path in (tmp_path / "changes").iterdir()] == ["README.md"]


def test_every_fragment_is_one_sentence_of_a_known_kind() -> None:
    for path in (ROOT / "changes").iterdir():
        if path.name != "README.md":
            assert re.fullmatch(r"\+[a-z0-9_]+\.(added|changed|fixed)\.md", path.name), path.name
            assert re.fullmatch(r"\S[^\n]*(\n[^\n]+)*[.!]\n", path.read_text(encoding="utf-8")), path.name
