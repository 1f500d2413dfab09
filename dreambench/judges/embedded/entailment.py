"""`entailment` by rules: each passage is compared with the claim (`dreambench.language.entailment`), the surest verdict wins.

Settings: `labels`; every label must be known by name (`supported`, `contradicted`, ...), so that the four relations of the
rules (supports, partially, contradicts, unrelated) have a label each. Passages published after `as_of` are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dreambench.judges.kinds.entailment import Context, Passage, labels_of, unquoted_of
from dreambench.language.entailment import Label, Relation, relate

MEANINGS: Mapping[Label, Sequence[str]] = {
    "supports": ("supported", "supports", "entailed", "confirmed", "confirms", "yes"),
    "partially": ("partially_supported", "partially", "partial", "partly_supported", "partly"),
    "contradicts": ("contradicted", "contradicts", "refuted", "refutes", "no"),
    "unrelated": ("neutral", "unrelated", "unknown", "unverifiable", "not_mentioned", "silent"),
}
"""Which labels can say what, the best fitting first."""
Decide = Callable[[str, Sequence[Passage]], tuple[Passage, Relation]]
_INSTEAD: Mapping[Label, Sequence[str]] = {
    "supports": (),
    "partially": MEANINGS["supports"],
    "contradicts": ("unsupported", "not_supported"),
    "unrelated": ("unsupported", "not_supported"),
}
_NOTHING_READ = ("unverifiable", "unknown")
_KNOWN = frozenset(name for names in (*MEANINGS.values(), *_INSTEAD.values()) for name in names)


def refusal(settings: Mapping[str, Any]) -> str | None:
    """Why a rubric's labels cannot be given: an unknown one, or a relation that no label stands for."""
    labels = labels_of(settings)
    if strange := [label for label in labels if label not in _KNOWN]:
        return f"it does not know what the label {strange[0]!r} means; it knows {', '.join(sorted(_KNOWN))}"
    if missing := [relation for relation in MEANINGS if _label_for(relation, labels) is None]:
        return f"no label says that a passage {missing[0]} the claim"
    if needing := [label for label in _silent_labels(labels) if label not in unquoted_of(settings)]:
        return f"it has no quote for the label {needing[0]!r}; name it in the setting unquoted"
    return None


def answer(settings: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """The verdict of the passage that decides, with its sentence."""
    return verdict(settings, context, decide)


def verdict(settings: Mapping[str, Any], context: Context, decide: Decide) -> dict[str, Any]:
    """The answer under the rubric's labels, where `decide` chooses the passage and its relation to the claim."""
    labels = labels_of(settings)
    usable = [p for p in context.passages if p.text.strip() and not (context.as_of and p.published > context.as_of)]
    if not usable:
        label = next((label for label in _NOTHING_READ if label in labels), _label_for("unrelated", labels))
        left_out = f"; {len(context.passages)} are empty or later than {context.as_of}" if context.passages else ""
        return {"reason": f"There is no passage to read{left_out}.", "passage": "", "quote": "", "label": label}
    passage, relation = decide(context.claim, usable)
    quoted = relation.label != "unrelated" and bool(relation.quote)
    return {
        "reason": f"{relation.label} (sure to {relation.confidence:.2f}): {relation.why}.",
        "passage": passage.id if quoted else "",
        "quote": relation.quote[0].text if quoted else "",
        "label": _label_for(relation.label, labels),
    }


def decide(claim: str, passages: Sequence[Passage]) -> tuple[Passage, Relation]:
    """The passage with the surest support or contradiction; else the best partial support; else the first passage."""
    found = [(passage, relate(claim, passage.text)) for passage in passages]
    rank = {"supports": 2, "contradicts": 2, "partially": 1, "unrelated": 0}
    return max(found, key=lambda pair: (rank[pair[1].label], pair[1].confidence if pair[1].label != "unrelated" else 0.0))


def _label_for(relation: Label, labels: Sequence[str]) -> str | None:
    return next((name for name in (*MEANINGS[relation], *_INSTEAD[relation]) if name in labels), None)


def _silent_labels(labels: Sequence[str]) -> set[str]:
    """The labels that are given without a quote."""
    nothing_read = [label for label in _NOTHING_READ if label in labels][:1]
    return {label for label in (*nothing_read, _label_for("unrelated", labels)) if label is not None}
