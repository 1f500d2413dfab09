"""Folders of report files: one sub-folder per agent, or one flat folder of one agent; a file is named by its task's id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dreambench.datasets.files import text
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.errors import DocumentError

PLAIN = (".md", ".markdown", ".txt")
SUFFIXES = (*PLAIN, ".html", ".htm", ".pdf", ".docx")


def read_folder(folder: Path, agent: str | None, material: Material, problems: Problems) -> None:
    """Adds the reports of `folder` to `material`; files of other kinds are findings.

    Sub-folders are agents, unless `agent` names the only one. A flat folder without `agent` is named after itself.
    """
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    agents = [entry for entry in entries if entry.is_dir() and any(_reports(entry))] if agent is None else []
    if not agents and not any(_reports(folder)):
        problems.add(folder, None, "holds no reports, nor does any folder in it", SUFFIXES)
        return
    for entry in entries if agents else []:
        if entry.is_file():
            material.find("skipped_file", str(entry), "lies beside the folders of the agents; left out")
    for home in agents or [folder]:
        _read_agent(home, agent or home.resolve().name, material, problems)


def read_file(path: Path, agent: str, material: Material, problems: Problems, *, task_id: str | None = None) -> None:
    """Adds one report file to `material`."""
    content = read_text(path, problems)
    if content is None:
        return
    joined = material.join(task_id or path.stem, None, str(path))
    if joined is not None:
        material.add_report(joined, agent, content, str(path))


def read_text(path: Path, problems: Problems) -> str | None:
    """The text of a report file, or None (reported) when it cannot be read."""
    if path.suffix.lower() in PLAIN:
        return text(path, problems)
    from dreambench.documents import read_report

    try:
        return str(read_report(path))
    except DocumentError as error:
        for problem in error.problems:
            problems.add(path, None, problem.what, problem.allowed, problem.type)
        return None


def _read_agent(folder: Path, agent: str, material: Material, problems: Problems) -> None:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.is_dir():
            continue
        if entry.suffix.lower() in SUFFIXES:
            read_file(entry, agent, material, problems)
        else:
            material.find("skipped_file", str(entry), f"is no report ({', '.join(SUFFIXES)}); left out")


def _reports(folder: Path) -> Iterator[Path]:
    return (entry for entry in folder.iterdir() if entry.is_file() and entry.suffix.lower() in SUFFIXES)
