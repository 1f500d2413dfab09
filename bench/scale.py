"""More than one process, and more than one machine's worth of rows.

python -m bench.scale [PART]      a part alone: judge, rows, estimate

judge     the embedded judge on demo reports: two worker processes against one process, beside a bare process pool that does the
          same work (the same questions put to the same answering functions, nothing else), in the same run
rows      1,000,000 judgments, written in the run's own schema and aggregated in a process of its own: seconds and peak memory
estimate  a run of 100,000 reports, computed from what the other parts measure
"""

from __future__ import annotations

import sys

from bench import scale_estimate, scale_judge, scale_rows

PARTS = {"judge": scale_judge.main, "rows": scale_rows.main, "estimate": scale_estimate.main}


def main(arguments: list[str] | None = None) -> None:
    for part in arguments or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
