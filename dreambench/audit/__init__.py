"""The metric audit: what a metric sees, what it does not, what alarms it for nothing, how reliable it is and what it costs.

Works on the tables of finished runs; `experiments/metric_audit.py` puts the parts together, `docs/audit.md` says what every
number means.
"""
