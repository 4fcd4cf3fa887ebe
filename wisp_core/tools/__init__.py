"""Acts: one file a tool, their registry, and the budget of a result."""
