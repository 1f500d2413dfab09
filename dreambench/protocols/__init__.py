"""Protocols: what one task's reports are held against, made from the query alone, kept as one readable file."""

from dreambench.protocols.model import Creator, KicItem, Plan, Protocol, RqItem, Verification

__all__ = ["Creator", "KicItem", "Plan", "Protocol", "RqItem", "Verification"]
