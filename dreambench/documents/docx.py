"""DOCX to markdown: headings, list items, tables and hyperlinks, in document order."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from dreambench.errors import DocumentError, Problem

_LEVEL = re.compile(r"(?:Heading|heading|标题)\s*(\d)$")


def docx_to_markdown(path: Path, data: bytes) -> str:
    """The document's body. Raises DocumentError when the package is damaged."""
    import docx
    from docx.opc.exceptions import OpcError
    from docx.table import Table
    from lxml.etree import XMLSyntaxError

    try:
        document = docx.Document(io.BytesIO(data))
    except (OpcError, KeyError, ValueError, XMLSyntaxError) as error:
        raise DocumentError(Problem(str(path), f"cannot be opened as DOCX: {error}")) from error
    pieces: list[str] = []
    for part in document.iter_inner_content():
        pieces.append(_table(part) if isinstance(part, Table) else _paragraph(part))
    text = "\n\n".join(piece for piece in pieces if piece.strip())
    return re.sub(r"(?m)^((?:- |\d+\. ).*)\n\n(?=- |\d+\. )", r"\1\n", text) + "\n"


def _paragraph(paragraph: Any) -> str:
    text = _inline(paragraph).strip()
    style = paragraph.style.name if paragraph.style is not None else ""
    heading = _LEVEL.match(style)
    if not text:
        return ""
    if style == "Title":
        return "# " + text
    if heading:
        return "#" * min(int(heading.group(1)), 6) + " " + text
    if style.startswith("List Number"):
        return "1. " + text
    if style.startswith("List"):
        return "- " + text
    return text


def _inline(paragraph: Any) -> str:
    """The paragraph's runs; hyperlinks as `[text](url)`, superscripts as `<sup>`."""
    from docx.text.hyperlink import Hyperlink

    pieces: list[str] = []
    for part in paragraph.iter_inner_content():
        if isinstance(part, Hyperlink):
            pieces.append(f"[{part.text}]({part.url})" if part.url else part.text)
        elif part.font.superscript and part.text.strip():
            pieces.append(f"<sup>{part.text}</sup>")
        else:
            pieces.append(part.text)
    return "".join(pieces)


def _table(table: Any) -> str:
    rows = [
        [" ".join(_inline(p) for p in cell.paragraphs).replace("|", "\\|").strip() for cell in row.cells] for row in table.rows
    ]
    if not rows:
        return ""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)
