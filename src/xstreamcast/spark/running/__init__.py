"""A query over what is there, on Spark: how it is spread, what tasks do, what is put together."""
