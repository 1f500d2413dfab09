"""Tests of the perturbations."""
