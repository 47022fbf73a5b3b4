"""For eyes: reads changes, computes no answer."""
