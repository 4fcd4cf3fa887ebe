"""Looks: what the working directory is, its instruction files and its git state."""
