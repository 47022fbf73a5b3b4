"""A query left running on Spark: what comes in, where it is asked, what is kept, where it goes."""
