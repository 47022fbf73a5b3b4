"""What of a stream is dropped because no query can see it any more."""
