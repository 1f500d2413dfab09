"""Short texts and long ones are remembered apart."""

from __future__ import annotations

from dreambench.remembered import remembered


def test_many_short_and_few_long_texts_are_made_once() -> None:
    made: list[str] = []

    def make(text: str, ending: str = "") -> str:
        made.append(text)
        return text.upper() + ending

    of = remembered(make, border=3, short=3, long=1)
    for text in ("abc", "long", "abc", "long", "ab", "abc"):
        assert of(text) == text.upper()
    assert made == ["abc", "long", "ab"], "what lies at the border is short"
    assert of("abc", ending="!") == "ABC!", "other arguments are other work"
    of("longer")
    of("long")
    assert made[-2:] == ["longer", "long"], "a second long text pushes the first out"
    assert of("ab") == "AB" and made.count("ab") == 1, "and no short one"


def test_without_room_for_long_texts_each_is_made_anew() -> None:
    made: list[str] = []
    of = remembered(lambda text: made.append(text), border=1, short=8)
    for _ in range(2):
        of("long")
        of("a")
    assert made == ["long", "a", "long"]
