"""Author-year markers: `(Author, 2023; Other et al., 2020a)` and `Author (2023)`.

Their label is `authors|year`, to be looked up among the entries whose head names an author and a year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dreambench.documents.marker import Marker

_AUTHOR_YEAR = re.compile(
    r"\s*(?:(?:see|see also|e\.g\.|cf\.|i\.e\.|参见|见)[,，]?\s+)?"
    r"(?P<authors>[A-Z\u00c0-\u024f\u4e00-\u9fff][^\d;；]{1,120}?)[,，]?\s*(?P<year>(?:(?:19|20)\d\d)[a-z]?|n\.d\.)"
    r"(?P<rest>\s*(?:[,，:]\s*(?:pp?\.?\s*|第)?[\d–-]+页?)?)\s*$"
)
_YEAR_INSIDE = re.compile(r"(?:19|20)\d\d|n\.d\.")
_YEAR_ONLY = re.compile(r"\s*((?:19|20)\d\d[a-z]?|n\.d\.)\s*$")
_NAME_BEFORE = re.compile(
    r"(?P<authors>[A-Z\u00c0-\u024f][\w'’-]+(?:(?:\s+(?:and|&)\s+[A-Z][\w'’-]+)|(?:\s+et\s+al\.?)|(?:\s*等人?))?)\s*$"
)
_SPLIT = re.compile(r"[;；]")


def author_year_markers(text: str, start: int, end: int, inner: str) -> Iterator[Marker]:
    """`(Author, 2023; Other et al., 2020a)` gives one marker per author; `Author (2023)` takes the name before it."""
    if _YEAR_INSIDE.search(inner) is None:
        return
    year = _YEAR_ONLY.match(inner)
    if year is not None:
        name = _NAME_BEFORE.search(text, max(0, start - 60), start)
        if name is not None:
            key = f"{name['authors'].strip()}|{year.group(1)}"
            yield Marker(name.start(), end, "author_year", (key,), certain=False, trails=False, narrative=True)
        return
    for part in _SPLIT.split(inner):
        found = _AUTHOR_YEAR.match(part)
        if found is not None:
            yield Marker(start, end, "author_year", (f"{found['authors'].strip()}|{found['year']}",), certain=False)
