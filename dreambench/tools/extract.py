"""From bytes to a page: readable text, title and date of HTML, PDF or plain text. Slow work, for a thread."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from datetime import date

from dreambench.tools.fetch import HTML, PDF, Fetched
from dreambench.tools.guard import PageRefused
from dreambench.tools.page import Page
from dreambench.tools.results import Reason
from dreambench.tools.walls import wall

VERSION = 1
"""Raised when the same bytes would give another page."""
PAGE_BREAK = "\f"
"""Between the pages of a PDF's text."""
MOST_PDF_PAGES = 400
LONGEST_TEXT = 2_000_000
"""Characters kept of a page."""

_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
_HEADER_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_-]{2,20})", re.IGNORECASE)
_PDFIUM = threading.Lock()
"""PDFium must not be used by two threads at once."""


def extract(fetched: Fetched, url: str, today: date) -> Page:
    """The page in `fetched`. Raises PageRefused for walls and for what holds no readable text."""
    if fetched.media == PDF:
        return _pdf(fetched.body, url)
    markup = decode(fetched.body, fetched.headers)
    page = _html(markup, url, today) if fetched.media in HTML else Page(url, "", markup.strip()[:LONGEST_TEXT])
    found = wall(markup, page.title, page.text, fetched.headers) if fetched.media in HTML else None
    if found:
        raise PageRefused(*found)
    if page.text.strip() in ("", page.title.strip()):
        raise PageRefused(Reason.UNSUPPORTED, "no readable text (built by a script?)")
    return page


def decode(body: bytes, headers: Mapping[str, str]) -> str:
    """The text of a body: by its header, its meta tag, else UTF-8, else the Chinese or Western encoding that fits."""
    named = _HEADER_CHARSET.search(headers.get("content-type", ""))
    meta = _META_CHARSET.search(body[:4096])
    given = [named.group(1)] if named else []
    given += [meta.group(1).decode()] if meta else []
    for encoding in [*("gb18030" if name.lower() in ("gb2312", "gbk") else name for name in given), "utf-8-sig", "gb18030"]:
        try:
            return body.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("latin-1") if not given else body.decode("utf-8", "replace")


def _html(markup: str, url: str, today: date) -> Page:
    from lxml.etree import LxmlError
    from trafilatura import bare_extraction

    dates = {"original_date": True, "max_date": today.isoformat(), "extensive_search": False}
    try:
        found = bare_extraction(
            markup, url=url, with_metadata=True, include_comments=False, include_tables=True, date_extraction_params=dates
        )
    except (LxmlError, RecursionError, ValueError) as error:
        raise PageRefused(Reason.UNSUPPORTED, f"the markup cannot be read: {type(error).__name__}") from error
    if found is None or isinstance(found, dict):  # a Document: a dict is only given for the asking
        return Page(url, _title(markup), "")
    return Page(
        url=url,
        title=found.title or _title(markup),
        text=(found.text or "")[:LONGEST_TEXT],
        published=_day(found.date),
        publisher=found.sitename or "",
        language=found.language or "",
    )


def _title(markup: str) -> str:
    import html

    found = re.search(r"<title[^>]{0,200}>([^<]{0,500})", markup, re.IGNORECASE)
    return " ".join(html.unescape(found.group(1)).split()) if found else ""


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None


def _pdf(body: bytes, url: str) -> Page:
    """Text of all pages; the date is left open, because a PDF's own dates tell when it was made, not when it came out."""
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(body)
            try:
                count = min(len(document), MOST_PDF_PAGES)
                pages = [str(document[index].get_textpage().get_text_bounded()) for index in range(count)]
                title = str(document.get_metadata_value("Title") or "")
            finally:
                document.close()
        except pypdfium2.PdfiumError as error:
            raise PageRefused(Reason.UNSUPPORTED, f"the PDF cannot be read: {error}") from error
    text = PAGE_BREAK.join(page.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-") for page in pages)
    if not text.strip(PAGE_BREAK + " \n"):
        raise PageRefused(Reason.UNSUPPORTED, f"a PDF of {count} pages without text (scanned pictures?)")
    return Page(url, title.strip(), text[:LONGEST_TEXT])
