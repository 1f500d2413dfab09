"""Edits: what is written is exactly what the log says, back and forth, and two logs chain into one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreambench.perturbations.edits import Change, Edit, EditLog, chain, make_edits, replay, revert

TEXT = st.text(alphabet="abc 中\n[1]", max_size=40)


@st.composite
def changed(draw: st.DrawFn, text: str) -> list[tuple[int, Change]]:
    """Disjoint changes of `text`, insertions and deletions among them."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    found: list[tuple[int, Change]] = []
    for start, end in pairs:
        if not found or start > found[-1][1].end:
            found.append((len(found), Change(start, end, draw(st.text(alphabet="xyz", max_size=4)), "k")))
    return found


def log_of(edits: tuple[Edit, ...]) -> EditLog:
    return EditLog("k", "flaw", 1.0, 1.0, 0, "embedded", 1, 1, edits)


@given(st.data())
def test_a_log_replays_and_reverts(data: st.DataObject) -> None:
    text = data.draw(TEXT)
    output, edits = make_edits(text, data.draw(changed(text)))
    assert replay(text, log_of(edits)) == output
    assert revert(output, log_of(edits)) == text
    assert all(output[e.after_start : e.after_end] == e.after for e in edits)


@given(st.data())
def test_two_logs_chain_into_one_that_replays(data: st.DataObject) -> None:
    text = data.draw(TEXT)
    middle, first = make_edits(text, data.draw(changed(text)))
    final, second = make_edits(middle, data.draw(changed(middle)))
    both = log_of(chain(text, final, first, second))
    assert replay(text, both) == final
    assert revert(final, both) == text


def test_a_log_does_not_fit_another_text() -> None:
    _, edits = make_edits("one two", [(0, Change(4, 7, "three", "k"))])
    with pytest.raises(ValueError, match="two"):
        replay("one one", log_of(edits))


def test_overlapping_changes_are_refused() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        make_edits("one two", [(0, Change(0, 5, "x", "k")), (1, Change(4, 7, "y", "k"))])


def test_a_change_that_changes_nothing_is_no_edit() -> None:
    output, edits = make_edits("one two", [(0, Change(0, 3, "one", "k"))])
    assert output == "one two"
    assert edits == ()
