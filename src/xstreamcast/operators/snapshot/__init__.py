"""State of a running query as Arrow tables, and operators made from it again."""
