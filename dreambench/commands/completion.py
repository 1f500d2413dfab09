"""completion bash|zsh [--config-dir FOLDER]: a script that completes verbs, groups and options of the command `dreambench`.

bash: eval "$(dreambench completion bash)"     zsh: eval "$(dreambench completion zsh)"
"""

from __future__ import annotations

from collections.abc import Sequence

from dreambench.commands.exits import Exit
from dreambench.commands.ls import purposes
from dreambench.commands.verbs import VerbParser, say, split_overrides

BASH = """_dreambench() {{
  COMPREPLY=($(compgen -W "{words}" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace
}}
COMP_WORDBREAKS=${{COMP_WORDBREAKS//=}}
complete -o default -F _dreambench dreambench"""
ZSH = """_dreambench() {{ compadd -- {words}; _files }}
(( $+functions[compdef] )) || {{ autoload -Uz compinit; compinit }}
compdef _dreambench dreambench"""


def completion(arguments: Sequence[str]) -> int:
    """Prints the script of a shell."""
    overrides, others = split_overrides(arguments)
    parser = VerbParser("completion", __doc__)
    parser.add_argument("shell", metavar="bash|zsh", choices=("bash", "zsh"))
    given = parser.parse_args(others)
    script = BASH if given.shell == "bash" else ZSH
    say(script.format(words=" ".join(words(overrides))))
    return Exit.DONE


def words(overrides: Sequence[str] = ()) -> list[str]:
    """What can stand on a command line: verbs, `group=` and `group=option`."""
    from dreambench.commands.main import VERBS

    found = [*VERBS]
    for group, options in purposes(overrides).items():
        key = f"+{group}" if group == "experiment" else group
        found += [f"{key}=", *(f"{key}={option}" for option in options)]
    return found
