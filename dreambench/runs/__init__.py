"""Runs: a validated configuration becomes judges, metrics and cells; finished cells become tables in a run folder."""
