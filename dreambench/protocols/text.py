"""A protocol as people read it on a terminal."""

from __future__ import annotations

from collections import Counter

from dreambench.protocols.model import LEAST_KIC, Protocol


def summary(protocol: Protocol) -> str:
    """One line: what there is, of when, by whom, and what keeps a part from being used."""
    counts = f"{len(protocol.kic)} key facts, {len(protocol.rq)} reasoning questions"
    trouble = f"; fewer than {LEAST_KIC} key facts: no report can be scored on them" if _too_few(protocol) else ""
    edited = f", edited by {', '.join(dict.fromkeys(edit.by for edit in protocol.edits))}" if protocol.edits else ""
    when = f"as of {protocol.as_of}" if protocol.as_of else "date unknown"
    return f"{counts}, {when}, by {protocol.creator.value}{edited}, {protocol.content_hash()}{trouble}"


def as_text(protocol: Protocol) -> str:
    """All of a protocol but its settings."""
    lines = [protocol.query, summary(protocol)]
    if protocol.judge:
        lines.append("created with " + ", ".join(f"{key} {value}" for key, value in _named(protocol).items()))
    if protocol.hash and protocol.hash != protocol.content_hash():
        lines.append(f"edited by hand since it was written as {protocol.hash}, and not signed")
    lines += [f"edited {edit.on} by {edit.by}: {edit.note}" for edit in protocol.edits]
    for item in protocol.kic:
        lines += ["", f"{item.id} {item.question}", f"   {item.fact}{' (time-sensitive)' * item.time_sensitive}"]
        if item.url:
            lines += [f"   {item.url}{f', {item.published}' if item.published else ''}", f"   “{item.quote}”"]
    for question in protocol.rq:
        plan = question.plan
        lines += ["", f"{question.id} {question.question}", f"   extract: {plan.extract}"]
        lines += [f"   verify: {check.what} ({', '.join(check.tools)})" for check in plan.verify]
        lines += [f"   compare: {criterion}" for criterion in plan.criteria]
    if protocol.rejected:
        why = Counter(f"{one.part} {one.reason}" for one in protocol.rejected)
        lines += ["", "rejected: " + ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()))]
    return "\n".join(lines) + "\n"


def _too_few(protocol: Protocol) -> bool:
    return protocol.kic_trouble() == "protocol_invalid"


def _named(protocol: Protocol) -> dict[str, str]:
    judge, tools = protocol.judge or {}, protocol.tools or {}
    name = judge.get("model") or judge.get("judge") or "an unnamed judge"
    return {"judge": str(name), "tools": str(tools.get("tools", "none"))}
