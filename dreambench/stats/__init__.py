"""Statistics of scores: intervals, tests, agreement. Importing it loads neither scipy nor statsmodels nor pandas.

Values or tables go in, small frozen results or tables come out; every result says its method, its n and, where something
is null, the reason. Seeds are arguments.
"""

from dreambench.stats.agreement import Kappa, cohens_kappa, kendalls_w, kendalls_w_test
from dreambench.stats.binary import logit_effect, mcnemar, mcnemar_counts
from dreambench.stats.dose import DoseResponse, dose_contrasts, dose_response, smallest_detected_dose
from dreambench.stats.effects import cohens_d, cohens_d_paired
from dreambench.stats.equivalence import Equivalence, equivalent_independent, equivalent_paired
from dreambench.stats.intervals import function_interval, mean_interval, mean_intervals, ratio_interval
from dreambench.stats.multiple import adjust_column, bonferroni, holm
from dreambench.stats.paired import (
    PairedDifference,
    compare_pairs,
    minimum_detectable_difference,
    paired_difference,
    paired_power,
    tasks_needed,
)
from dreambench.stats.ranking import RankStability, fractional_wins, pairwise_agreement, rank_stability
from dreambench.stats.ranks import correlation, pairwise_correlations, wilcoxon
from dreambench.stats.raters import fleiss_kappa, krippendorffs_alpha
from dreambench.stats.repeats import icc, repeat_spread, variance_components
from dreambench.stats.results import SMALL, Estimate, TestResult, to_table
from dreambench.stats.separation import auc
from dreambench.stats.stratified import stratified_mean, stratum_weights, weighted_mean
from dreambench.stats.trend import jonckheere, monotone_share, page_trend

__all__ = [
    "SMALL",
    "DoseResponse",
    "Equivalence",
    "Estimate",
    "Kappa",
    "PairedDifference",
    "RankStability",
    "TestResult",
    "adjust_column",
    "auc",
    "bonferroni",
    "cohens_d",
    "cohens_d_paired",
    "cohens_kappa",
    "compare_pairs",
    "correlation",
    "dose_contrasts",
    "dose_response",
    "equivalent_independent",
    "equivalent_paired",
    "fleiss_kappa",
    "fractional_wins",
    "function_interval",
    "holm",
    "icc",
    "jonckheere",
    "kendalls_w",
    "kendalls_w_test",
    "krippendorffs_alpha",
    "logit_effect",
    "mcnemar",
    "mcnemar_counts",
    "mean_interval",
    "mean_intervals",
    "minimum_detectable_difference",
    "monotone_share",
    "page_trend",
    "paired_difference",
    "paired_power",
    "pairwise_agreement",
    "pairwise_correlations",
    "rank_stability",
    "ratio_interval",
    "repeat_spread",
    "smallest_detected_dose",
    "stratified_mean",
    "stratum_weights",
    "tasks_needed",
    "to_table",
    "variance_components",
    "weighted_mean",
    "wilcoxon",
]
