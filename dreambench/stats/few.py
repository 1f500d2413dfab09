"""How many tasks a number needs before something is said of it: the same for tables, findings, comparisons and gates."""

from __future__ import annotations

FEW_TASKS = 20
"""Below this many tasks an interval is marked."""
FEWEST_TASKS = 5
"""Below this many tasks no interval is shown and no bound is relied on: it would assume a spread that so few tasks cannot tell,
and says next to nothing (over 2 tasks the t interval of usual scores is as wide as their range: `bench.stats_coverage`).
Tables of numbers keep it."""
