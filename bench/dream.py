"""All six metrics of DREAM on the demo by the embedded judge, cold and warm, as `bench.run` measures it.

python -m bench.dream
"""

from __future__ import annotations

from bench import run


def main(rounds: int = 1) -> None:
    run.main(rounds, ["metric=dream"], "metric=dream")


if __name__ == "__main__":
    main()
