"""Servers: a stream is sent as fragments to all listeners."""
