"""From a command line to an exit code: every error ends here, in words, without a traceback unless it was asked for."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from dreambench.commands.exits import Exit
from dreambench.errors import DreambenchError, InputError

BUG_REPORT = "this is a bug of dreambench; run again with debug=trace and report what it prints"


def main_code(arguments: Sequence[str]) -> int:
    """Runs the command line `arguments`; returns its exit code and prints errors to stderr."""
    from dreambench.commands.help import help_text, wants_help

    if wants_help(arguments):
        sys.stdout.write(help_text())
        return Exit.DONE
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

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
    except (DreambenchError, OSError) as error:
        return _fail(error, Exit.INCOMPLETE, trace)
    except Exception as error:  # the outermost frame of the program: say what to do, keep the code
        return _fail(f"{type(error).__name__}: {error}\n{BUG_REPORT}", Exit.BUG, trace)


def _command(arguments: Sequence[str]) -> int:
    """The verb that the first word names; a run when it names none."""
    if arguments and arguments[0] == "tool":
        from dreambench.commands.tool import tool

        return tool(arguments[1:])
    if arguments and arguments[0] == "protocol":
        from dreambench.commands.protocol import protocol

        return protocol(arguments[1:])
    from dreambench.commands.run import run

    return run(arguments)


def _fail(error: object, code: Exit, trace: bool) -> int:
    if trace:
        traceback.print_exc()
    sys.stderr.write(f"error: {error}\n")
    return code
