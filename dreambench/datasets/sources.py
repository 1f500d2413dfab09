"""What `dataset.reports` may be: a file, a folder, or a list of both, turned into the files to read.

A file given by name has to hold reports; a folder is searched, and what holds none in it is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreambench.datasets.files import check_exists, rows
from dreambench.datasets.material import Material
from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.errors import nearest

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


def read_source(
    source: Source,
    column: str,
    expected: Sequence[str],
    read: Callable[[Row, Problems], None],
    material: Material,
    problems: Problems,
) -> None:
    """Reads the records of one file. Without any `column`, which holds the reports, it is no file of reports.

    Such a file is refused when it was named (a record's `expected` fields are said) and a finding when it was met in a
    folder.
    """
    inside = Problems()
    first: Row | None = None
    filled = 0
    for row in rows(source.path, inside):
        first = first or row
        filled += row.present(column)
        read(row, inside)
    if filled or (first and nearest(column, first.values)) or (not first and inside.all()):
        problems.merge(inside)
        return
    what = f"holds no reports: its records have {', '.join(first.values)}" if first else "holds no reports: it is empty"
    if source.named:
        problems.add(source.path, None, f"{what}; a report's record has {', '.join(expected)}")
    else:
        material.find("skipped_file", str(source.path), f"{what}; left out")
