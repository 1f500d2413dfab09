"""DR3-Eval: insights of user files and sandbox, citations, facts, instructions and depth on frozen documents."""
