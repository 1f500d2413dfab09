"""Tests of the studies, on tables of a few rows and on runs over one task."""
