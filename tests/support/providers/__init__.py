"""Providers as they look from outside: where they listen, how they are asked, and what they answer in which case."""
