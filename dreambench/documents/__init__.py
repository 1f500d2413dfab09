"""Reports as structure: `parse_document` reads markdown or plain text, `read_report` reads files.

A `Document` knows its sections, blocks, sentences, citation markers, reference lists and wrappers by character
offsets into the given text.
"""

from dreambench.documents.measure import count_words, detect_language
from dreambench.documents.model import (
    Block,
    BlockKind,
    Citation,
    CitationStatus,
    Document,
    Reference,
    Section,
    Sentence,
    Span,
    Wrapper,
    WrapperKind,
)
from dreambench.documents.parse import parse_document
from dreambench.documents.reading import ReportFile, load_report, read_report
from dreambench.documents.urls import normalize_url, registrable_domain

__all__ = [
    "Block",
    "BlockKind",
    "Citation",
    "CitationStatus",
    "Document",
    "Reference",
    "ReportFile",
    "Section",
    "Sentence",
    "Span",
    "Wrapper",
    "WrapperKind",
    "count_words",
    "detect_language",
    "load_report",
    "normalize_url",
    "parse_document",
    "read_report",
    "registrable_domain",
]
