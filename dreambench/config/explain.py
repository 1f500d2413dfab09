"""Hydra's exceptions in our four parts: where, what is wrong, what is allowed or nearest, what to type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from hydra.errors import (
    ConfigCompositionException,
    HydraException,
    MissingConfigException,
    OverrideParseException,
)
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dreambench.config.compose import FLAGS, SHORT_FLAGS, compose, split_flags
from dreambench.config.locations import bundled
from dreambench.config.nodes import COMMON
from dreambench.config.secrets import HIDDEN, SECRET, shown
from dreambench.errors import ConfigError, Problem, nearest

MULTI_SELECT = ("judge", "metric", "perturbation")


def explain(error: HydraException | OmegaConfBaseException, arguments: Sequence[str]) -> ConfigError:
    """The readable form of what Hydra raised on a command line."""
    overrides, folders = split_flags(arguments)
    if isinstance(error, MissingConfigException):
        return ConfigError(_missing_option(error, folders))
    if isinstance(error, OverrideParseException):
        return ConfigError(_bad_syntax(error, overrides))
    text = str(error)
    if found := re.search(r"Could not override '([^']+)'", text):
        return ConfigError(_unknown_key(found.group(1), overrides, folders))
    if found := re.match(r"Ambiguous value for argument '([^']+)'", text):
        return ConfigError(_several_values(found.group(1), folders))
    where = getattr(error, "full_key", None) or "command line"
    return ConfigError(Problem(str(where), " ".join(text.split())))


def bad_choices(arguments: Sequence[str]) -> list[Problem]:
    """What Hydra would take in silence: options named twice in one list (`judge=[a,a]`, `metric=[dream,wq]`), which it folds,
    and a debug option that does not exist, which it leaves out because the group is optional."""
    problems = []
    overrides, folders = split_flags(arguments)
    for override in overrides:
        group, _, value = override.partition("=")
        group = group.lstrip("+")
        if group == "debug" and value not in ("", "null") and value not in (options := group_options(folders)["debug"]):
            problems.append(_no_option("debug", value, options))
        if group in MULTI_SELECT and value.startswith("["):
            chosen = [name.strip() for name in value.strip("[]").split(",")]
            held = {name: _bundle(group, name, folders) for name in chosen}
            for bundle, members in held.items():
                for name in [name for name in members if name in chosen]:
                    rest = ",".join(other for other in chosen if other != name)
                    problems.append(Problem(override, f"names {name} twice: {bundle} holds it", type=f"{group}=[{rest}]"))
            for name in sorted({name for name in chosen if chosen.count(name) > 1}):
                problems.append(
                    Problem(
                        override,
                        f"names {name} twice",
                        type=f"+{group}@{group}.first={name} +{group}@{group}.second={name}",
                    )
                )
    return problems


def unknown_flags(arguments: Sequence[str]) -> list[Problem]:
    """Options of a run that there are not: Hydra's parser would print its whole usage. Beginnings of options are taken."""
    problems = []
    for name in (word.partition("=")[0] for word in arguments if word.startswith("-") and word.strip("-")):
        known = any(flag.startswith(name) for flag in FLAGS) if name.startswith("--") else name.startswith(SHORT_FLAGS)
        if not known:
            near = nearest(name, FLAGS)
            what = "is no option" + (f"; did you mean {near}?" if near else "; settings are KEY=VALUE, without dashes")
            problems.append(Problem(name, what, FLAGS, f"python -m dreambench {near or '--help'}"))
    return problems


def _bundle(group: str, name: str, folders: Sequence[Path]) -> list[str]:
    """The options that an option stands for (its defaults list); most stand for themselves."""
    for root in (*folders, bundled("conf")):
        if (path := root / group / f"{name}.yaml").is_file():
            content = OmegaConf.to_container(OmegaConf.load(path))
            defaults = content.get("defaults", []) if isinstance(content, dict) else []
            return [one for one in defaults if isinstance(one, str)]
    return []


def group_options(folders: Iterable[Path] = ()) -> dict[str, list[str]]:
    """Every config group with its options, the user's folders included."""
    options: dict[str, set[str]] = {}
    for root in (bundled("conf"), *folders):
        for path in root.rglob("*.yaml"):
            if path.parent != root:
                group = path.parent.relative_to(root).as_posix()
                options.setdefault(group, set()).add(path.stem)
    return {group: sorted(names) for group, names in sorted(options.items())}


def _missing_option(error: MissingConfigException, folders: Sequence[Path]) -> Problem:
    name = str(error.missing_cfg_file)
    group, _, option = name.removesuffix(".yaml").rpartition("/")
    options = group_options(folders)
    if group not in options and group.partition("/")[0] in options:
        group, _, option = name.removesuffix(".yaml").partition("/")
    if group == "judge" and "/" in option:
        what = f"there is no judge called {option}; a model is a key of a judge"
        return Problem(f"judge={option}", what, options[group], f"judge=litellm judge.litellm.model={option}")
    return _no_option(group, option, options.get(group, []))


def _no_option(group: str, option: str, options: Sequence[str]) -> Problem:
    near = nearest(option, options) or next((name for name in options if option and name.startswith(option)), None)
    plus = "+" if group == "experiment" else ""
    what = f"there is no {group} called {option}" + (f"; did you mean {near}?" if near else "")
    return Problem(f"{plus}{group}={option}", what, options, f"{plus}{group}={near}" if near else None)


def _bad_syntax(error: OverrideParseException, overrides: Sequence[str]) -> Problem:
    override = getattr(error, "override", None) or (overrides[-1] if overrides else "")
    reason = str(error).splitlines()[0]
    if SECRET.search(str(override)):
        override, reason = f"{str(override).partition('=')[0]}={HIDDEN}", "a value with = or ? stands in quotes"
    return Problem(str(override or "command line"), f"cannot be read: {reason}", ["key=value", "key=[a,b]", "key='a text'"])


