"""Start-up: `python -m dreambench --help` beside a bare Hydra app's `--help`, whole processes in turn.

python -m bench.start
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.timing import paired, process, show

BARE_APP = """
import hydra

@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(config):
    pass

main()
"""


def main(rounds: int = 7) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conf").mkdir()
        (folder / "conf" / "config.yaml").write_text("seed: 0\n", encoding="utf-8")
        (folder / "app.py").write_text(BARE_APP, encoding="utf-8")
        bare = process(["app.py", "--help"], folder)
        show("--help", *paired(process(["-m", "dreambench", "--help"], folder), bare, rounds), "bare Hydra app --help")
        show("a config error", *paired(_failing(folder), bare, rounds), "bare Hydra app --help")


def _failing(folder: Path):  # noqa: ANN202
    run = process(["-m", "dreambench", "metric.wq.rubrik=x"], folder)

    def expect_failure() -> None:
        try:
            run()
        except RuntimeError:
            return
        raise AssertionError("a wrong key was accepted")

    return expect_failure


if __name__ == "__main__":
    main()
