"""SAFE: the facts of a long answer checked one by one against search results, and F1@K."""
