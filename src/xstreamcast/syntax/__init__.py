"""What is true of the query text alone: tokens, grammar, tree, spans, printing back."""
