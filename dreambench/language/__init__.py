"""Deterministic language processing for English and Chinese: no network, no models, offsets into the given text."""
