"""`python -m bench`: every benchmark, one after the other."""

from __future__ import annotations

from bench import cache, calls, client, corpus, dream, load, memory, parse, run, scale, start, use, warm


def main() -> None:
    for module in (start, parse, cache, corpus, run, dream, warm, client, use, load, calls, memory, scale):
        print(f"\n# {module.__name__}")
        module.main()


if __name__ == "__main__":
    main()
