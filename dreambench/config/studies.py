"""Which studies there are: modules of `experiments/`. Named here so that a wrong name is said before a run."""

from __future__ import annotations

from dreambench.config.locations import bundled
from dreambench.errors import ConfigError, Problem, nearest


def study_names() -> list[str]:
    """The names of all studies, sorted."""
    return sorted(path.stem for path in bundled("experiments").glob("*.py") if not path.stem.startswith("_"))


def check_study(name: str | None) -> None:
    """Raises ConfigError when `name` is no study; None is no study and fine."""
    if name is None or name in study_names():
        return
    near = nearest(name, study_names())
    what = "there is no such study" + (f"; did you mean {near}?" if near else "")
    raise ConfigError(Problem(f"study={name}", what, study_names(), f"study={near}" if near else None))
