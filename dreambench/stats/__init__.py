"""Statistics of scores: intervals, tests, agreement. Importing it loads neither scipy nor statsmodels nor pandas."""

from dreambench.stats.intervals import function_interval, mean_interval, mean_intervals, ratio_interval
from dreambench.stats.results import SMALL, Estimate, TestResult, to_table

__all__ = [
    "SMALL",
    "Estimate",
    "TestResult",
    "function_interval",
    "mean_interval",
    "mean_intervals",
    "ratio_interval",
    "to_table",
]
