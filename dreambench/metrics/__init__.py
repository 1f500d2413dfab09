"""Metrics: what is judged of a report, and how judged items become scores. One metric, one module."""
