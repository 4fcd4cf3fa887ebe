"""Keeps: the fold of events into a record, its projection into SQLite, the outputs."""
