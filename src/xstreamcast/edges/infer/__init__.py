"""Proposing a tag structure from documents, a DTD or an XML Schema, with a reason for each type."""

from xstreamcast.edges.infer.propose import Proposal, Wishes, propose

__all__ = ["Proposal", "Wishes", "propose"]
