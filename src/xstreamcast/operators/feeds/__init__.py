"""Inputs on their way in: what arrives, which units it touches, what is dropped of it."""
