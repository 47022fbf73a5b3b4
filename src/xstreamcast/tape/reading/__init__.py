"""Readers: bytes that are complete or still arriving, to tapes of documents, pieces or units."""
