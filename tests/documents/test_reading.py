"""Report files of every format, damaged ones included."""

import logging
import zipfile

import pytest

from dreambench.documents import load_report, parse_document, read_report
from dreambench.errors import DocumentError

HTML = """<!doctype html><html><head><title>x</title><style>p {color: red}</style></head><body>
<h1>Title</h1><p>It <b>grew</b> by 3&nbsp;%<sup><a href="#r1">1</a></sup>.
See <a href="https://a.example/x_(y)">this page</a>.</p>
<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><a href="https://t.example">t</a></td></tr></table>
<pre>x = [1]
y</pre><blockquote><p>said</p></blockquote>
<h2>References</h2><ol><li><a href="https://b.example">First source</a></li><li>Second</li></ol><script>alert(1)</script>
</body></html>"""


@pytest.mark.parametrize("name", ["r.md", "r.txt", "r", "r.markdown"])
def test_text_is_returned_as_it_is(tmp_path, name):
    path = tmp_path / name
    path.write_bytes("# 标题\r\n\r\nText [1].".encode())
    assert read_report(path) == "# 标题\r\n\r\nText [1]."
    assert load_report(path).notes == ()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
def test_other_encodings(tmp_path, encoding):
    path = tmp_path / "r.md"
    path.write_bytes("# 报告\n\n价格上涨，市场扩大。".encode(encoding))
    report = load_report(path)
    assert report.text == "# 报告\n\n价格上涨，市场扩大。"
    assert bool(report.notes) == (encoding != "utf-8-sig")


def test_broken_utf8_is_repaired_and_noted(tmp_path, caplog):
    path = tmp_path / "r.md"
    path.write_bytes(b"# Title\n\n" + b"Plain words. " * 50 + b"caf\xe9 and more.")
    report = load_report(path)
    assert "caf\ufffd" in report.text
    assert report.notes == ("not valid UTF-8 from byte 662", "1 broken characters replaced by U+FFFD")
    with caplog.at_level(logging.WARNING):
        assert read_report(path) == report.text
    assert "broken characters" in caplog.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no text"),
        (b" \n\t\n", "no text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "binary"),
        (bytes(range(128, 256)) * 20, "not text"),
        (b"%PDF-1.7 broken", "PDF"),
        (b"PK\x03\x04 broken", "DOCX"),
    ],
)
def test_what_is_no_text_is_a_clear_error(tmp_path, content, words):
    path = tmp_path / "r.md"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=words) as caught:
        read_report(path)
    assert caught.value.problems[0].where == str(path)


def test_a_missing_file_and_a_folder(tmp_path):
    for path in (tmp_path / "no.md", tmp_path):
        with pytest.raises(DocumentError, match="cannot be read"):
            read_report(path)


def test_an_archive_that_is_no_docx(tmp_path):
    path = tmp_path / "r.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(DocumentError, match="archive"):
        read_report(path)


def test_html_becomes_markdown(tmp_path):
    path = tmp_path / "r.html"
    path.write_text(HTML, encoding="utf-8")
    text = read_report(path)
    document = parse_document(text)
    assert document.title == "Title"
    assert "[this page](https://a.example/x_(y))" in text
    assert "| 1 | [t](https://t.example) |" in text
    assert "> said" in text and "```\nx = [1]\ny\n```" in text and "- one\n    - inner\n- two" in text
    assert "alert" not in text and "color" not in text
    assert [(e.label, e.title, e.url) for e in document.references] == [
        ("1", "First source", "https://b.example"),
        ("2", "Second", None),
    ]
    assert set(document.cited_urls) == {"https://b.example", "https://a.example/x_(y)", "https://t.example"}


def test_docx_becomes_markdown(tmp_path):
    docx = pytest.importorskip("docx")
    source = docx.Document()
    source.add_heading("Title", 1)
    paragraph = source.add_paragraph("It grew")
    paragraph.add_run("1").font.superscript = True
    source.add_paragraph("one", style="List Bullet")
    source.add_paragraph("two", style="List Bullet")
    table = source.add_table(rows=2, cols=2)
    table.cell(0, 0).text, table.cell(1, 1).text = "a", "b|c"
    source.save(str(tmp_path / "r.docx"))
    assert read_report(tmp_path / "r.docx") == (
        "# Title\n\nIt grew<sup>1</sup>\n\n- one\n- two\n\n| a |  |\n| --- | --- |\n|  | b\\|c |\n"
    )


def pdf_with_link():
    """A one-page PDF with the words "See this page now" and a link over "this page"."""
    stream = b"BT /F1 12 Tf 72 720 Td (See this page now) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> "
        b"/Annots [6 0 R] >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
        b"<< /Type /Annot /Subtype /Link /Rect [100.8 715 165.6 732] /A << /S /URI /URI (https://a.example/x) >> >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % at for at in offsets)
    return data + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)


def test_pdf_keeps_its_links(tmp_path):
    path = tmp_path / "r.pdf"
    path.write_bytes(pdf_with_link())
    assert read_report(path).strip() == "See [this page](https://a.example/x) now"
