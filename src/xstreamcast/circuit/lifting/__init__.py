"""From a plan to relations: each expression and clause, case by case."""
