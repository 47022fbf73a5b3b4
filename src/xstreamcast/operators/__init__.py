"""Owns state that moves as changes arrive and can be snapshotted."""
