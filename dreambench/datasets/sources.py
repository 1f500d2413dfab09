"""What `dataset.reports` may be: a file, a folder, or a list of both, turned into the files to read.

A file given by name has to hold reports; a folder is searched, and what holds none in it is a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dreambench.datasets.files import check_exists
from dreambench.datasets.problems import Problems

Paths = str | list[str] | None
"""One path or a list of paths, relative to the working folder."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of reports; `named` when the user gave it by name, not by its folder."""

    path: Path
    named: bool


def sources(paths: Paths, key: str, suffixes: Sequence[str], problems: Problems) -> list[Source]:
    """The files that `paths` name, each once, those of a folder sorted by name. Trouble is added to `problems`."""
    found: dict[Path, Source] = {}
    for name in required(paths, key, problems):
        path = Path(name).expanduser()
        if not check_exists(path, key, problems):
            continue
        if not path.is_dir():
            found.setdefault(path.resolve(), Source(path, named=True))
            continue
        inside = sorted(entry for entry in path.iterdir() if entry.suffix.lower() in suffixes and entry.is_file())
        if not inside:
            problems.add(key, None, f"the folder {path} holds no {' or '.join(suffixes)} file")
        for entry in inside:
            found.setdefault(entry.resolve(), Source(entry, named=False))
    return list(found.values())


def required(paths: Paths, key: str, problems: Problems) -> list[str]:
    """The paths as a list; none at all is a problem."""
    names = [paths] if isinstance(paths, str) else list(paths or [])
    if not names:
        problems.add(key, None, "is required: a file, a folder, or a list of them", fix=f"{key}=path/to/reports")
    return names


def existing(path: str | None, key: str, problems: Problems) -> Path | None:
    """An optional single path; None when it is not given or (reported) not there."""
    if path is None:
        return None
    found = Path(path).expanduser()
    return found if check_exists(found, key, problems) else None
