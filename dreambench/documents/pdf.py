"""PDF to text: pypdfium2's reading order, with link annotations written as markdown links."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from dreambench.documents.urls import normalize_url, web_url
from dreambench.errors import DocumentError, Problem


def pdf_to_markdown(path: Path, data: bytes) -> str:
    """The text of all pages. Raises DocumentError for a damaged or locked file, or one of pictures only."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise DocumentError(Problem(str(path), f"cannot be opened as PDF: {error}")) from error
    try:
        pages = [_read_page(document[index]) for index in range(len(document))]
    except pypdfium2.PdfiumError as error:
        raise DocumentError(Problem(str(path), f"has a damaged page: {error}")) from error
    finally:
        document.close()
    text = "\n\n".join(page for page in pages if page.strip())
    if not text.strip():
        raise DocumentError(
            Problem(str(path), f"has {len(pages)} pages but no text (scanned pictures?)", type="a PDF with text")
        )
    return text


def _read_page(page: Any) -> str:
    words = page.get_textpage()
    text = str(words.get_text_bounded()).replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-")
    position = 0
    for label, url in _links(page, words):
        if not label or normalize_url(label) == normalize_url(url) or label in url:
            continue
        at = text.find(label, position)
        if at >= 0:
            linked = f"[{label}]({url})"
            text = text[:at] + linked + text[at + len(label) :]
            position = at + len(linked)
    return text


def _links(page: Any, words: Any) -> list[tuple[str, str]]:
    """(the words under it, its address) of every web link annotation of the page, top down."""
    import pypdfium2.raw as pdfium

    found: list[tuple[float, float, str, str]] = []
    position = ctypes.c_int(0)
    link = pdfium.FPDF_LINK()
    while pdfium.FPDFLink_Enumerate(page, position, link):
        url = _address(page, link)
        box = pdfium.FS_RECTF()
        if url is None or not pdfium.FPDFLink_GetAnnotRect(link, box):
            continue
        label = words.get_text_bounded(box.left, box.bottom, box.right, box.top)
        found.append((-box.top, box.left, " ".join(label.split()), url))
    return [(label, url) for _, _, label, url in sorted(found)]


def _address(page: Any, link: Any) -> str | None:
    import pypdfium2.raw as pdfium

    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return None
    size = pdfium.FPDFAction_GetURIPath(page.pdf, action, None, 0)
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(page.pdf, action, buffer, size)
    return web_url(buffer.value.decode("utf-8", errors="replace"))
