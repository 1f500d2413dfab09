"""Judges: backbones behind one typed interface, `await judge.ask(rubric, **context)`."""
