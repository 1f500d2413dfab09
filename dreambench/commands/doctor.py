"""doctor [--online] [--json] [paths.cache=FOLDER paths.outputs=FOLDER]: is everything here that a run needs?

Looks at Python and package versions, optional extras, keys (by name alone), disk space and the cache's permissions. Makes no
connection unless --online is given; then says of every provider and search service whose key or address is set (OPENAI_API_KEY,
OPENAI_BASE_URL, TAVILY_API_KEY, ...) whether it can be reached. No key is sent.
Ends with 1 when something would keep a run from working.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from dreambench.commands.exits import Exit
from dreambench.commands.verbs import VerbParser, print_json, say, split_overrides
from dreambench.errors import ConfigError, Problem
from dreambench.install import extra_hint, package_hint

OK, NOTE, WRONG = "ok", "note", "WRONG"
NEEDED = (
    "hydra-core",
    "omegaconf",
    "polars",
    "pydantic",
    "instructor",
    "litellm",
    "diskcache",
    "jinja2",
    "statsmodels",
    "httpx",
)
BAD = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that were published with malicious code."""
EXTRAS = {
    "hub": "datasets",
    "web": "ddgs",
    "mcp": "mcp",
    "local": "xllamacpp",
    "ray": "ray",
    "slurm": "hydra_plugins.hydra_submitit_launcher",
    "mlflow": "mlflow",
    "wandb": "wandb",
    "otel": "opentelemetry.exporter.otlp.proto.http",
}
"""Extras of a user, each with a module that it brings; `docs` and `dev` are for who works on the project."""
FREE = 1 << 30
"""Bytes of disk below which a run may not finish."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at (`what`), how it is (`state`: ok, note or WRONG), and what is said of it."""

    state: str
    what: str
    said: str


def doctor(arguments: Sequence[str]) -> int:
    """Prints what it finds. Raises ConfigError for bad input only."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("doctor", __doc__)
    parser.add_argument(
        "--online", action="store_true", help="see whether providers and search services that are set up can be reached"
    )
    parser.add_json()
    given = parser.parse_args(others)
    folders = _folders(overrides)
    found = [*_python(), *_packages(), *_extras(), *_keys(), *_disk(folders), *_cache(folders["paths.cache"])]
    if given.online:
        found += _online()
    if given.json:
        print_json([asdict(one) for one in found])
    else:
        say(*(f"{one.state:<5}  {one.what}: {one.said}" for one in found))
    return Exit.USER_ERROR if any(one.state == WRONG for one in found) else Exit.DONE


def _folders(overrides: Sequence[str]) -> dict[str, Path]:
    folders = {"paths.cache": Path(".dreambench/cache"), "paths.outputs": Path("outputs")}
    for override in overrides:
        key, _, value = override.partition("=")
        if key not in folders:
            raise ConfigError(Problem(override, "is no key of doctor", list(folders), "paths.cache=FOLDER"))
        folders[key] = Path(value)
    return folders


def _python() -> Iterator[Finding]:
    import dreambench

    enough = sys.version_info >= (3, 11)
    yield Finding(
        OK if enough else WRONG, "python", platform.python_version() + ("" if enough else ": 3.11 or later is needed")
    )
    yield Finding(OK, "dreambench", dreambench.__version__)


def _packages() -> Iterator[Finding]:
    for name in NEEDED:
        try:
            there = version(name)
        except PackageNotFoundError:
            yield Finding(WRONG, name, f"is not installed; type: {package_hint(name)}")
            continue
        if there in BAD.get(name, ()):
            yield Finding(WRONG, name, f"{there} is a malicious release: remove it, change every key on this machine")
        else:
            yield Finding(OK, name, there)


def _extras() -> Iterator[Finding]:
    for extra, module in EXTRAS.items():
        there = _is_there(module)
        yield Finding(
            OK if there else NOTE,
            f"extra {extra}",
            "installed" if there else f"{module} is not installed; type: {extra_hint(extra)}",
        )


NO_KEYS = "none set: only judges in this process can be asked; type: export OPENAI_API_KEY=... (or the key of another provider)"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package that it is a part of
        return False


def _keys() -> Iterator[Finding]:
    """Keys of providers that are set, by name; values are not looked at beyond being there."""
    from dreambench.judges.llm.providers import PROVIDERS

    names = sorted({name for provider in PROVIDERS.values() for name in provider.keys})
    there = [name for name in names if os.environ.get(name)]
    yield Finding(OK if there else NOTE, "keys", ", ".join(there) or NO_KEYS)


def _disk(folders: dict[str, Path]) -> Iterator[Finding]:
    for key, folder in folders.items():
        near = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        free = shutil.disk_usage(near).free
        writable = os.access(near, os.W_OK)
        state = OK if writable and free >= FREE else WRONG
        why = "" if writable else ", and cannot be written"
        yield Finding(state, key, f"{folder}: {free / (1 << 30):,.1f} GiB free{why}")


def _cache(folder: Path) -> Iterator[Finding]:
    if not folder.is_dir():
        yield Finding(NOTE, "cache", "there is none yet; the first run makes it")
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    shared = mode & 0o077
    hint = f"; type: chmod 700 {folder}" if shared else ""
    yield Finding(WRONG if shared else OK, "cache", f"mode {mode:03o}" + (": others can read answers" if shared else "") + hint)


def _online() -> Iterator[Finding]:
    """What can be reached of the providers and search services that this environment sets up."""
    from dreambench.commands.reachable import places, reach

    found = [reach(place) for place in places()]
    if not found:
        yield Finding(NOTE, "online", "nothing to reach: no provider's or search service's key or address is set")
    for one in found:
        state = NOTE if one.answered is None else OK if one.answered else WRONG
        yield Finding(state, one.place.name, one.said)
