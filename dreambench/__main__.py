"""The command line: `python -m dreambench [VERB] ...`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dreambench.commands.main import main_code


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and ends the process with its exit code."""
    sys.exit(main_code(sys.argv[1:] if arguments is None else arguments))


if __name__ == "__main__":
    main()
