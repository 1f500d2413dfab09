"""From a command line to an exit code: every error ends here, in words, without a traceback unless it was asked for."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module

from dreambench.commands.exits import Exit
from dreambench.errors import ConfigError, DreambenchError, InputError, Problem, nearest

VERBS = (
    *("answer", "cache", "check", "check-benchmark", "compare", "completion", "doctor", "export", "ls", "new"),
    *("perturb", "plan", "protocol", "report", "sample", "show", "tool", "view"),
)
"""Modules of this package; each has a function of its name."""
INSTALL = "type: .venv/bin/python -m dreambench ... (make demo creates .venv), or pip install CHECKOUT_OR_WHEEL"
BUG_REPORT = "this is a bug of dreambench; run again with debug=trace and report what it prints"


def main_code(arguments: Sequence[str]) -> int:
    """Runs the command line `arguments`; returns its exit code and prints errors to stderr."""
    from dreambench.commands.help import help_text, wants_help

    if wants_help(arguments):
        sys.stdout.write(help_text())
        return Exit.DONE
    if list(arguments) == ["--version"]:
        import dreambench

        sys.stdout.write(f"dreambench {dreambench.__version__}\n")
        return Exit.DONE
    try:
        from hydra.errors import HydraException
        from omegaconf.errors import OmegaConfBaseException
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is not installed in this Python ({sys.executable})\n  {INSTALL}", Exit.USER_ERROR, False)

    trace = any(argument in ("debug=trace", "debug=tiny", "traceback=true") for argument in arguments)
    try:
        return _command(arguments)
    except SystemExit as error:  # argparse: usage errors are 2 there, and 1 here
        return Exit.USER_ERROR if error.code == 2 else int(error.code or 0)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except InputError as error:
        return _fail(error, Exit.USER_ERROR, trace)
    except (HydraException, OmegaConfBaseException) as error:
        from dreambench.config.explain import explain

        return _fail(explain(error, arguments), Exit.USER_ERROR, trace)
    except BrokenPipeError:  # whoever read our output has enough (`| head`): no error, and nothing more to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except (DreambenchError, OSError) as error:
        return _fail(error, Exit.INCOMPLETE, trace)
    except Exception as error:  # the outermost frame of the program: say what to do, keep the code
        return _fail(f"{type(error).__name__}: {error}\n{BUG_REPORT}", Exit.BUG, trace)


def _command(arguments: Sequence[str]) -> int:
    """The verb that the first word names; a run when it names none. A verb is a module of this package."""
    if arguments and arguments[0] in VERBS:
        verb = arguments[0].replace("-", "_")
        command: Callable[[Sequence[str]], int] = getattr(import_module(f"dreambench.commands.{verb}"), verb)
        return command(arguments[1:])
    if arguments and arguments[0][:1].isalpha() and arguments[0].replace("-", "_").isidentifier():
        near = nearest(arguments[0], VERBS)
        what = "there is no such verb" + (f"; did you mean {near}?" if near else "")
        raise ConfigError(Problem(arguments[0], what, VERBS, f"python -m dreambench {near} ..." if near else None))
    from dreambench.commands.run import run

    return run(arguments)


def _fail(error: object, code: Exit, trace: bool) -> int:
    if trace:
        traceback.print_exc()
    sys.stderr.write(f"error: {error}\n")
    return code
