"""The semantic judge's answers: sentence embeddings where likeness of meaning can answer, rules where it cannot."""
