"""Samples of a run for people to label: drawn, laid out as sheets, and the labels read back."""
