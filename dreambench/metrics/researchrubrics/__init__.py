"""ResearchRubrics: criteria that experts wrote for each task, with weights that may be negative."""
