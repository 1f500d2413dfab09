"""Where the bundled folders are: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled(name: str) -> Path:
    """The bundled folder `name` (`conf`, `rubrics` or `experiments`). Raises FileNotFoundError when there is none."""
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"dreambench is installed without its folder {name!r}; reinstall it")
