"""The live view: it reads changes and computes no answer."""
