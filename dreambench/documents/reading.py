"""Report files: markdown, text, HTML, PDF or DOCX in, markdown out, links kept.

The format is told by the file's first bytes and its suffix. What cannot be text (a picture, an archive, nothing at
all) raises `DocumentError`; damaged text is repaired and every repair is noted in `ReportFile.notes`.
"""

from __future__ import annotations

import logging
import zipfile
from dataclasses import dataclass
from pathlib import Path

from dreambench.documents.html import html_to_markdown
from dreambench.errors import DocumentError, Problem

logger = logging.getLogger(__name__)

SUFFIXES = (".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx")
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_HTML_STARTS = ("<!doctype html", "<html", "<?xml", "<head", "<body")
# More undecodable characters than this share is no damaged text but something else.
_MAX_BROKEN = 0.02


@dataclass(frozen=True, slots=True)
class ReportFile:
    """The text of a report file and what had to be repaired to read it."""

    text: str
    notes: tuple[str, ...] = ()


def read_report(path: Path) -> str:
    """The text of a report file in markdown; repairs are logged as warnings. Raises DocumentError."""
    report = load_report(path)
    for note in report.notes:
        logger.warning("%s: %s", path, note)
    return report.text


def load_report(path: Path) -> ReportFile:
    """As `read_report`, with the repairs returned instead of logged."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DocumentError(Problem(str(path), f"cannot be read: {reason}", type="a file that exists")) from error
    report = _convert(path, data)
    if not report.text.strip():
        raise DocumentError(Problem(str(path), "has no text in it", type="a report that is not empty"))
    return report


def _convert(path: Path, data: bytes) -> ReportFile:
    suffix = path.suffix.lower()
    if data.startswith(b"%PDF-") or suffix == ".pdf":
        from dreambench.documents.pdf import pdf_to_markdown

        return ReportFile(pdf_to_markdown(path, data))
    if data.startswith(b"PK\x03\x04") or suffix == ".docx":
        return ReportFile(_read_docx(path, data))
    text, notes = decode_text(data, str(path))
    if suffix in (".html", ".htm") or text.lstrip()[:20].lower().startswith(_HTML_STARTS):
        return ReportFile(html_to_markdown(text), notes)
    return ReportFile(text, notes)


def _read_docx(path: Path, data: bytes) -> str:
    import io

    from dreambench.documents.docx import docx_to_markdown

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile as error:
        raise DocumentError(Problem(str(path), "is no DOCX file", SUFFIXES)) from error
    if "word/document.xml" not in names:
        raise DocumentError(Problem(str(path), "is an archive, not a report", SUFFIXES))
    return docx_to_markdown(path, data)


def decode_text(data: bytes, where: str) -> tuple[str, tuple[str, ...]]:
    """(text, notes): by byte-order mark, as UTF-8, as GB 18030, or as UTF-8 with the broken bytes replaced.

    Raises DocumentError for bytes that are no text: NUL bytes, or more than 2 % broken.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace")
            return _checked(text, where, f"decoded as {encoding.upper()}" if "utf-8" not in encoding else "")
    if b"\x00" in data:
        raise DocumentError(Problem(where, "is binary (it holds NUL bytes)", SUFFIXES))
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        first_bad = error.start
    repaired = data.decode("utf-8", errors="replace")
    if repaired.count("\ufffd") <= max(3, _MAX_BROKEN * len(repaired)):
        return _checked(repaired, where, f"not valid UTF-8 from byte {first_bad}")
    try:
        chinese = data.decode("gb18030")
    except UnicodeDecodeError:
        raise DocumentError(Problem(where, f"is not text: invalid UTF-8 from byte {first_bad}", SUFFIXES)) from None
    if _looks_chinese(chinese):
        return chinese, ("decoded as GB 18030, because it is not UTF-8",)
    raise DocumentError(Problem(where, f"is not text: invalid UTF-8 from byte {first_bad}", SUFFIXES))


def _looks_chinese(text: str) -> bool:
    """Whether most characters beyond ASCII are everyday Chinese and nothing is a control character."""
    foreign = [char for char in text if char > "\x7f"]
    everyday = sum(
        1 for char in foreign if "\u4e00" <= char <= "\u9fff" or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef"
    )
    controls = sum(1 for char in text if char < " " and char not in "\n\r\t\f")
    return bool(foreign) and controls == 0 and everyday >= 0.9 * len(foreign)


def _checked(text: str, where: str, note: str) -> tuple[str, tuple[str, ...]]:
    broken = text.count("\ufffd")
    if broken > max(3, _MAX_BROKEN * len(text)):
        raise DocumentError(Problem(where, f"is not text: {broken} of {len(text)} characters cannot be decoded", SUFFIXES))
    notes = tuple(part for part in (note, f"{broken} broken characters replaced by U+FFFD" if broken else "") if part)
    return text, notes
