"""Plan to equal plan: one rule a file, their order in `rules`, the way in `optimise`."""
