"""Runs one turn: composes, streams, permits, runs tools, and says how it ended."""
