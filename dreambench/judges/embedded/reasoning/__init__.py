"""What the embedded judge checks of a report's reasoning: which sentences, with which pages, and what code can defend."""
