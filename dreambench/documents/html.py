"""HTML to markdown: all text, with headings, lists, tables, code, quotes and links.

Unlike a page cleaner this keeps everything a reader sees, since reference lists are what cleaners throw away.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HIDDEN = frozenset({"script", "style", "head", "template", "noscript", "svg"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "ul", "ol", "dl", "dt", "dd", "figure", "table"}
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`"}
_SPACE = re.compile(r"[ \t\r\n\f]+")


class _Writer(HTMLParser):
    """Collects markdown while the parser walks the tags; unclosed and stray tags do no harm."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.hidden = 0
        self.pre = 0
        self.quotes: list[int] = []
        self.lists: list[int] = []
        self.links: list[tuple[str, int]] = []
        self.cells = 0
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self.hidden += 1
        elif tag in _HEADINGS:
            self._break(2)
            self.out.append("#" * int(tag[1]) + " ")
        elif tag == "br":
            self._break(1)
        elif tag == "hr":
            self._break(2)
            self.out.append("---")
            self._break(2)
        elif tag == "li":
            self._start_item()
        elif tag == "tr":
            self._break(1)
            self.out.append("|")
            self.cells = 0
        elif tag in ("td", "th"):
            self.out.append(" ")
        elif tag == "pre":
            self._break(2)
            self.out.append("```\n")
            self.pre += 1
        elif tag == "blockquote":
            self._break(2)
            self.quotes.append(len(self.out))
        elif tag == "a":
            self.links.append((dict(attrs).get("href") or "", len(self.out)))
        elif tag == "sup":
            self.out.append("<sup>")
        elif tag in _MARKS and not self.pre:
            self.out.append(_MARKS[tag])
        elif tag in _BLOCKS:
            self._start_block(tag)

    def _start_block(self, tag: str) -> None:
        if tag in ("ul", "ol"):
            self._break(1 if self.lists else 2)
            self.lists.append(0 if tag == "ul" else 1)
        elif not (self.lists or self.cells):
            self._break(2)
        if tag == "table":
            self.rows = 0

    def _start_item(self) -> None:
        self._break(1)
        indent = "    " * (len(self.lists) - 1)
        if self.lists and self.lists[-1] > 0:
            self.out.append(f"{indent}{self.lists[-1]}. ")
            self.lists[-1] += 1
        else:
            self.out.append(f"{indent}- ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden - 1)
        elif tag in _HEADINGS:
            self._break(2)
        elif tag == "a" and self.links:
            self._end_link(*self.links.pop())
        elif tag in ("td", "th"):
            self.cells += 1
            self.out.append(" |")
        elif tag == "tr":
            self._end_row()
        elif tag == "pre" and self.pre:
            self.pre -= 1
            self._break(1)
            self.out.append("```")
            self._break(2)
        elif tag == "blockquote":
            self._end_quote()
        elif tag == "sup":
            self.out.append("</sup>")
        elif tag in _MARKS and not self.pre:
            self.out.append(_MARKS[tag])
        elif tag in ("ul", "ol") and self.lists:
            self.lists.pop()
            self._break(1 if self.lists else 2)
        elif tag in _BLOCKS and not (self.lists or self.cells):
            self._break(2)

    def _end_quote(self) -> None:
        if self.quotes:
            position = self.quotes.pop()
            lines = "".join(self.out[position:]).strip().split("\n")
            self.out[position:] = ["\n".join(f"> {line}".rstrip() for line in lines)]
            self._break(2)

    def _end_row(self) -> None:
        self._break(1)
        if self.rows == 0 and self.cells:
            self.out.append("|" + " --- |" * self.cells + "\n")
        self.rows += 1
        self.cells = 0

    def _end_link(self, target: str, position: int) -> None:
        label = "".join(self.out[position:]).strip()
        if not target.lower().startswith(("http://", "https://", "#")):
            return
        del self.out[position:]
        if target.startswith("#") and not label.strip("[]").isdigit():
            self.out.append(label)
        elif target.startswith("#"):
            self.out.append(label if label.startswith("[") else f"[{label}]")
        else:
            self.out.append(f"[{label}]({target})" if label else f"<{target}>")

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        if self.pre:
            self.out.append(data)
            return
        text = _SPACE.sub(" ", data)
        if text == " " and (not self.out or self.out[-1].endswith("\n")):
            return
        if self.out and self.out[-1].endswith("\n"):
            text = text.lstrip(" ")
        self.out.append(text)

    def _break(self, count: int) -> None:
        """End the line; with 2, leave a blank one."""
        if not self.out:
            return
        tail = "".join(self.out[-3:])
        have = len(tail) - len(tail.rstrip("\n"))
        if have < count:
            self.out.append("\n" * (count - have))


def html_to_markdown(text: str) -> str:
    """Everything a reader of the page sees, as markdown."""
    writer = _Writer()
    writer.feed(text)
    writer.close()
    lines = [line.rstrip() for line in "".join(writer.out).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
