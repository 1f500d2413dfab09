"""Places in a sentence where a fact can be made false, one module per sort of fact.

Each module has `targets(line, view)`: the places it can change, each with the way to write another value there.
"""
