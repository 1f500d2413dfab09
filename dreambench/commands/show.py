"""show GROUP[/OPTION] [--json] [--config-dir FOLDER]: the options of a group, or one option's file with all its keys."""

from __future__ import annotations

from collections.abc import Sequence

from dreambench.commands.exits import Exit
from dreambench.commands.ls import option_lines, purposes
from dreambench.commands.verbs import VerbParser, print_json, say, split_overrides
from dreambench.errors import ConfigError, Problem, nearest


def show(arguments: Sequence[str]) -> int:
    """Shows. Raises ConfigError for a group or an option that there is not."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("show", __doc__)
    parser.add_argument("what", metavar="GROUP[/OPTION]", help="judge, judge/litellm, ... (all: ls)")
    parser.add_json()
    given = parser.parse_args(others)
    groups = purposes(overrides)
    named = [f"{group}/{given.what}" for group, options in groups.items() if given.what in options]
    group, slash, option = (named[0] if len(named) == 1 and given.what not in groups else given.what).partition("/")
    _known(given.what, group, list(groups), "")
    if not slash:
        if given.json:
            print_json(groups[group])
        else:
            say(*option_lines({group: groups[group]}))
        return Exit.DONE
    _known(given.what, option, list(groups[group]), f"{group}/")
    text = _text(group, option, overrides)
    if given.json:
        import yaml

        print_json({"group": group, "option": option, "purpose": groups[group][option], "keys": yaml.safe_load(text)})
    else:
        say(text.rstrip("\n"))
    return Exit.DONE


def _known(where: str, name: str, names: Sequence[str], before: str) -> None:
    if name not in names:
        near = nearest(name, names)
        what = f"there is no such {'option' if before else 'group'}" + (f"; did you mean {before}{near}?" if near else "")
        raise ConfigError(Problem(where, what, names, f"python -m dreambench show {before}{near}" if near else None))


def _text(group: str, option: str, overrides: Sequence[str]) -> str:
    from dreambench.config.compose import split_flags
    from dreambench.config.locations import bundled

    folders = [*split_flags(overrides)[1], bundled("conf")]
    found = [path for folder in folders if (path := folder / group / f"{option}.yaml").is_file()]
    return found[0].read_text(encoding="utf-8")
