"""DeepResearch Bench II (arXiv 2601.08536): binary rubric items in three dimensions, with a forbidden source."""
