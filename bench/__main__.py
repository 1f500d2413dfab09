"""`python -m bench`: every benchmark, one after the other."""

from __future__ import annotations

from bench import cache, corpus, dream, memory, parse, run, start


def main() -> None:
    for module in (start, parse, cache, corpus, run, dream, memory):
        print(f"\n# {module.__name__}")
        module.main()


if __name__ == "__main__":
    main()
