"""dreambench scores deep-research reports and puts the metrics themselves to the test."""

__version__ = "0.1.0"
