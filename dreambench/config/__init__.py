"""From a command line to a validated run: Hydra composes, pydantic validates, nodes become objects."""
