"""The command line: what runs for which first word, and what exit code it ends with."""
