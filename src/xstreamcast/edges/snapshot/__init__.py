"""Snapshots of running queries as files: what a checkpoint starts again from."""
