"""What is computed, as `explain` prints it: plan nodes, lowering, static analysis."""
