"""How XML bytes look: tokenising, nodes as columns, steps over nodes, serialising."""
