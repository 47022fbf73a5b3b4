"""Values that cross rooms and decide nothing: fragment, lifespan, instant, change, column."""
