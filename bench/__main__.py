"""`python -m bench`: every benchmark, one after the other."""

from __future__ import annotations

from bench import cache, run, start


def main() -> None:
    for module in (start, cache, run):
        print(f"\n# {module.__name__}")
        module.main()


if __name__ == "__main__":
    main()
