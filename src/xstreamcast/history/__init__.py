"""What remembers fragments: versions by id, holes, the temporal view, reconstruction."""
