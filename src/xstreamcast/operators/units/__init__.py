"""Units: built from histories and documents, evaluated, kept, due at an instant."""
