"""Folders of report files: one sub-folder per agent, or one flat folder of one agent; a file is named by its task's id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.errors import DocumentError

SUFFIXES = (".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx")


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
        if entry not in agents:
            what = "holds no reports" if entry.is_dir() else "lies beside the folders of the agents"
            material.find("skipped_file", str(entry), f"{what}; left out")
    for home in agents or [folder]:
        _read_agent(home, agent or home.resolve().name, material)


def read_file(path: Path, agent: str, material: Material, *, task_id: str | None = None) -> None:
    """Adds one report file to `material`; without `task_id` the file's name is the task's id."""
    joined = material.join(task_id or path.stem, None, str(path))
    if joined is not None and (content := read_text(path, joined, material)) is not None:
        material.add_report(joined, agent, content, str(path))


def read_text(path: Path, task_id: str, material: Material) -> str | None:
    """The text of a report file as markdown. None when it cannot be read; that, and every repair, is a finding."""
    from dreambench.documents import load_report

    try:
        data = path.read_bytes()
        if not data.strip():
            return ""
        report = load_report(path)
    except OSError as error:
        material.find("unreadable_report", str(path), f"cannot be read: {error.strerror}; left out", task_id)
        return None
    except DocumentError as error:
        for problem in error.problems:
            material.find("unreadable_report", str(path), f"{problem.what}; left out", task_id)
        return None
    if report.notes:
        material.find("repaired_report", _broken_line(path, data), "; ".join(report.notes), task_id)
    return report.text


def _broken_line(path: Path, data: bytes) -> str:
    """`path:line` of the first byte that is not UTF-8, or the path."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        newlines = data.count(b"\n", 0, error.start)
        return f"{path}:{newlines + 1}"
    return str(path)


def _read_agent(folder: Path, agent: str, material: Material) -> None:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            material.find("skipped_file", str(entry), "is a folder beside the reports of one agent; left out")
        elif entry.suffix.lower() in SUFFIXES:
            read_file(entry, agent, material)
        else:
            material.find("skipped_file", str(entry), f"is no report ({', '.join(SUFFIXES)}); left out")


def _reports(folder: Path) -> Iterator[Path]:
    return (entry for entry in folder.iterdir() if entry.is_file() and entry.suffix.lower() in SUFFIXES)
