"""Lines become blocks and sections; unusual markdown hides nothing."""

from dreambench.documents import BlockKind, parse_document

TEXT = """Preamble.

# One

A paragraph
of two lines.
- item
- [x] done item
  goes on

> quoted
> text

| a | b |
|---|---|
| 1 | 2 |

```python
x = [1]
```

---

## Two

1. first
2. second

Under line
==========

Last words.
"""


def test_kinds_in_order():
    document = parse_document(TEXT)
    assert [(b.kind.value, b.content.of(TEXT)) for b in document.blocks] == [
        ("paragraph", "Preamble."),
        ("heading", "One"),
        ("paragraph", "A paragraph\nof two lines."),
        ("list_item", "item"),
        ("list_item", "done item\n  goes on"),
        ("quote", "quoted\n> text"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "x = [1]"),
        ("rule", "---"),
        ("heading", "Two"),
        ("list_item", "first"),
        ("list_item", "second"),
        ("heading", "Under line"),
        ("paragraph", "Last words."),
    ]


def test_sections_nest():
    document = parse_document(TEXT)
    assert [(s.title, s.level, s.parent) for s in document.sections] == [
        ("", 0, None),
        ("One", 1, None),
        ("Two", 2, 1),
        ("Under line", 1, None),
    ]
    one = document.sections[1]
    assert one.span.of(TEXT).endswith("2. second\n\n")
    assert one.own.of(TEXT).endswith("---\n\n")
    assert {document.sections[b.section].title for b in document.blocks if b.kind is BlockKind.LIST_ITEM} == {"One", "Two"}


def test_the_title_is_the_first_top_heading():
    assert parse_document("## Small\n\n# **Big** `one`\n").title == "Big one"
    assert parse_document("## Small\n").title == "Small"
    assert parse_document("No heading.").title == ""


def test_a_fence_that_never_closes_hides_nothing():
    document = parse_document(
        "A [1].\n\n```yaml\nkey: 1\n\nB [2].\n\n## Sources\n\n[1] A: https://a.example\n[2] B: https://b.example\n"
    )
    assert [c.label for c in document.citations] == ["1", "2"]
    assert len(document.references) == 2


def test_line_ends_of_every_system():
    for end in ("\n", "\r\n", "\r"):
        document = parse_document(end.join(["# T", "", "One [1]. Two.", "", "## Sources", "", "[1] A: https://a.example"]))
        assert (document.title, len(document.sentences), len(document.resolved)) == ("T", 2, 1)
