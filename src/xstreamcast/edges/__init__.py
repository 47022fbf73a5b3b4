"""Touches the world: files, sockets, wire codecs, feed mappings, wall clock."""
