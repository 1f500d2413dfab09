"""Other benchmarks' data and rules, one package each; they score through the same item table, engine and statistics."""
