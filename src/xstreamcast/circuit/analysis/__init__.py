"""What must be known of a plan to lift it, and the one form that it is brought into."""
