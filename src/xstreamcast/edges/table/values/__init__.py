"""Values inside of payloads, kept as columns: where they decide, payloads need not be read."""
