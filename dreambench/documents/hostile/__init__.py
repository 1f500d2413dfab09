"""Passages of a text that address whoever judges it, and text that a reader of it cannot see.

`read_hostile` finds them, with their places, and gives the *judged text*: the same text without them. Everything that is
scored is scored on the judged text, so a detected passage cannot move a number; `Judged.original` leads offsets back.
"""

from dreambench.documents.hostile.characters import neutralise, strip_invisible
from dreambench.documents.hostile.model import Judged, Kind, Passage
from dreambench.documents.hostile.reading import judged_text, read_hostile

__all__ = ["Judged", "Kind", "Passage", "judged_text", "neutralise", "read_hostile", "strip_invisible"]
