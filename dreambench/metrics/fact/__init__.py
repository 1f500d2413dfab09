"""FACT (DeepResearch Bench, arXiv 2506.11763): whether the pages that a report cites support what it cites them for."""
