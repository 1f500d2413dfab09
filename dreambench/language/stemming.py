"""A light stemmer of our own: plurals, -ed, -ing, -ly and irregular verbs, so that inflected forms of a word compare equal.

It never shortens a word below three letters and leaves words alone where it cannot tell; stems are for comparing, not reading.
"""

from __future__ import annotations

from functools import lru_cache

from dreambench.language.text import word_set

_IRREGULAR_FORMS = {
    "rise": "rose risen", "fall": "fell fallen", "grow": "grew grown", "win": "won", "begin": "began begun", "lead": "led",
    "build": "built", "make": "made", "find": "found", "hold": "held", "sell": "sold", "buy": "bought", "pay": "paid",
    "say": "said", "take": "took taken", "give": "gave given", "get": "got gotten", "go": "went gone", "come": "came",
    "become": "became", "write": "wrote written", "lose": "lost", "leave": "left", "meet": "met", "send": "sent",
    "spend": "spent", "keep": "kept", "think": "thought", "bring": "brought", "teach": "taught", "speak": "spoke spoken",
    "break": "broke broken", "choose": "chose chosen", "drive": "drove driven", "fly": "flew flown", "know": "knew known",
    "show": "showed shown", "see": "saw seen", "run": "ran", "sink": "sank sunk", "tell": "told", "draw": "drew drawn",
    "withdraw": "withdrew withdrawn", "shrink": "shrank shrunk", "foresee": "foresaw foreseen",
    "undergo": "underwent undergone", "overtake": "overtook overtaken", "man": "men", "woman": "women", "child": "children",
    "mouse": "mice", "foot": "feet", "tooth": "teeth", "person": "people persons", "be": "is are was were been being am",
    "have": "has had having", "do": "does did done doing", "datum": "data", "die": "died dying dies deaths death dead",
    "bear": "born", "strike": "struck", "freeze": "froze frozen", "forbid": "forbade forbidden", "analysis": "analyses",
    "crisis": "crises", "basis": "bases", "wide": "widened widening", "oversee": "oversaw overseen",
}  # fmt: skip
IRREGULAR = {form: base for base, forms in _IRREGULAR_FORMS.items() for form in forms.split()}
_KEEP = word_set(
    "news series species physics mathematics economics politics athletics always perhaps besides whereas united"
    " need speed seed feed breed indeed hundred red bed during morning evening king ring string spring wing thing"
    " nothing something anything everything sing bring ceiling family only early daily likely reply supply apply"
    " rely fly july italy assembly bus gas plus virus census status chaos lens texas paris wales athens brussels"
    " los this his its us thus yes less mars"
)
_VOWELS = frozenset("aeiouy")
_DOUBLES = frozenset("bdfgmnprt")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a lower-case English word; anything but ASCII letters comes back unchanged."""
    if word in IRREGULAR:
        return _trim(IRREGULAR[word])
    if word in _KEEP:
        return _trim(word)
    if len(word) < 4 or not (word.isascii() and word.isalpha()):
        return word
    return _trim(_suffix(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _suffix(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and _VOWELS & set(base):
            return base[:-1] if base[-1] == base[-2] and base[-1] in _DOUBLES else base
    if word.endswith("ly") and len(word) > 6:
        return word[:-2]
    return word


def _trim(word: str) -> str:
    """Without the silent e and with i for y, so that rise and rising, supply and supplies meet."""
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word
