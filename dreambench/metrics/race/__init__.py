"""RACE (DeepResearch Bench, arXiv 2506.11763): a report scored beside a reference report on weighted criteria."""
