"""Nodes: their names, addresses, identity, relatives."""
