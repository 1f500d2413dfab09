"""DeepWeb-Bench (arXiv 2605.21482): matrix tasks of entities x dimensions, every cell graded 1, .5, .25 or 0.

`importer` reads the public shapes, `cells` finds the cells of a Markdown text, `reference` types those of a reference,
`rules` reads scoring rubrics, `tolerance` grades what code can settle, `metric` puts it all into the item table,
`analysis` holds the tables over many cases, `audit` the five conditions of admission, `answering` lets a model answer.
"""