def _several_values(override: str, folders: Sequence[Path]) -> Problem:
    """`metric=wq,da`: a list without its brackets, or a sweep without its flag."""
    key, _, value = override.partition("=")
    value = shown(key, value)
    sweep = f"-m {key}={value}"
    if key in MULTI_SELECT or key not in group_options(folders):
        what, fix = "a list stands in brackets", f'"{key}=[{value}]"'
    else:
        what, fix = "a run has one option of this group", sweep
    return Problem(f"{key}={value}", what, [f"{key}=[a,b]"] * (fix != sweep) + [f"{sweep} (a run for each)"], fix)


def _unknown_key(key: str, overrides: Sequence[str], folders: Sequence[Path]) -> Problem:
    value = shown(key, next((o.partition("=")[2] for o in overrides if o.partition("=")[0].split("@")[0] == key), "..."))
    groups = group_options(folders)
    if key == "experiment":
        return Problem(f"experiment={value}", "experiments are added to the defaults", groups[key], f"+experiment={value}")
    head = key.split(".")[0]
    if "." not in key:
        known = sorted({*groups, "seed", "as_of", "study"} - {"experiment"})
        near = nearest(key, known)
        return Problem(
            f"{key}={value}",
            "no such group or key" + (f"; did you mean {near}?" if near else ""),
            known,
            f"{near}={value}" if near else None,
        )
    if head in MULTI_SELECT and (hint := _unselected(key, value, groups.get(head, []), overrides, folders)):
        return hint
    if head not in MULTI_SELECT and (having := _options_with(key, groups.get(head, []), folders)):
        what = "no such key of the option that this run has; another one has it"
        return Problem(f"{key}={value}", what, [f"{head}={name}" for name in having], f"{head}={having[0]} {key}={value}")
    known = [name for name in _keys_of(overrides, folders) if not name.endswith("._target_")]
    near = _nearest_key(key, known)
    siblings = [name for name in known if name.rpartition(".")[0] == key.rpartition(".")[0]]
    what = "no such key" + (f"; did you mean {near}?" if near else "")
    if not siblings and f"{key.rpartition('.')[0]}._target_" in _keys_of(overrides, folders):
        what = f"no such key: {key.rpartition('.')[0]} has none"
    return Problem(f"{key}={value}", what, siblings, f"{near}={value}" if near else None)


def _options_with(key: str, options: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """The options that have `key` (`engine.workers`), the one of the key's own name first."""
    group, _, rest = key.partition(".")
    having = [option for option in options if rest in _own_keys(group, option, folders)]
    return sorted(having, key=lambda option: option != rest)


def _own_keys(group: str, option: str, folders: Sequence[Path]) -> set[str]:
    """The keys in an option's file and in those of its group that it starts from."""
    for root in (*folders, bundled("conf")):
        if (path := root / group / f"{option}.yaml").is_file() and isinstance(content := OmegaConf.load(path), DictConfig):
            bases = [base for base in content.pop("defaults", []) if isinstance(base, str) and base != "_self_"]
            inherited = [_own_keys(group, base, folders) for base in bases if base != option]
            return set(_flatten(content)).union(*inherited)
    return set()


def _unselected(
    key: str, value: str, options: Sequence[str], overrides: Sequence[str], folders: Sequence[Path]
) -> Problem | None:
    """`judge.model=x` (no option named) and `judge.litellm.model=x` (an option that the run does not have)."""
    group, name, *rest = key.split(".")
    selected = sorted({known.split(".")[1] for known in _keys_of(overrides, folders) if known.startswith(f"{group}.")})
    if rest and name in options and name not in selected:
        what = f"{name} is not among this run's {group} options ({', '.join(selected)})"
        return Problem(f"{key}={value}", what, type=f"{group}={name} {key}={value}")
    if rest and name not in selected and name not in options:
        near = nearest(name, [*selected, *options])
        what = f"there is no {group} called {name}" + (f"; did you mean {near}?" if near else "")
        hint = ".".join([group, near, *rest]) if near else None
        return Problem(f"{key}={value}", what, selected, f"{hint}={value}" if hint else None)
    if not rest:
        having = [n for n in _keys_of(overrides, folders) if n.startswith(f"{group}.") and n.endswith(f".{name}")]
        example = having[0] if having else f"{group}.{selected[0] if selected else 'NAME'}.{name}"
        return Problem(
            f"{key}={value}",
            f"a key of {group} starts with the option that it belongs to",
            [f"{group}.{option}.{name}" for option in selected],
            f"{example}={value}",
        )
    return None


def _nearest_key(key: str, known: Sequence[str]) -> str | None:
    group = key.split(".")[0]
    return nearest(key, [name for name in known if name.startswith(f"{group}.")]) or nearest(key, known)


def _keys_of(overrides: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Full names of all keys of the run without its key overrides: what can be overridden."""
    choices = [override for override in overrides if "." not in override.partition("=")[0].split("@")[0]]
    try:
        config = compose(choices, folders)
    except (HydraException, ConfigCompositionException):
        config = compose([])
    common = [f"{group}.{name}.{key}" for group, keys in COMMON.items() for name in config.get(group) or () for key in keys]
    return sorted({*_flatten(config), *common})


def _flatten(config: DictConfig, prefix: str = "") -> Iterable[str]:
    for key in config:
        path = f"{prefix}{key!s}"
        if OmegaConf.is_dict(child := config._get_node(key)):
            yield from _flatten(child, f"{path}.")  # type: ignore[arg-type]
        else:
            yield path
