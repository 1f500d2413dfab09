"""Evaluators: how a question about a report is worked out when one call of a judge is not enough."""
