"""Instants, lifespans, and projections of streams to times and versions."""
