"""A continuous query on Spark: its inputs, its stages, its state, its sinks."""
