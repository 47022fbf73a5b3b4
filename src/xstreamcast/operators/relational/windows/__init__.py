"""Windows over the items of each outer row."""
