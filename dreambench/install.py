"""What to type for a package that is missing: its requirement by name, which suits a checkout and an installed wheel."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

WITHOUT_THEIRS = ("local",)
"""Extras whose packages are installed without what they require in turn: it compiles for half an hour and is not used."""
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_NAME = re.compile(r"[\w.-]+")


def extra_hint(extra: str) -> str:
    """`pip install "mcp>=2.3"`: the requirements of one of dreambench's extras."""
    flags = ["--no-deps"] if extra in WITHOUT_THEIRS else []
    return _pip([wanted for of, wanted in _declared() if of == extra], flags)


def package_hint(name: str) -> str:
    """`pip install "polars>=1.0"`: a package that dreambench cannot do without, in the versions that fit."""
    return _pip([wanted for of, wanted in _declared() if not of and _plain(wanted) == _plain(name)] or [name])


def _pip(requirements: Sequence[str], flags: Sequence[str] = ()) -> str:
    return " ".join(["pip install", *flags, *(f'"{one}"' if re.search(r"[<>\[ ]", one) else one for one in requirements)])


def _plain(requirement: str) -> str:
    found = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


@cache
def _declared() -> list[tuple[str, str]]:
    """(extra, requirement) of every requirement; the extra is empty for what is always needed."""
    project = Path(__file__).parents[1] / "pyproject.toml"
    return list(_of_checkout(project) if project.is_file() else _of_metadata())


def _of_checkout(path: Path) -> Iterator[tuple[str, str]]:
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    yield from (("", one) for one in project["dependencies"])
    yield from ((extra, one) for extra, several in project["optional-dependencies"].items() for one in several)


def _of_metadata() -> Iterator[tuple[str, str]]:
    try:
        listed = requires("dreambench") or []
    except PackageNotFoundError:  # a copied folder
        return
    for one in listed:
        wanted, _, marker = one.partition(";")
        of = _EXTRA.search(marker)
        yield (of[1] if of else "", wanted.strip())
