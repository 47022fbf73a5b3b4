"""A circuit for people: its operators, its stages, what grows without bound."""
