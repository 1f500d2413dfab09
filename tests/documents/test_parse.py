"""A whole small report: every part is found and offsets point into the given text."""

from dreambench.documents import CitationStatus, parse_document

REPORT = """# Solar growth

Capacity grew by 3 %.[1] Prices fell later. [2, 3] See also [a note](https://site.example/a_(b)).

## Sources

[1] First source: https://one.example/x
[2] https://two.example - Second source
[3] Third source, in print
"""


def test_a_small_report_is_taken_apart():
    document = parse_document(REPORT)
    assert document.text == REPORT
    assert document.title == "Solar growth"
    assert [c.status for c in document.citations] == [
        CitationStatus.RESOLVED,
        CitationStatus.RESOLVED,
        CitationStatus.NO_URL,
        CitationStatus.RESOLVED,
    ]
    assert document.cited_urls == ("https://one.example/x", "https://two.example", "https://site.example/a_(b)")
    assert [document.sentence_text(i) for i in range(len(document.sentences))] == [
        "Capacity grew by 3 %.[1]",
        "Prices fell later. [2, 3]",
        "See also [a note](https://site.example/a_(b)).",
    ]
    assert [entry.title for entry in document.references] == ["First source", "Second source", "Third source, in print"]
