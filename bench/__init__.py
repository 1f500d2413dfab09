"""Benchmarks, each beside a bare baseline in the same run: `make bench`, or `python -m bench.NAME` for one."""
