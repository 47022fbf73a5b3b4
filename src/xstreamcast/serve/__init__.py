"""What answers a network client: a stream as fragments, to whoever tunes in."""
