"""Expert consulting (arXiv 2605.17554): the Verifier-Rubric Score, its gates and its analyses."""
