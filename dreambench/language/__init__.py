"""Deterministic language processing for English and Chinese: no network, no models, offsets into the given text.

Nothing is imported here, so that each caller pays for what it uses only. Read the modules from the bottom up:
`text` (folding, language), `numerals`, `units`, `amounts` and `quantities` (amounts; `comparison` compares two), `dates`,
`tokens` (words, sentences, BM25), `entities`, `polarity`, `claims` (what can be checked), `entailment` (what a passage says
about a claim, over `statements`, `checks` and `polarity_checks`).
"""
