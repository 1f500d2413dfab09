"""Reads text files line by line: always UTF-8, a byte order mark tolerated, broken bytes and lines reported by place."""

from __future__ import annotations

import codecs
import csv
import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dreambench.datasets.problems import Problems
from dreambench.datasets.rows import Row
from dreambench.errors import nearest

TABLES = {".csv": ",", ".tsv": "\t"}
NAMES_SHOWN = 5
FIELD_LIMIT = 2**31 - 1
"""Characters of one CSV field; the csv module's own 131,072 is less than a long report."""


def check_exists(path: Path, key: str, problems: Problems) -> bool:
    """Whether `path` exists; if not, a problem names the nearest name in the deepest folder of it that does."""
    if path.exists():
        return True
    parts = [path, *path.parents]
    missing = next(part for part in parts if not part.exists() and (part.parent.is_dir() or part == part.parent))
    names = sorted(entry.name for entry in missing.parent.iterdir() if not entry.name.startswith("."))
    near = _nearest_file(missing.name, names)
    what = f"{path} does not exist"
    if missing != path:
        what += f": there is no {missing.name} in {missing.parent}"
    if not near:
        problems.add(key, None, what, _few_nearest(missing.name, names))
        return False
    rest = path.relative_to(missing)
    fixed = missing.parent / near / rest
    problems.add(
        key,
        None,
        f"{what}; did you mean {near}?",
        list(dict.fromkeys([near, *_few_nearest(missing.name, names)])),
        assignment(key, fixed),
    )
    return False


def _nearest_file(name: str, names: list[str]) -> str | None:
    """The name with the nearest stem: a shared suffix makes no two names alike."""
    stems = {Path(each).stem: each for each in names}
    found = nearest(Path(name).stem, stems)
    return stems[found] if found else None


def _few_nearest(name: str, names: list[str]) -> list[str]:
    """Those of `names` that look like `name`, the best first: nobody looks a path up in the list of a folder."""
    return difflib.get_close_matches(name, names, n=NAMES_SHOWN)


def assignment(key: str, value: object) -> str:
    """`key=value` as it can be pasted into a shell: quoted for Hydra and the shell when it must be."""
    text = str(value)
    special = set(" ,:=[]{}()$&;'\"*?#") & set(text)
    return f"{key}={text}" if not special else f"'{key}=\"{text}\"'"


def lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file, with their line ends; lines with broken bytes are reported and left out."""
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, 1):
                if number == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    fix = f"iconv -f UTF-16 -t UTF-8 {path} > utf8{path.suffix}"
                    problems.add(path, None, "is UTF-16, UTF-8 is needed", fix=fix)
                    return
                try:
                    yield number, (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).decode("utf-8")
                except UnicodeDecodeError as error:
                    byte = f"byte {error.start + 1} of the line (0x{error.object[error.start]:02x})"
                    problems.add(path, number, f"is not UTF-8: {byte} {error.reason}")
    except OSError as error:
        problems.add(path, None, f"cannot be read: {error.strerror}")


def text(path: Path, problems: Problems) -> str | None:
    """A whole file, or None when some of it is not UTF-8 (reported)."""
    content = "".join(line for _, line in lines(path, problems))
    return None if problems.concern(path) else content


def rows(path: Path, problems: Problems) -> Iterator[Row]:
    """The records of a .csv, .tsv or JSON lines file; what is malformed is reported by file, line and column."""
    if path.suffix.lower() in TABLES:
        yield from _table_rows(path, problems)
    else:
        yield from _json_rows(path, problems)


def _json_rows(path: Path, problems: Problems) -> Iterator[Row]:
    for number, line in lines(path, problems):
        if not line.strip():
            continue
        if number == 1 and line.lstrip().startswith("["):
            problems.add(
                path, 1, "is a JSON list, one object a line is needed", fix=f"jq -c '.[]' {path} > {path.stem}.lines.jsonl"
            )
            return
        try:
            # Without its end, or the column of an error at the end would be one of the next line.
            value = json.loads(line.rstrip("\r\n"))
        except json.JSONDecodeError as error:
            problems.add(path, number, f"is not JSON: {error.msg[0].lower()}{error.msg[1:]} at column {error.colno}")
        except (ValueError, RecursionError) as error:
            problems.add(path, number, f"cannot be read as JSON: {error}")
        else:
            if isinstance(value, dict):
                yield Row(path, number, value)
            else:
                problems.add(path, number, f"is a JSON {json_type(value)}, an object is needed")


def _table_rows(path: Path, problems: Problems) -> Iterator[Row]:
    csv.field_size_limit(FIELD_LIMIT)
    stream = csv.reader((line for _, line in lines(path, problems)), delimiter=TABLES[path.suffix.lower()], strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for cells in stream:
            if header is None:
                header = [cell.strip() for cell in cells]
            elif cells and len(cells) != len(header):
                problems.add(path, start, f"has {len(cells)} columns, the header has {len(header)}")
            elif cells:
                yield Row(path, start, dict(zip(header, cells, strict=True)))
            start = stream.line_num + 1
    except csv.Error as error:
        problems.add(path, start, f"is not {path.suffix[1:].upper()}: {error}")


def json_type(value: Any) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "list", dict: "object"}
    return names.get(type(value), type(value).__name__)
